#include "app/json/api_request.hpp"

#include <gtest/gtest.h>

#include "tests/app/order_task.hpp"

namespace fairlead::app {
namespace {

/// `METHOD PATH BODY`, or nothing.
std::string request_for(std::string_view command) {
  const auto found = request_of(command);
  if (!found) return "";
  return found->method + " " + found->path + (found->body.empty() ? "" : " " + found->body);
}

TEST(api_requests, do_what_commands_do) {
  struct row {
    const char* command;
    const char* request;
  };
  for (const auto& [command, request] : {
           row{"fairlead task list", "GET /v1/tasks"},
           row{"fairlead task list --parked --workflow order", "GET /v1/tasks?parked=true&workflow=order"},
           row{"fairlead task list --top-level --state running", "GET /v1/tasks?top_level=true&state=running"},
           row{"fairlead task list --parent orders/7", "GET /v1/tasks?parent=orders%2F7"},
           row{"fairlead task show orders/7", "GET /v1/tasks/orders%2F7"},
           row{"fairlead task retry o-1", R"(POST /v1/tasks/o-1/actions {"verb":"retry"})"},
           row{"fairlead task retry o-1 charge --input JSON",
               R"(POST /v1/tasks/o-1/actions {"verb":"retry","step":"charge","input":"JSON"})"},
           row{"fairlead task skip o-1 'ship[3]' --reason TEXT",
               R"(POST /v1/tasks/o-1/actions {"verb":"skip","step":"ship[3]","reason":"TEXT"})"},
           row{"fairlead task skip o-1 'it'\\''s'", R"(POST /v1/tasks/o-1/actions {"verb":"skip","step":"it's","reason":"TEXT"})"},
           row{"fairlead task settle o-1 charge --completed JSON --reason TEXT",
               R"(POST /v1/tasks/o-1/actions {"verb":"settle_completed","step":"charge","output":"JSON","reason":"TEXT"})"},
           row{"fairlead task settle o-1 charge --never-happened --reason TEXT",
               R"(POST /v1/tasks/o-1/actions {"verb":"settle_never_happened","step":"charge","reason":"TEXT"})"},
           row{"fairlead task settle o-1 --output JSON --reason TEXT",
               R"(POST /v1/tasks/o-1/actions {"verb":"settle_completed","output":"JSON","reason":"TEXT"})"},
           row{"fairlead task settle o-1 --completed JSON", ""},
           row{"fairlead task settle o-1", ""},
           row{"fairlead task signal o/1 approved --data JSON", R"(POST /v1/tasks/o%2F1/signals/approved {"data":"JSON"})"},
           row{"fairlead task signal o-1 approved", R"(POST /v1/tasks/o-1/signals/approved)"},
           row{"fairlead task terminate o-1 --now", R"(POST /v1/tasks/o-1/actions {"verb":"terminate","now":true})"},
           row{"fairlead job delete nightly", "DELETE /v1/jobs/nightly"},
           row{"fairlead job next '0 3 * * *' --tz Europe/Berlin",
               R"(POST /v1/jobs:next {"schedule":"0 3 * * *","time_zone":"Europe/Berlin"})"},
           row{"fairlead agent drain n1/cards", R"(POST /v1/agents/n1%2Fcards/actions {"verb":"drain"})"},
           row{"fairlead agent breaker close cards", R"(POST /v1/agents/cards/actions {"verb":"breaker_close"})"},
           row{"fairlead alert ack 7", R"(POST /v1/alerts:ack {"numbers":[7]})"},
           row{"fairlead alert ack all", ""},
           row{"fairlead brake release", "POST /v1/brake:release"},
           row{"fairlead store check STORE", ""},
           row{"fairlead task list --columns id", ""},
           row{"fairlead task show o-1 o-2", ""},
           row{"fairlead task show", ""},
           row{"fairlead status?", ""},
           row{"ls", ""},
       })
    EXPECT_EQ(request_for(command), request) << command;
}

TEST(api_requests, are_known_for_each_remedy_of_a_task) {
  auto reply = parked_order();
  reply.mutable_task()->set_undo_held(true);
  step_of(reply, 0).set_doubtful(true);
  step_of(reply, 0).set_given_up(true);
  for (const auto& one : remedies_of(reply.task(), reply.definition())) EXPECT_TRUE(help_of(one).request) << one.command;
  for (const auto archived : {false, true})
    for (const auto state : {v1::TASK_STATE_PENDING, v1::TASK_STATE_RUNNING, v1::TASK_STATE_UNDOING, v1::TASK_STATE_COMPLETED}) {
      auto task = order_task().task();
      task.set_state(state);
      for (const auto& one : choices_of(task, reply.definition(), archived)) EXPECT_TRUE(help_of(one).request) << one.command;
    }
}

TEST(api_requests, take_the_place_of_commands_in_a_sentence) {
  struct row {
    const char* remedy;
    const char* as_said;
    std::size_t helps;
  };
  for (const auto& [remedy, as_said, helps] : {
           row{"fairlead task list shows all tasks", "GET /v1/tasks shows all tasks", 1},
           row{"'fairlead agent list' lists all agents", "'GET /v1/agents' lists all agents", 1},
           row{"`fairlead alert list --all` shows all alerts.",
               "`GET /v1/alerts?state=open&state=acknowledged&state=resolved` shows all alerts.", 1},
           row{"end it first: fairlead task cancel t.1, or fairlead task terminate t.1.",
               R"(end it first: POST /v1/tasks/t.1/actions {"verb":"cancel"}, or POST /v1/tasks/t.1/actions {"verb":"terminate"}.)", 2},
           row{"fairlead task terminate t1 --now does not wait",
               R"(POST /v1/tasks/t1/actions {"verb":"terminate","now":true} does not wait)", 1},
           row{"fairlead task retry t1 retries it", R"(POST /v1/tasks/t1/actions {"verb":"retry"} retries it)", 1},
           row{"fairlead task retry t1 STEP --input JSON", R"(POST /v1/tasks/t1/actions {"verb":"retry","step":"STEP","input":"JSON"})", 1},
           row{"fairlead job next 'EXPR' tries it out", R"(POST /v1/jobs:next {"schedule":"EXPR"} tries it out)", 1},
           row{"fairlead alert ack leaves it so", "fairlead alert ack leaves it so", 0},
           row{"Run `fairlead store check` once the node is stopped", "Run `fairlead store check` once the node is stopped", 0},
           row{"fairlead status, or fairlead status", "GET /v1/status, or GET /v1/status", 1},
           row{"Give it once.", "Give it once.", 0},
           row{"", "", 0},
       }) {
    std::vector<help> found;
    EXPECT_EQ(with_requests(remedy, found), as_said);
    EXPECT_EQ(found.size(), helps) << remedy;
    for (const auto& one : found) EXPECT_TRUE(one.request && !one.effect.empty() && one.command.starts_with("fairlead ")) << remedy;
  }
}

TEST(api_requests, are_data) {
  json_writer out;
  write_helps(out, {help_of({"fairlead task retry o-1", "gives failed steps a new round of attempts"}), help_of({"fairlead ui", "opens"})});
  EXPECT_EQ(out.text(),
            R"([{"command":"fairlead task retry o-1","request":{"method":"POST","path":"/v1/tasks/o-1/actions","body":{"verb":"retry"}},)"
            R"("effect":"gives failed steps a new round of attempts"},{"command":"fairlead ui","request":null,"effect":"opens"}])");
}

TEST(api_requests, stand_in_a_refusal_inside_an_answer) {
  json_writer out;
  write_remedy(out.begin_object(), "fairlead workflow list shows all workflows");
  EXPECT_EQ(out.end_object().text(),
            R"({"remedy":"GET /v1/workflows shows all workflows","what_helps":[{"command":"fairlead workflow list",)"
            R"("request":{"method":"GET","path":"/v1/workflows","body":null},"effect":"lists the deployed workflows"}]})");
}

}  // namespace
}  // namespace fairlead::app
