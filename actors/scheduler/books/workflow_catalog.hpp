#pragma once
// The workflow definitions of a shard: the current one of each name and every version that a task is pinned to. One thread.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "actors/core/workflow/workflow.hpp"
#include "messages/workflow.pb.h"
#include "store/store.hpp"

namespace fairlead {

class workflow_catalog {
 public:
  using handle = std::shared_ptr<const core::workflow>;

  /// Reads the current version of each name.
  status open(const store::snapshot& from);

  /// The longest timeout of an attempt: of any step, that an agent carries out, of any version ever deployed.
  std::int64_t longest_timeout_ms() const noexcept { return longest_timeout_ms_; }

  /// The current version, which is usable. Errors: not_found: there is no such workflow; wrong_state: this release cannot use the current
  /// version; any other: the store could not be read.
  result<handle> current(const std::string& name, const store::snapshot& from);

  /// Whether a failure of `current` is about the workflow, not about the store.
  static bool is_refusal(const error& why) { return why.code == v1::ERROR_CODE_NOT_FOUND || why.code == v1::ERROR_CODE_WRONG_STATE; }

  /// The version that a task is pinned to; an unusable one if this release cannot compile it or its row is missing. An error: the store
  /// could not be read.
  result<handle> pinned(const std::string& name, const std::string& content_hash, const store::snapshot& from);

  /// As `pinned`; null: no such version is stored.
  result<handle> stored(const std::string& name, const std::string& content_hash, const store::snapshot& from);

  /// Of one item of the version's step with `for_each`, which has a call (core::workflow::call_of). An unusable one of an unusable version.
  handle call_of(const handle& version, std::uint32_t step);

  bool knows(const std::string& name) const { return current_.count(name) != 0; }
  /// The workflow has no current version any more. Its versions stay for the tasks that are pinned to them.
  void erase(const std::string& name, store::batch& out);

  /// Checks and compiles a definition and adds its rows to `out`. `created` is false if exactly this version is current already.
  struct deployed {
    std::string content_hash;
    bool created = false;
  };
  result<deployed> deploy(const v1::WorkflowDefinition& definition, const std::string& source, std::int64_t now_unix_ms, store::batch* out);

 private:
  std::unordered_map<std::string, std::string> current_;           // name -> content hash
  std::unordered_map<std::string, handle> compiled_;               // by content hash
  std::map<std::pair<std::string, std::uint32_t>, handle> calls_;  // of items: by content hash and step
  std::int64_t longest_timeout_ms_ = 0;
};

}  // namespace fairlead
