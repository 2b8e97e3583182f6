#include "app/console/actor.hpp"

#include <algorithm>
#include <caf/all.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "actors/client/system.hpp"
#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"
#include "app/console/screen.hpp"

namespace fairlead::app {

/// Runs a command. The promise is fulfilled when the command has ended; for a watch, when the watch
/// has ended.
struct run_order {
  console_words words;
  std::shared_ptr<std::promise<console_outcome>> done;
};
struct stop_order {};
/// A delayed message of the actor to itself: the next repetition of a watch. `watch` is the watch's
/// number.
struct look_order {
  std::uint64_t watch = 0;
};
struct completion_order {
  std::string text;
  std::shared_ptr<std::promise<console_candidates>> found;
};

}  // namespace fairlead::app

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::app::run_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::app::stop_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::app::look_order)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fairlead::app::completion_order)

namespace fairlead::app {

namespace {

using console_shell =
    caf::typed_actor<caf::reacts_to<run_order>, caf::reacts_to<stop_order>, caf::reacts_to<look_order>, caf::reacts_to<completion_order>>;

std::string joined(const console_words& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + quoted_word(word);
  return out;
}

class console_state {
 public:
  void start(console_shell::pointer self, console_settings settings, console_actor::screen where, std::shared_ptr<console_shared> shared) {
    self_ = self;
    where_ = where;
    shared_ = std::move(shared);
    session_.emplace(std::move(settings), [shared = shared_] { return shared->stop.load(); });
  }

  void run(const run_order& what) {
    // The console abandons a command whose node answers too late. The next commands then belong to
    // another actor.
    if (shared_->abandoned) return;
    console_outcome out;
    {
      console_output output{shared_};
      const speak_to mine{output};
      try {
        out = session_->run(what.words);
      } catch (const std::exception& bug) {
        out.code = fail({v1::ERROR_CODE_INTERNAL, std::string{"A bug in fairlead: "} + bug.what(), "Please report it with what you did"});
      }
      if (out.watch && !where_.endless && out.watch->times == 0) {
        out.code = fail({v1::ERROR_CODE_INVALID_ARGUMENT, "A watch without --times needs a terminal, and standard input is not a terminal",
                         "Give the number of repetitions: watch --times N COMMAND"});
        out.watch.reset();
      }
    }
    if (!out.watch) return what.done->set_value(std::move(out));
    plan_ = std::move(*out.watch);
    done_ = what.done;
    looks_ = 0;
    ++watch_;
    shared_->watching = true;
    if (where_.drawn) put("\x1b[2J");
    look({watch_});
  }

  void look(const look_order& what) {
    if (!done_ || what.watch != watch_) return;
    if (shared_->stop) return end();
    const auto began = std::chrono::steady_clock::now();
    captured_output output;
    {
      const speak_to mine{output};
      last_ = session_->look(plan_.command);
    }
    if (shared_->abandoned) return;
    show(output.text());
    ++looks_;
    if (shared_->stop || (plan_.times != 0 && looks_ >= plan_.times)) return end();
    // After a slow answer the actor waits at least one second, so that a slow node is not asked
    // without a pause.
    const auto next = std::max(began + plan_.every, std::chrono::steady_clock::now() + std::chrono::seconds{1});
    self_->delayed_send(self_, next - std::chrono::steady_clock::now(), look_order{watch_});
  }

  void end() {
    if (!done_) return;
    shared_->watching = false;
    // The last repetition gives the exit code of the watch.
    std::exchange(done_, nullptr)->set_value({last_.code, false, {}});
  }

  void complete(const completion_order& what) { what.found->set_value(session_->complete(what.text)); }

 private:
  void show(const std::string& text) {
    if (!where_.drawn) return put(text);
    const auto size = size_of_terminal();
    const auto title = "Every " + std::to_string(plan_.every.count()) + "s: " + printable(joined(plan_.command)) + "   " +
                       time_text(now_unix_ms()) + "   Enter ends it";
    put(watch_picture(title, text, size.columns, size.rows));
  }

  void put(const std::string& text) { console_output{shared_}.say(text); }

  console_shell::pointer self_ = nullptr;
  console_actor::screen where_;
  std::shared_ptr<console_shared> shared_;
  std::optional<console_session> session_;
  watch_plan plan_;
  std::shared_ptr<std::promise<console_outcome>> done_;  // of the watch
  console_outcome last_;
  std::uint32_t looks_ = 0;
  std::uint64_t watch_ = 0;
};

console_shell::behavior_type make_console_shell(console_shell::stateful_pointer<console_state> self, console_settings settings,
                                                console_actor::screen where, std::shared_ptr<console_shared> shared) {
  self->state.start(self, std::move(settings), where, std::move(shared));
  return {
      [self](const run_order& what) { self->state.run(what); },
      [self](stop_order) { self->state.end(); },
      [self](const look_order& what) { self->state.look(what); },
      [self](const completion_order& what) { self->state.complete(what); },
  };
}

}  // namespace

struct console_actor::cell {
  std::shared_ptr<client_system> system = client_system::acquire();
  console_shell shell;
};

console_actor::console_actor(console_settings settings, screen where) : cell_(std::make_unique<cell>()) {
  // Detached: the commands block until a node has answered.
  cell_->shell = cell_->system->actors().spawn<caf::detached>(make_console_shell, std::move(settings), where, shared_);
}

void console_actor::abandon() {
  shared_->abandoned = true;
  shared_->stop = true;
}

console_actor::~console_actor() {
  abandon();
  // The actor's clients end with the actor. They must not hold the last reference to the actor
  // system, which cannot end on its own thread.
  caf::scoped_actor self{cell_->system->actors()};
  self->send_exit(cell_->shell, caf::exit_reason::user_shutdown);
  self->wait_for(cell_->shell);
}

std::future<console_outcome> console_actor::run(console_words words) {
  shared_->stop = false;
  auto done = std::make_shared<std::promise<console_outcome>>();
  auto out = done->get_future();
  caf::anon_send(cell_->shell, run_order{std::move(words), std::move(done)});
  return out;
}

console_candidates console_actor::complete(const std::string& text, std::chrono::milliseconds limit) {
  auto found = std::make_shared<std::promise<console_candidates>>();
  auto answer = found->get_future();
  caf::anon_send(cell_->shell, completion_order{text, std::move(found)});
  if (answer.wait_for(limit) != std::future_status::ready) return {text.size(), 0, {}};
  return answer.get();
}

void console_actor::stop() {
  shared_->stop = true;
  caf::anon_send(cell_->shell, stop_order{});
}

}  // namespace fairlead::app
