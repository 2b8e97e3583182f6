#include "messages/ids.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <random>

namespace fairlead {

namespace {

constexpr std::size_t longest_chosen = 256, longest_of_child = 480;

bool is_of_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == ':' || c == '@' ||
         c == '/' || c == '-';
}

}  // namespace

bool valid_task_id(const std::string& id) {
  return !id.empty() && id.size() <= longest_chosen && std::all_of(id.begin(), id.end(), is_of_id);
}

bool possible_task_id(const std::string& id) {
  if (id.find('~') == std::string::npos) return valid_task_id(id);
  return id.size() <= longest_of_child && std::all_of(id.begin(), id.end(), [](char c) { return c == '~' || is_of_id(c); });
}

std::uint64_t random_bits() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::string make_uuid_v7(std::int64_t unix_ms) {
  static std::mutex guard;
  static std::mt19937_64 random{[] {
    std::random_device source;
    std::seed_seq seed{source(), source(), source(), source(), source(), source(), source(), source()};
    return std::mt19937_64{seed};
  }()};
  static std::int64_t last_ms = 0;
  static std::uint16_t counter = 0;

  std::int64_t ms = 0;
  std::uint16_t sequence = 0;
  std::uint64_t tail = 0;
  {
    const std::lock_guard<std::mutex> lock{guard};
    // rand_a is a 12-bit counter within the millisecond (RFC 9562, 6.2, method 1); when it overflows, or the clock went back, the
    // timestamp runs ahead by one.
    if (unix_ms > last_ms) {
      last_ms = unix_ms;
      counter = static_cast<std::uint16_t>(random() & 0x3ff);
    } else if (++counter > 0xfff) {
      ++last_ms;
      counter = 0;
    }
    ms = last_ms;
    sequence = counter;
    tail = random();
  }
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-7%03x-%04x-%012llx", static_cast<unsigned>((ms >> 16) & 0xffffffff),
                static_cast<unsigned>(ms & 0xffff), static_cast<unsigned>(sequence & 0xfff),
                static_cast<unsigned>(0x8000 | ((tail >> 48) & 0x3fff)), static_cast<unsigned long long>(tail & 0xffffffffffffULL));
  return text.data();
}

}  // namespace fairlead
