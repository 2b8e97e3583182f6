#pragma once
// What the tests of guardians share: a clock, a log and a journal that the test reads, and children that do what they are told.

#include <caf/all.hpp>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/supervision/guardian.hpp"

namespace fairlead::testing {

/// Lines in the order in which they were written, by any thread.
class journal {
 public:
  void write(std::string line) {
    const std::lock_guard lock{guard_};
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::vector<std::string> take() {
    const std::lock_guard lock{guard_};
    return std::exchange(lines_, {});
  }
  std::vector<std::string> read() const {
    const std::lock_guard lock{guard_};
    return lines_;
  }
  /// Until the line is there; false: it did not come.
  bool wait_for(const std::string& line) const {
    std::unique_lock lock{guard_};
    return changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return std::find(lines_.begin(), lines_.end(), line) != lines_.end(); });
  }

 private:
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  std::vector<std::string> lines_;
};

class guardian_clock final : public clock {
 public:
  moment now() const override { return from_unix_ms(now_ms); }
  void pass(duration time) { now_ms += time.count(); }
  std::atomic<std::int64_t> now_ms{1'700'000'000'000};
};

class noting_observer final : public observer {
 public:
  void on_transition(const transition&) override {}
  void on_note(note_level level, std::string_view, std::string_view sentence) override {
    const std::lock_guard lock{guard_};
    notes_.emplace_back(level, sentence);
  }
  /// How many notes of the level contain all of the words.
  int count(note_level level, const std::vector<std::string>& words) const {
    const std::lock_guard lock{guard_};
    return static_cast<int>(std::count_if(notes_.begin(), notes_.end(), [&](const auto& one) {
      return one.first == level &&
             std::all_of(words.begin(), words.end(), [&](const auto& word) { return one.second.find(word) != std::string::npos; });
    }));
  }

 private:
  mutable std::mutex guard_;
  std::vector<std::pair<note_level, std::string>> notes_;
};

using worker_actor = caf::typed_actor<
    // Answered with the number that it was started with.
    caf::replies_to<caf::get_atom>::with<int>,
    // `throw WORDS`, `fail WORDS`, `quit`.
    caf::reacts_to<std::string>>;

struct worker_setup {
  journal* lines = nullptr;
  std::string name;
  int number = 0;
  bool stubborn = false;  // ends when it is killed, and not before
  std::function<void()> at_order;
};

inline worker_actor::behavior_type run_worker(supervised_pointer<worker_actor> self, worker_setup setup) {
  end_on_bug(self, "worker");
  if (setup.stubborn) self->set_exit_handler([](caf::exit_msg&) {});
  return {
      [number = setup.number](caf::get_atom) { return number; },
      [self, at_order = setup.at_order](const std::string& order) {
        if (order.rfind("throw ", 0) == 0) throw std::runtime_error(order.substr(6));
        if (order.rfind("fail ", 0) == 0) self->quit(caf::make_error(caf::sec::runtime_error, order.substr(5)));
        if (order == "quit") self->quit();
        if (order == "work" && at_order) at_order();
      },
  };
}

/// Children by name, as they live now.
class guardian_world_of_tests {
 public:
  explicit guardian_world_of_tests(caf::actor_system& sys) : world{&sys, &time, &log, &tree} {}

  /// A child that says in the journal when it starts (`+name`) and when it has ended (`-name`).
  child_spec child(const std::string& name, core::restart_kind kind = core::restart_kind::permanent, bool stubborn = false) {
    child_spec out;
    out.id = name;
    out.restart = kind;
    out.start = [this, name, stubborn]() -> result<caf::strong_actor_ptr> {
      const auto number = ++started[name];
      if (const auto at = refusals.find(name); at != refusals.end() && at->second > 0) {
        --at->second;
        lines.write("!" + name);
        if (throws) throw std::runtime_error("no room for " + name);
        return error{v1::ERROR_CODE_DISK, "no room for " + name, "Make room."};
      }
      lines.write("+" + name);
      const auto made = world.system->spawn(run_worker, worker_setup{&lines, name, number, stubborn, nullptr});
      caf::actor_cast<caf::abstract_actor*>(made)->attach_functor([this, name] { lines.write("-" + name); });
      now[name] = made;
      return caf::actor_cast<caf::strong_actor_ptr>(made);
    };
    return out;
  }

  void order(const std::string& name, const std::string& what) { caf::anon_send(now.at(name), what); }

  v1::SupervisedActor shown(const std::string& path) const {
    for (const auto& one : tree.describe())
      if (one.path() == path) return one;
    return {};
  }

  std::function<void(const error&)> on_given_up() {
    return [this](const error& why) { given_up.push_back(why.sentence); };
  }

  guardian_clock time;
  noting_observer log;
  supervision_tree tree{time};
  guardian_world world;
  journal lines;
  std::map<std::string, worker_actor> now;
  std::map<std::string, int> started;
  std::map<std::string, int> refusals;  // how many of the next starts fail
  bool throws = false;                  // by an exception
  std::vector<std::string> given_up;
};

}  // namespace fairlead::testing
