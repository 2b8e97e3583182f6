#include "actors/agents/secrets/memory.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace fairlead::agents {

secret_memory::secret_memory(std::size_t size) : size_(size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  mapped_ = (size + page) / page * page;  // never zero
  auto* at = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc{};
  // Only advice: if the kernel refuses it, forbid_core_files() still holds.
  (void)::madvise(at, mapped_, MADV_DONTDUMP);
  data_ = static_cast<char*>(at);
}

secret_memory::~secret_memory() { release(); }

secret_memory::secret_memory(secret_memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), mapped_(std::exchange(other.mapped_, 0)) {}

secret_memory& secret_memory::operator=(secret_memory&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  return *this;
}

secret_memory secret_memory::copy_of(std::string_view text) {
  secret_memory out{text.size()};
  if (!text.empty()) std::memcpy(out.data_, text.data(), text.size());
  return out;
}

void secret_memory::release() noexcept {
  if (data_ == nullptr) return;
  ::explicit_bzero(data_, mapped_);
  ::munmap(data_, mapped_);
  data_ = nullptr;
}

void wipe(std::string& text) noexcept {
  // Growing to the capacity allocates nothing.
  text.resize(text.capacity());
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

void append_wiping(std::string& text, std::string_view more) {
  if (text.capacity() - text.size() < more.size()) {
    std::string larger;
    larger.reserve((text.size() + more.size()) * 2);
    larger += text;
    wipe(text);
    text.swap(larger);
  }
  text += more;
}

status forbid_core_files() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0) return nothing{};
  return error{v1::ERROR_CODE_INTERNAL, std::string{"core files cannot be forbidden: "} + std::strerror(errno),
               "secrets need it: see whether a security module denies prctl(PR_SET_DUMPABLE)"};
}

}  // namespace fairlead::agents
