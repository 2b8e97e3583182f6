#pragma once
// What is made of files, and made again when they change.

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "messages/error.hpp"

namespace fairlead::app::door {

/// Thread-safe. What was made is immutable: whoever uses it keeps his own.
template <class Loaded>
class reloadable {
 public:
  /// Null: the files say what `known` was made of.
  using loader = std::function<result<std::shared_ptr<const Loaded>>(const Loaded* known)>;

  explicit reloadable(loader load) : load_(std::move(load)) {}

  /// Takes the files if they have changed. On an error the former ones stay.
  result<bool> read_again() {
    auto read = load_(current().get());
    if (!read) return read.failure();
    if (!*read) return false;
    const std::lock_guard lock{guard_};
    current_ = std::move(*read);
    return true;
  }

  std::shared_ptr<const Loaded> current() const {
    const std::lock_guard lock{guard_};
    return current_;
  }

 protected:
  template <class One>
  static result<std::shared_ptr<One>> open_as(loader load) {
    const auto out = std::make_shared<One>(std::move(load));
    if (auto read = out->read_again(); !read) return read.failure();
    return out;
  }

 private:
  const loader load_;
  mutable std::mutex guard_;
  std::shared_ptr<const Loaded> current_;
};

}  // namespace fairlead::app::door
