#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>

#include "actors/core/request_limits.hpp"
#include "actors/core/task/task.hpp"
#include "actors/replies/message.hpp"
#include "actors/replies/outbox.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/screen/table.hpp"

namespace fairlead::app {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds longest_poll{10'000};
/// How long --follow continues while no node answers.
constexpr std::chrono::seconds events_patience{60};

struct replies_options {
  std::string client;
  bool follow = false;
  bool keep = false;
};

std::string event_line(const v1::StatusEvent& event) {
  std::string out = format_utc(event.at_unix_ms()) + "  " + printable(event.task_id()) + "  " + std::to_string(event.sequence()) + "  ";
  // The JSON form has two fields for the change of a step; the text has one.
  if (event.kind() == v1::STATUS_KIND_STEP)
    out += printable(event.step()) + " " + core::state_word(event.step_state());
  else
    out += status_word(event.kind());
  if (!event.reason().empty()) out += "  " + printable(event.reason());
  return out + "\n";
}

void show(cli_context& context, const v1::RepliesReply& page) {
  std::string text;
  for (const auto& event : page.events()) text += context.json ? event_json(event) + "\n" : event_line(event);
  if (!text.empty()) print(context, text);
}

/// Prints each page, then acknowledges its events. No event is lost if the output was not written.
status fetch(cli_context& context, client& from, const replies_options& options, std::optional<duration> limit) {
  const auto deadline = steady_clock::now() + limit.value_or(duration{0});
  v1::RepliesRequest request;
  request.set_client(options.client);
  request.set_page_size(max_page_size);
  for (;;) {
    auto poll = options.follow ? longest_poll : milliseconds{0};
    if (options.follow && limit) poll = std::min(poll, std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()));
    const bool last = options.follow && poll <= milliseconds{0};
    request.set_wait_ms(std::max(poll, milliseconds{0}).count());
    auto page = from.replies(request);
    if (!page.ok()) return page.failure();
    show(context, *page);
    // Events whose output failed are not acknowledged.
    if (context.code != exit_ok || options.keep || stopped(context)) return nothing{};
    if (!page->events().empty()) {
      // A node with one shard uses the single position, and so do nodes of the release before.
      request.set_acknowledged(page->events().rbegin()->position());
      std::map<std::uint32_t, std::uint64_t> of_shard;
      for (const auto& event : page->events()) of_shard[event.shard()] = event.position();
      request.clear_positions();
      for (const auto& [shard, position] : of_shard) {
        auto* one = request.add_positions();
        one->set_shard(shard);
        one->set_acknowledged(position);
      }
    } else if (!options.follow || last) {
      return nothing{};
    }
  }
}

}  // namespace

void add_replies_command(CLI::App& app, cli_context& context) {
  auto* command = app.add_subcommand("replies", "Fetch the status events of the tasks submitted under a client's name");
  auto options = std::make_shared<replies_options>();
  command->add_option("NAME", options->client, "The name given with --reply-client")->required();
  auto* follow = command->add_flag("--follow", options->follow, "Keep printing new events, until interrupted or until --timeout");
  command->add_flag("--keep", options->keep, "Do not remove the events after showing them; shows at most the 1000 oldest")
      ->excludes(follow);
  add_client_options(*command, context,
                     "How long to wait for the answer (default 15s); with --follow: how long to follow (default: no limit)");
  command->callback([&context, options] {
    if (!valid_client_name(options->client)) {
      context.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "'" + options->client + "' is not a valid client name",
                           "Use 1 to 128 letters, digits and . _ : @ / -"});
      return;
    }
    const auto limit = timeout_of(context);
    if (!limit.ok()) {
      context.code = fail(limit.failure());
      return;
    }
    auto connected = options->follow ? connect_to_wait(context, events_patience) : connect(context);
    if (!connected.ok()) {
      context.code = fail(connected.failure());
      return;
    }
    const auto fetched = fetch(context, *connected, *options, *limit);
    if (!fetched.ok()) context.code = fail(fetched.failure());
  });
}

}  // namespace fairlead::app
