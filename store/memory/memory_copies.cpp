// Copies of a store in memory, as bytes.

#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <utility>

namespace fairlead::store {

namespace {

class copy_in_memory final : public tables_copy {
 public:
  explicit copy_in_memory(std::shared_ptr<const memory_store::moment> kept)
      : kept_(std::move(kept)), bytes_(memory_store::bytes_of(*kept_)) {}

  std::uint64_t bytes() const override { return bytes_.size(); }
  result<std::string> read(std::uint64_t offset, std::size_t most) const override {
    return bytes_.substr(static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes_.size())), most);
  }
  std::unique_ptr<snapshot> read_tables() const override {
    memory_store out;
    out.put_back(*kept_);
    return out.read();
  }

 private:
  std::shared_ptr<const memory_store::moment> kept_;
  std::string bytes_;
};

class incoming_in_memory final : public incoming_copy {
 public:
  explicit incoming_in_memory(memory_store& of) : of_(of) {}

  status write(std::string_view bytes) override {
    bytes_ += bytes;
    return nothing{};
  }
  std::uint64_t bytes() const override { return bytes_.size(); }
  result<tables*> open() override {
    if (whole_) return whole_.get();
    const auto came = memory_store::moment_of(bytes_);
    if (!came) return error{v1::ERROR_CODE_CORRUPT, "The copy of a store in memory is no such copy.", "Let it be sent again."};
    whole_ = std::make_unique<memory_store>();
    whole_->put_back(*came);
    return whole_.get();
  }
  status take_over() override {
    of_.put_back(*whole_->keep());
    whole_.reset();
    bytes_.clear();
    return nothing{};
  }

 private:
  memory_store& of_;
  std::string bytes_;
  std::unique_ptr<memory_store> whole_;
};

}  // namespace

result<std::unique_ptr<tables_copy>> memory_store::copy() { return std::unique_ptr<tables_copy>(new copy_in_memory(keep())); }

result<std::unique_ptr<incoming_copy>> memory_store::receive(std::uint64_t) {
  return std::unique_ptr<incoming_copy>(new incoming_in_memory(*this));
}

}  // namespace fairlead::store
