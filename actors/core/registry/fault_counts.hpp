#pragma once
// Counts failed tries by fault code, for a sentence. Pure, and bounded whatever services answer.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::core {

class fault_counts {
 public:
  /// Codes counted one by one; all further codes are counted together.
  static constexpr std::size_t most_codes = 8;

  /// An empty code: unknown.
  void add(std::string_view code, std::uint32_t count);
  void add(const fault_counts& more);

  /// `http_503 (21), lease_expired (2), others (1)`, the most frequent first; empty if no code is known.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::uint32_t>> by_code_;
  std::uint32_t others_ = 0;
};

}  // namespace fairlead::core
