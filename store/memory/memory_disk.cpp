#include "store/memory/memory_disk.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::store {

namespace {
constexpr std::size_t sector_bytes = 512;
}

class memory_file final : public block_file {
 public:
  memory_file(memory_disk& disk, std::shared_ptr<memory_disk::inode> file, std::uint64_t power)
      : disk_(disk), file_(std::move(file)), power_(power) {}

  std::uint64_t size() const override { return file_->bytes.size(); }

  status write(std::uint64_t offset, const char* data, std::size_t bytes) override {
    return disk_.write(*file_, power_, offset, data, bytes);
  }

  status read(std::uint64_t offset, char* data, std::size_t bytes) const override {
    const std::lock_guard lock(disk_.guard_);
    if (offset + bytes > file_->bytes.size()) return error{v1::ERROR_CODE_DISK, "A read beyond the end of a file in memory.", {}};
    std::memcpy(data, file_->bytes.data() + offset, bytes);
    return nothing{};
  }

  status settle(std::uint64_t) override { return nothing{}; }

 private:
  memory_disk& disk_;
  std::shared_ptr<memory_disk::inode> file_;
  std::uint64_t power_;
};

memory_disk::fate memory_disk::next() {
  if (off_) throw disk_crash{};
  ++operations_;
  if (operations_ == crash_at_) return fate::crashed;
  return operations_ == fail_at_ ? fate::failed : fate::done;
}

void memory_disk::apply(names& to, const change& what) {
  if (what.from.empty()) {
    to[what.to] = what.made;
    return;
  }
  const auto found = to.find(what.from);
  if (found == to.end()) return;  // an earlier operation on it was lost
  auto file = std::move(found->second);
  to.erase(found);
  if (!what.to.empty()) to[what.to] = std::move(file);
}

void memory_disk::go_down() {
  off_ = true;
  for (const auto& one : unsynced_) {
    if (pick(2) == 0) apply(durable_, one);
  }
  unsynced_.clear();
  now_ = durable_;
  throw disk_crash{};
}

void memory_disk::crash() {
  const std::lock_guard lock(guard_);
  try {
    if (!off_) go_down();
  } catch (const disk_crash&) {
  }
}

void memory_disk::reboot() {
  crash();
  const std::lock_guard lock(guard_);
  off_ = false;
  ++power_;
  crash_at_ = fail_at_ = misdirect_at_ = lose_at_ = 0;
}

error memory_disk::failed_write(const std::string& name) const {
  return {v1::ERROR_CODE_DISK, "The disk in memory failed at " + name + ".", "This is what the test asked for."};
}

result<std::vector<std::string>> memory_disk::list() const {
  const std::lock_guard lock(guard_);
  std::vector<std::string> out;
  for (const auto& [name, file] : now_) out.push_back(name);
  return out;
}

result<std::unique_ptr<block_file>> memory_disk::open(const std::string& name) {
  const std::lock_guard lock(guard_);
  const auto found = now_.find(name);
  if (found == now_.end()) return error{v1::ERROR_CODE_DISK, "There is no file " + name + " in memory.", {}};
  return std::unique_ptr<block_file>(std::make_unique<memory_file>(*this, found->second, power_));
}

status memory_disk::note(change what) {
  const auto outcome = next();
  apply(now_, what);
  unsynced_.push_back(what);
  if (outcome == fate::crashed) go_down();
  if (outcome == fate::failed) return failed_write(what.to.empty() ? what.from : what.to);
  return nothing{};
}

status memory_disk::create(const std::string& name, std::uint64_t bytes, const std::function<making_pace()>& pace) {
  if (pace() == making_pace::stop) return not_completed(name);
  const std::lock_guard lock(guard_);
  if (full_) return error{v1::ERROR_CODE_STORE_FULL, "The disk in memory has no room for " + name + ".", {}};
  auto made = std::make_shared<inode>();
  const bool whole = operations_ + 1 != crash_at_ && operations_ + 1 != fail_at_;
  made->bytes.resize(whole ? bytes : journal_block_bytes * pick(bytes / journal_block_bytes));
  return note({{}, name, std::move(made)});
}

status memory_disk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(guard_);
  if (now_.count(from) == 0) return error{v1::ERROR_CODE_DISK, "There is no file " + from + " in memory.", {}};
  return note({from, to, nullptr});
}

status memory_disk::remove(const std::string& name) {
  const std::lock_guard lock(guard_);
  if (now_.count(name) == 0) return error{v1::ERROR_CODE_DISK, "There is no file " + name + " in memory.", {}};
  return note({name, {}, nullptr});
}

status memory_disk::sync() {
  const std::lock_guard lock(guard_);
  const auto outcome = next();
  if (outcome == fate::crashed) go_down();
  if (outcome == fate::failed) return failed_write("the directory");
  durable_ = now_;
  unsynced_.clear();
  return nothing{};
}

status memory_disk::write(inode& file, std::uint64_t power, std::uint64_t offset, const char* data, std::size_t bytes) {
  const std::lock_guard lock(guard_);
  if (power != power_) throw disk_crash{};
  const auto outcome = next();
  ++writes_;
  if (offset % journal_block_bytes != 0 || bytes % journal_block_bytes != 0 || offset + bytes > file.bytes.size()) {
    return error{v1::ERROR_CODE_DISK, "A write to a file in memory is not of whole blocks inside the file.", {}};
  }
  if (writes_ == misdirect_at_) offset = pick((file.bytes.size() - bytes) / journal_block_bytes + 1) * journal_block_bytes;
  if (writes_ == lose_at_) return nothing{};
  for (std::size_t at = 0; at < bytes; at += sector_bytes) {
    auto* sector = file.bytes.data() + offset + at;
    const auto kind = outcome == fate::done ? 1 : pick(outcome == fate::crashed ? 3 : 2);
    if (kind == 1) std::memcpy(sector, data + at, sector_bytes);
    if (kind == 2) std::generate(sector, sector + sector_bytes, [this] { return static_cast<char>(random_()); });
  }
  if (outcome == fate::crashed) go_down();
  if (outcome == fate::failed) return failed_write("a file");
  return nothing{};
}

void memory_disk::rot(const std::string& name, std::uint64_t offset, unsigned bit) {
  auto& bytes = bytes_of(name);
  bytes[offset] = static_cast<char>(bytes[offset] ^ (1 << bit));
}

std::string& memory_disk::bytes_of(const std::string& name) { return now_.at(name)->bytes; }

}  // namespace fairlead::store
