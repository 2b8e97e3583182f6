#include "app/expressions/worker.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

extern "C" {
#include <jv.h>
}

#include "actors/expressions/pool.hpp"
#include "app/expressions/answer.hpp"
#include "app/expressions/program_cache.hpp"

namespace fairlead::app {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool shadow_memory = true;  // terabytes of address space; the pool sets the sanitizer's own limit
#else
constexpr bool shadow_memory = false;
#endif

[[noreturn]] void out_of_memory() { _exit(expression_worker_out_of_memory); }
void jq_out_of_memory(void*) { out_of_memory(); }

void confine(std::uint64_t max_memory_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(3, ~0U, 0);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_FSIZE, &none);
  const rlimit memory{max_memory_bytes, max_memory_bytes};
  if (!shadow_memory) setrlimit(RLIMIT_AS, &memory);
  std::set_new_handler(out_of_memory);
  jv_nomem_handler(jq_out_of_memory, nullptr);
}

bool read_all(char* into, std::size_t size) {
  while (size > 0) {
    const auto got = read(STDIN_FILENO, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_frame(const std::string& body) {
  const auto size = static_cast<std::uint32_t>(body.size());
  std::string frame;
  frame.reserve(body.size() + 4);
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>((size >> shift) & 0xFF);
  frame += body;
  for (std::size_t done = 0; done < frame.size();) {
    const auto wrote = write(STDOUT_FILENO, frame.data() + done, frame.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

bool read_frame(std::string& body) {
  std::array<char, 4> head{};
  if (!read_all(head.data(), head.size())) return false;
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::uint32_t>(static_cast<unsigned char>(head[i])) << (8 * i);
  if (size > max_expression_request_bytes) return false;
  body.resize(size);
  return read_all(body.data(), size);
}

}  // namespace

int run_expression_worker(std::uint64_t max_memory_bytes, const std::vector<std::string>& ahead) {
  confine(max_memory_bytes);
  program_cache programs(expression_programs_kept, [] { write_frame({}); });
  std::string body;
  if (!write_frame({})) return 1;
  programs.compile_ahead({ahead.begin(), ahead.end()});
  while (read_frame(body)) {
    const auto reply = answer_request(body, programs);
    if (!reply || !write_frame(*reply)) return 1;
  }
  return 0;
}

std::optional<int> run_expression_worker(int count, const char* const* words) {
  if (count == 0) return run_expression_worker();
  if (count != 2 || std::string_view{words[0]} != "--memory") return std::nullopt;
  const std::string_view given{words[1]};
  std::uint64_t bytes = 0;
  const auto [end, failed] = std::from_chars(given.data(), given.data() + given.size(), bytes);
  if (failed != std::errc{} || end != given.data() + given.size()) return std::nullopt;
  return run_expression_worker(bytes);
}

}  // namespace fairlead::app
