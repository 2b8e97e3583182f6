// `task doctor`: is there a live task that nothing will ever wake up?

#include "app/cli_json.hpp"
#include "app/cli_operate.hpp"
#include "app/cli_table.hpp"
#include "app/cli_words.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// Every live task is looked at, which takes its time where there are millions.
constexpr std::chrono::seconds patience{120};

std::string report_json(const v1::DoctorReply& reply) {
  json_writer out;
  out.begin_object().key("looked_at").number(std::uint64_t{reply.looked_at()}).key("found").number(std::uint64_t{reply.found()});
  out.key("findings").begin_array();
  for (const auto& finding : reply.findings()) {
    out.begin_object().key("task").string(finding.task_id()).key("task_number").number(std::uint64_t{finding.task_number()});
    out.key("sentence").string(finding.sentence()).key("repaired").boolean(finding.repaired()).end_object();
  }
  out.end_array().key("stalest_task");
  reply.stalest_task().empty() ? out.null() : out.string(reply.stalest_task());
  return out.key("stalest_since").moment(reply.stalest_since_unix_ms()).end_object().text() + "\n";
}

std::string report_text(const v1::DoctorReply& reply, std::int64_t now_ms) {
  auto out = "Looked at " + std::to_string(reply.looked_at()) + " live tasks: ";
  out += reply.found() == 0 ? "each has a wake-up.\n" : std::to_string(reply.found()) + " findings.\n";
  if (!reply.stalest_task().empty())
    out += "Longest without progress: " + printable(reply.stalest_task()) + ", for " + age_text(now_ms - reply.stalest_since_unix_ms()) +
           ".\n";
  if (reply.findings().empty()) return out;
  text_table table{{{"TASK"}, {"REPAIRED"}, {"FINDING"}}};
  for (const auto& finding : reply.findings()) table.add({finding.task_id(), finding.repaired() ? "yes" : "no", finding.sentence()});
  out += "\n" + table.text();
  if (const auto shown = static_cast<std::uint64_t>(reply.findings_size()); reply.found() > shown)
    out += "and " + std::to_string(reply.found() - shown) + " more\n";
  return out;
}

}  // namespace

void add_task_doctor(CLI::App& group, cli_context& context) {
  auto* command = group.add_subcommand("doctor", "Look whether every live task has a wake-up; exit code 0 when all have, 1 otherwise");
  auto repair = std::make_shared<bool>(false);
  command->add_flag("--repair", *repair, "Repair what is found");
  add_client_options(*command, context, "How long to wait for the answer (default 2m)");
  command->callback([&context, repair] {
    const auto timeout = timeout_of(context);
    if (!timeout) {
      context.code = fail(timeout.failure());
      return;
    }
    auto connected = connect_with(context, timeout->value_or(patience), timeout->value_or(duration{0}));
    if (!connected) {
      context.code = fail(connected.failure());
      return;
    }
    v1::DoctorRequest request;
    request.set_repair(*repair);
    const auto reply = connected->doctor(request);
    if (!reply) {
      context.code = fail(reply.failure());
      return;
    }
    print(context, context.json ? report_json(*reply) : report_text(*reply, to_unix_ms(system_clock{}.now())));
    if (context.code == exit_ok && reply->found() != 0) context.code = exit_failed;
  });
}

}  // namespace fairlead::app
