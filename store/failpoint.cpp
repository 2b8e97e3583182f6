#include "store/failpoint.hpp"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

namespace fairlead::store {

namespace detail {
std::atomic<bool> failpoints_armed{false};
}

namespace {

enum class action { off, crash, kill, fail, delay };

struct setting {
  action what = action::off;
  std::uint64_t delay_ms = 0;
  std::uint64_t only_at = 0;  // 0: at every hit
};

struct registry {
  std::mutex guard;
  std::map<std::string, setting, std::less<>> settings;
  std::map<std::string, std::uint64_t> hits;
};

// Never destroyed: threads may pass failpoints while the process ends.
registry& the_registry() {
  static auto* instance = new registry;
  return *instance;
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

error bad_setting(std::string_view text) {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, "`" + std::string(text) + "` is no failpoint setting.",
          "Write name=action[:param][@n] with an action of off, crash, crash:kill, error or delay:MILLISECONDS."};
}

result<std::pair<std::string, setting>> read_setting(std::string_view text) {
  auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad_setting(text);
  auto name = text.substr(0, equals);
  auto rest = text.substr(equals + 1);
  setting out;
  if (auto at = rest.find('@'); at != std::string_view::npos) {
    auto nth = read_number(rest.substr(at + 1));
    if (!nth || *nth == 0) return bad_setting(text);
    out.only_at = *nth;
    rest = rest.substr(0, at);
  }
  if (rest == "off") {
    out.what = action::off;
  } else if (rest == "crash") {
    out.what = action::crash;
  } else if (rest == "crash:kill") {
    out.what = action::kill;
  } else if (rest == "error") {
    out.what = action::fail;
  } else if (rest.substr(0, 6) == "delay:") {
    auto ms = read_number(rest.substr(6));
    if (!ms) return bad_setting(text);
    out.what = action::delay;
    out.delay_ms = *ms;
  } else {
    return bad_setting(text);
  }
  return std::pair{std::string(name), out};
}

// A crash must be possible before main runs, so the environment is read when the library is loaded.
const bool environment_read = [] {
  const char* text = std::getenv("FAIRLEAD_FAILPOINTS");
  if (text == nullptr) return false;
  if (auto done = set_failpoints(text); !done) {
    std::fprintf(stderr, "FAIRLEAD_FAILPOINTS: %s %s\n", done.failure().sentence.c_str(), done.failure().remedy.c_str());
    std::_Exit(64);
  }
  return true;
}();

}  // namespace

bool detail::failpoint_hit(const char* name) {
  setting found;
  {
    auto& all = the_registry();
    std::lock_guard lock(all.guard);
    auto hit = ++all.hits[name];
    auto it = all.settings.find(std::string_view(name));
    if (it == all.settings.end() || (it->second.only_at != 0 && it->second.only_at != hit)) return false;
    found = it->second;
  }
  switch (found.what) {
    case action::off: return false;
    case action::crash: ::_exit(99);
    case action::kill: ::raise(SIGKILL); return false;
    case action::fail: return true;
    case action::delay: std::this_thread::sleep_for(std::chrono::milliseconds(found.delay_ms)); return false;
  }
  return false;
}

error failpoint_error(const char* name) {
  return {v1::ERROR_CODE_DISK, std::string("The failpoint ") + name + " made the write fail.", "Unset FAIRLEAD_FAILPOINTS."};
}

status set_failpoints(std::string_view text) {
  std::map<std::string, setting, std::less<>> settings;
  while (!text.empty()) {
    auto comma = text.find(',');
    auto one = read_setting(text.substr(0, comma));
    if (!one) return one.failure();
    settings.insert_or_assign(std::move(one->first), one->second);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  auto& all = the_registry();
  std::lock_guard lock(all.guard);
  all.settings = std::move(settings);
  all.hits.clear();
  detail::failpoints_armed.store(!all.settings.empty(), std::memory_order_relaxed);
  return nothing{};
}

std::map<std::string, std::uint64_t> failpoint_hits() {
  auto& all = the_registry();
  std::lock_guard lock(all.guard);
  return all.hits;
}

}  // namespace fairlead::store
