#pragma once
// Agents that answer what a test file says, and children that end as it says.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/rehearsal/agents.hpp"
#include "app/workflow_test/test_file.hpp"

namespace fairlead::app {

class scripted_agents final : public rehearsed_agents {
 public:
  scripted_agents(const test_file& of, const test_case& what);

  result<rehearsed_answer> answer(const rehearsed_attempt& what) override;
  bool looks_up(std::string_view agent, std::string_view call) const override;
  rehearsed_child child(const rehearsed_attempt& what) override;

  /// The scripts of the case, not those of the file, of which an answer was not given.
  struct unused_script {
    const answer_script* script = nullptr;
    std::size_t given = 0;
  };
  std::vector<unused_script> unused() const;

 private:
  struct line {
    const answer_script* script = nullptr;
    std::map<std::optional<std::uint32_t>, std::size_t> given{};  // of each item by itself, where the script is that of a step
  };
  static std::map<std::string, line> lines_of(const std::vector<answer_script>& scripts);
  line* find(const std::string& key);
  /// The script of the item, or else of its step; `of` is `undo of ` and the like.
  line* find_step(const rehearsed_attempt& what, const std::string& of);
  template <class Script>
  static Script next_of(line& from, const std::vector<Script>& all, const rehearsed_attempt& what);

  std::map<std::string, line> own_, shared_;  // by key: of the case, of the file
  const v1::WorkflowDefinition& definition_;
};

}  // namespace fairlead::app
