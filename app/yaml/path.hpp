#pragma once
// Where a value stands in a file: the keys from the root on.

#include <cstddef>
#include <memory>
#include <string>

namespace fairlead::app {

/// A link to the path above it. The same long keys may be above very many values, so the text is only made for one that is asked for, and a
/// key in it is cut as core::shown_key does.
class yaml_path {
 public:
  /// Of the root.
  yaml_path() = default;
  /// Of a root that stands below this text, which may be empty.
  explicit yaml_path(const std::string& above);

  yaml_path below(const std::string& key) const;
  yaml_path item(std::size_t index) const;

  /// `steps.ship.needs[0]`
  std::string text() const;

 private:
  struct link {
    std::shared_ptr<const link> above;
    std::string part;  // with its dot or its brackets
  };

  yaml_path add(std::string part) const;

  std::shared_ptr<const link> last_;
};

}  // namespace fairlead::app
