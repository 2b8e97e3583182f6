// `task doctor`: finds live tasks that nothing would wake up, and effects without a task.

#include <algorithm>

#include "app/cli/operator_name.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/task/operate.hpp"
#include "app/cli/words.hpp"
#include "app/json/node/doctor.hpp"
#include "app/json/writer.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

namespace {

/// The doctor checks every live task, which is slow with millions of tasks.
constexpr std::chrono::seconds doctor_patience{120};

/// The number of forgotten effects: the listed effects, and those that the list had no room for.
std::uint64_t count_of(const v1::DoctorReply& reply) { return static_cast<std::uint64_t>(reply.effects_size()) + reply.effects_dropped(); }

/// The result of `--forget-effects`. `done`: the node has confirmed it.
std::string forgotten_json(const v1::DoctorReply& reply, bool done) {
  json_writer out;
  out.begin_object().key("forgotten");
  done ? out.number(count_of(reply)) : out.null();
  add_effects(reply, out);
  return out.end_object().text() + "\n";
}

std::string effects_text(const v1::DoctorReply& reply) {
  text_table table{
      {{"TASK"}, {"STEP"}, {"DONE"}, {"INSTANCE"}, {"ATTEMPT"}, {"HEARD AT"}, {"IDEMPOTENCY KEY", align::left, narrow::below}}};
  for (const auto& one : reply.effects())
    table.add({one.task_id(), one.step(), direction_word(one.direction()), one.instance(), std::to_string(one.attempt()),
               format_utc(one.heard_at_unix_ms()), one.idempotency_key()});
  auto out = reply.effects().empty() ? std::string{} : table.text();
  if (reply.effects_dropped() != 0)
    out += "and " + std::to_string(reply.effects_dropped()) + " more; the node of the shard has logged each of them\n";
  return out;
}

/// Prints the list before the effects are forgotten. If one shard forgets and another does not
/// answer, nobody could read the list again.
void forget_effects(cli_context& context, client& to, const v1::DoctorRequest& request) {
  auto listed = to.doctor({});
  if (!listed) {
    context.code = fail(listed.failure());
    return;
  }
  if (!context.json) print(context, effects_text(*listed));
  if (context.code != exit_ok) return;
  const auto forgotten = to.doctor(request);
  v1::DoctorReply late;  // effects reported since the list was read
  if (forgotten)
    for (const auto& one : forgotten->effects()) {
      const auto same = [&](const v1::EffectRecord& other) { return other.idempotency_key() == one.idempotency_key(); };
      if (std::none_of(listed->effects().begin(), listed->effects().end(), same)) *late.add_effects() = one;
    }
  if (!context.json && !late.effects().empty()) print(context, effects_text(late));
  for (auto& one : *late.mutable_effects()) *listed->add_effects() = std::move(one);
  if (context.json)
    print(context, forgotten_json(*listed, forgotten.ok()));
  else if (forgotten)
    print(context, "Forgot " + std::to_string(count_of(*listed)) + " effects without a task.\n");
  if (!forgotten) context.code = fail(forgotten.failure());
}

std::string report_text(const v1::DoctorReply& reply, std::int64_t now_ms) {
  auto out = "Checked " + std::to_string(reply.looked_at()) + " live tasks: ";
  out += reply.found() == 0 ? "each has a wake-up.\n" : std::to_string(reply.found()) + " findings.\n";
  if (!reply.stalest_task().empty())
    out += "Longest without progress: " + printable(reply.stalest_task()) + ", for " + age_text(now_ms - reply.stalest_since_unix_ms()) +
           ".\n";
  if (!reply.effects().empty())
    out +=
        "\nEffects without a task: an agent did this, or may have done it, before a restore, and the backup does not have the task. Submit "
        "the tasks\n"
        "again, or undo the effects by hand; then run fairlead task doctor --forget-effects\n" +
        effects_text(reply);
  if (reply.findings().empty()) return out;
  text_table table{{{"TASK"}, {"REPAIRED"}, {"FINDING", align::left, narrow::below}}};
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
      "Check that every live task has a wake-up, and list effects without a task; exit code 0 when nothing is found, 1 otherwise");
  struct words {
    bool repair = false;
    bool forget_effects = false;
    std::string by;
  };
  auto given = std::make_shared<words>();
  auto* repair = command->add_flag("--repair", given->repair, "Repair the findings");
  command
      ->add_flag("--forget-effects", given->forget_effects,
                 "List the effects without a task a last time, then forget them; repairs nothing")
      ->excludes(repair);
  add_operator_option(*command, given->by);
  add_client_options(*command, context, "How long to wait for the answer (default 2m)");
  command->callback([&context, given] {
    const auto timeout = timeout_of(context);
    if (!timeout) {
      context.code = fail(timeout.failure());
      return;
    }
    auto connected = connect_with(context, timeout->value_or(doctor_patience), timeout->value_or(duration{0}));
    if (!connected) {
      context.code = fail(connected.failure());
      return;
    }
    v1::DoctorRequest request;
    request.set_repair(given->repair);
    request.set_forget_effects(given->forget_effects);
    if (given->forget_effects) {
      request.set_who(operator_name(given->by));
      return forget_effects(context, *connected, request);
    }
    const auto reply = connected->doctor(request);
    if (!reply) {
      context.code = fail(reply.failure());
      return;
    }
    print(context, context.json ? doctor_json(*reply) + "\n" : report_text(*reply, now_unix_ms()));
    if (context.code == exit_ok && (reply->found() != 0 || !reply->effects().empty())) context.code = exit_failed;
  });
}

}  // namespace fairlead::app
