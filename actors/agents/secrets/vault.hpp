#pragma once
// The secrets of a node: from files, which are read again after changes, or given once.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "actors/agents/secrets/file.hpp"
#include "actors/agents/secrets/search.hpp"
#include "actors/agents/secrets/secrets.hpp"

namespace fairlead::agents {

class secret_vault final : public secrets {
 public:
  /// Called, from any thread, when a file no longer gives its secret, and when it does again. The sentence holds no value. Must not call
  /// the vault.
  using warning = std::function<void(const std::string& sentence)>;

  explicit secret_vault(warning warn = {});
  ~secret_vault() override;

  // Before the vault is shared. Errors (invalid_argument) name the problem of the value or the file.
  status add_file(const std::string& name, const std::string& path);
  status add_value(const std::string& name, std::string_view value);

  result<std::string> resolve(std::string_view text) const override;
  result<std::string> resolve_json(std::string_view json, const std::vector<std::string>& allowed) const override;
  std::string redact(std::string text) const override;

 private:
  struct entry {
    std::string path;  // empty: given once
    secret_file_mark mark;
    bool failing = false;
    std::shared_ptr<const secret_spellings> value;
  };

  /// Appends the present value to `out`.
  status append_value(const std::string& name, std::string& out) const;
  void read_again(const std::string& name, entry& what) const;
  void know(const std::shared_ptr<const secret_spellings>& value) const;
  result<std::string> resolve_in(std::string_view text, const std::vector<std::string>* allowed) const;

  warning warn_;
  mutable std::mutex mutex_;  // guards entries_
  mutable std::map<std::string, entry, std::less<>> entries_;
  mutable std::shared_mutex search_mutex_;
  mutable std::shared_ptr<const secret_search> search_;  // over all present and former values, up to most_known_values
};

/// Beyond this number the oldest values are dropped, and not redacted any more: a file that changes every hour stays known for forty days.
inline constexpr std::size_t most_known_values = 1'000;

}  // namespace fairlead::agents
