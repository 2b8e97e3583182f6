// `task doctor`: is there a live task that nothing will ever wake up, and has something been done that no task is about?

#include "app/cli_json.hpp"
#include "app/cli_operate.hpp"
#include "app/cli_operator_name.hpp"
#include "app/cli_table.hpp"
#include "app/cli_words.hpp"
#include "messages/lineage.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// Every live task is looked at, which takes its time where there are millions.
constexpr std::chrono::seconds patience{120};

void add_effects(const v1::DoctorReply& reply, json_writer& out) {
  out.key("effects").begin_array();
  for (const auto& one : reply.effects()) {
    out.begin_object().key("task").string(one.task_id()).key("step").string(one.step());
    out.key("direction")
        .string(direction_word(one.direction()))
        .key("instance")
        .string(one.instance())
        .key("attempt")
        .number(one.attempt());
    out.key("key").string(one.idempotency_key()).key("heard_at").moment(one.heard_at_unix_ms());
    out.key("lineage").string(to_text(one.lineage())).end_object();
  }
  out.end_array().key("effects_dropped").number(std::uint64_t{reply.effects_dropped()});
}

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
  out.key("stalest_since").moment(reply.stalest_since_unix_ms());
  add_effects(reply, out);
  return out.end_object().text() + "\n";
}

/// What `--forget-effects` has forgotten.
std::string forgotten_json(const v1::DoctorReply& reply) {
  json_writer out;
  out.begin_object().key("forgotten").number(static_cast<std::uint64_t>(reply.effects_size()));
  add_effects(reply, out);
  return out.end_object().text() + "\n";
}

std::string effects_text(const v1::DoctorReply& reply) {
  text_table table{{{"TASK"}, {"STEP"}, {"DONE"}, {"INSTANCE"}, {"ATTEMPT"}, {"HEARD AT"}, {"IDEMPOTENCY KEY"}}};
  for (const auto& one : reply.effects())
    table.add({one.task_id(), one.step(), direction_word(one.direction()), one.instance(), std::to_string(one.attempt()),
               format_utc(one.heard_at_unix_ms()), one.idempotency_key()});
  auto out = reply.effects().empty() ? std::string{} : table.text();
  if (reply.effects_dropped() != 0) out += "and " + std::to_string(reply.effects_dropped()) + " older ones: see the nodes' logs\n";
  return out;
}

std::string forgotten_text(const v1::DoctorReply& reply) {
  return "Effects without a task that are listed no more: " + std::to_string(reply.effects_size()) + ".\n" + effects_text(reply);
}

std::string report_text(const v1::DoctorReply& reply, std::int64_t now_ms) {
  auto out = "Looked at " + std::to_string(reply.looked_at()) + " live tasks: ";
  out += reply.found() == 0 ? "each has a wake-up.\n" : std::to_string(reply.found()) + " findings.\n";
  if (!reply.stalest_task().empty())
    out += "Longest without progress: " + printable(reply.stalest_task()) + ", for " + age_text(now_ms - reply.stalest_since_unix_ms()) +
           ".\n";
  if (!reply.effects().empty())
    out +=
        "\nEffects without a task: done for an earlier lineage of a shard, and the backup has no such task. Submit the tasks again, or "
        "take\n"
        "back what was done; then fairlead task doctor --forget-effects\n" +
        effects_text(reply);
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
  auto* command = group.add_subcommand(
      "doctor",
      "Look whether every live task has a wake-up, and list effects without a task; exit code 0 when there is nothing, 1 otherwise");
  struct words {
    bool repair = false;
    bool forget_effects = false;
    std::string by;
  };
  auto given = std::make_shared<words>();
  auto* repair = command->add_flag("--repair", given->repair, "Repair what is found");
  command
      ->add_flag("--forget-effects", given->forget_effects,
                 "Look at nothing; list the effects without a task once more, and then no longer")
      ->excludes(repair);
  add_operator_option(*command, given->by);
  add_client_options(*command, context, "How long to wait for the answer (default 2m)");
  command->callback([&context, given] {
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
    request.set_repair(given->repair);
    request.set_forget_effects(given->forget_effects);
    if (given->forget_effects) request.set_who(operator_name(given->by));
    const auto reply = connected->doctor(request);
    if (!reply) {
      context.code = fail(reply.failure());
      return;
    }
    if (given->forget_effects) return print(context, context.json ? forgotten_json(*reply) : forgotten_text(*reply));
    print(context, context.json ? report_json(*reply) : report_text(*reply, to_unix_ms(system_clock{}.now())));
    if (context.code == exit_ok && (reply->found() != 0 || !reply->effects().empty())) context.code = exit_failed;
  });
}

}  // namespace fairlead::app
