#pragma once
// Plays the API of a node to one agent, and judges what the agent sends. Pure: requests and times in, answers and findings out.

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/agent_check/lessons.hpp"

namespace fairlead::app::agent_check {

/// A request of the agent, or one to the tester's service.
struct asked {
  std::string method;
  std::string path;   // without the query
  std::string query;  // decoded as far as the service needs it
  std::string body;
  std::optional<std::string> key{};  // of the header Idempotency-Key
  int node = 0;                      // at which it came
};

struct reply {
  unsigned status = 200;
  std::string body{};
  std::int64_t after_ms = 0;       // how late the answer leaves
  std::int64_t retry_after_s = 0;  // 0: the answer does not say
  bool cut = false;                // the connection ends in the middle of the answer
  bool cut_in_head = false;        // the same in the middle of its head
};

struct finding {
  rule broken;
  std::string sentence;
};

enum class verdict { not_seen, kept, broken };

/// What an agent is asked to do.
struct plan {
  std::string agent;  // empty: whatever the agent registers
  std::string call;   // empty: the first that it registers
  std::string input = R"({"to":"fairlead-agent-check"})";
  std::vector<lesson> lessons = all_lessons();
  bool can_end = false;    // the tester can tell the agent to end
  bool two_nodes = false;  // the agent knows two, and one can be lost
};

/// The path of the service that the tester plays.
inline constexpr const char* service_path = "/service";

class tester {
 public:
  using json = nlohmann::json;

  explicit tester(plan what);

  reply on_request(const asked& what, std::int64_t now_ms);
  /// To be called a few times a second: lessons end by time, too.
  void on_time(std::int64_t now_ms);
  /// The node that is to go away now; once.
  std::optional<int> node_to_lose();
  /// Whether the agent is to be told to end; true once.
  bool is_time_to_end();
  /// The agent's process has ended.
  void on_end(const std::string& how);

  bool has_begun() const { return worker_.has_value(); }
  bool is_over() const { return over_; }
  /// The number and the name of the lesson in progress.
  std::string now_at() const;
  const std::vector<finding>& findings() const { return findings_; }
  verdict of(rule which) const;

 private:
  struct worker {
    std::string id, instance, agent, session;
    std::vector<std::string> calls, lookups;
    std::int64_t capacity = 1;
    int node = 0;  // the one that carries it
    bool gone = false;
    std::int64_t gone_at = 0;
    int takes_after_end = 0;
  };
  struct sent_answer {
    std::int64_t number, arrives_at;
    bool cut;
  };
  /// An attempt that was made for a lesson.
  struct attempt {
    int number = 0;
    std::string ticket, key, perform_key;
    std::int64_t handed_at = 0, lease_end = 0;
    std::int64_t in_answer = 0;  // the last that brought it
    bool answer_lost = false;    // the agent cannot have it yet
    std::size_t outcomes = 0;    // how often its outcome came
    std::int64_t outcome_at = 0, told_not_held_at = 0;
    std::optional<outcome_answer> answered{};  // the last answer
    bool accepted = false, closed = false;     // closed: its outcome needs no repetition
    json outcome;
    int heartbeats = 0;
    std::int64_t beat_at = 0;  // the last of them, or the hand-over
    int service_requests = 0;
  };

  // tester.cpp
  reply on_worker_request(const asked& what, const std::string& verb, std::int64_t now);
  reply on_end_of_worker(const asked& what, std::int64_t now);
  reply on_service(const asked& what, std::int64_t now);
  void judge_undo(const asked& what);
  bool service_has_current() const { return !over_ && current_ && attempts_[*current_].service_requests > 0; }
  void blame(rule which, const std::string& sentence);
  void see(rule which) { seen_[static_cast<std::size_t>(which)] = true; }
  static reply problem(unsigned status, const std::string& code, const std::string& sentence);
  static reply busy(const std::string& sentence);
  void begin_lesson(std::int64_t now);
  void end_lesson(std::int64_t now);
  bool can_be_taught(const lesson& one) const;
  const lesson& at() const { return plan_.lessons[lesson_]; }

  // workers.cpp: registrations and takes
  reply on_register(const asked& what, std::int64_t now);
  void check_repeated_registration(const asked& what, const json& body);
  bool is_right_registration(const json& what, std::int64_t now);
  void check_held(const json& what);
  reply on_take(const json& what, std::int64_t now);
  void check_after(std::int64_t after, std::int64_t now);
  json hand_out(const attempt& one, std::int64_t now) const;
  void make_attempt(std::int64_t now);

  // outcomes.cpp: heartbeats and outcomes
  reply on_heartbeats(const json& what, std::int64_t now);
  reply on_outcomes(const json& what, std::int64_t now);
  bool is_outcome(const json& item) const;
  void judge_first(attempt& one, std::int64_t now);
  void judge_pace(const attempt& one, const std::string& what, std::int64_t now);
  void judge_repeated(const attempt& one, const json& item, std::int64_t now);
  void judge_doubt(const attempt& one);
  void judge_missing(std::int64_t now);
  attempt* find(const std::string& ticket);
  static std::string name_of(const attempt& one) { return "attempt " + std::to_string(one.number); }

  plan plan_;
  std::optional<worker> worker_;
  int workers_ = 0;
  bool registration_lost_ = false;               // the agent has no answer to its first registration yet
  std::optional<std::string> registration_key_;  // of the first
  std::vector<sent_answer> answers_;
  std::int64_t answer_ = 0;
  std::vector<attempt> attempts_;
  std::map<std::string, bool> effects_;  // of the tester's service, by key
  std::set<std::string> performed_as_;   // requests to the tester's service, without their keys
  std::size_t lesson_ = 0;
  std::optional<std::size_t> current_;  // the lesson's attempt
  std::int64_t lesson_since_ = 0;
  std::int64_t quiet_since_ = 0;  // since when the lesson has nothing more to come; 0: not yet
  std::int64_t last_request_ = 0;
  bool served_ = false;                                // the agent asks the tester's service
  bool gone_told_ = false, registered_again_ = false;  // in this lesson
  std::optional<int> lost_node_;
  bool told_to_end_ = false;
  bool over_ = false;
  std::vector<finding> findings_;
  std::array<bool, most_rules> seen_{};
};

}  // namespace fairlead::app::agent_check
