#pragma once
// Sends requests to shards on any node, each with a time limit, and gathers the answers of several. Every request gets an answer: without
// one from the shard it is an error with shard, node and reason. A request that finds no leader of a shard of several nodes waits for one a little
// while (held_requests).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/gateway/held_requests.hpp"
#include "actors/gateway/local.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/protocol/confirm.hpp"
#include "actors/protocol/ports.hpp"
#include "actors/protocol/reminders.hpp"
#include "actors/supervision/supervised.hpp"
#include "actors/supervisor/doctor_actor.hpp"

namespace fairlead {

class gateway_asks {
 public:
  using self_pointer = supervised_pointer<gateway_actor>;

  gateway_asks(self_pointer self, const gateway_routes& routes, const clock& time, std::string node, doctor_actor doctor)
      : self_(self), routes_(routes), time_(time), node_(std::move(node)), doctor_(std::move(doctor)) {}

  /// A request that has a shard comes from another gateway, which holds it by itself.
  template <class Request>
  void ask(std::uint32_t shard, Request what, duration limit, std::function<void(reply_of<Request>)> then) {
    bool may_wait = false;
    // A status tells that there is no leader, and whoever changes the nodes of a shard asks again by himself.
    if constexpr (!std::is_same_v<Request, v1::StatusRequest> && !std::is_same_v<Request, v1::ShardNodesRequest>)
      may_wait = !what.has_shard() && routes_.is_of_several(shard);
    what.set_shard(shard);
    if (may_wait)
      ask_leader(shard, std::make_shared<const Request>(std::move(what)), mailbox_time(*self_) + limit, std::move(then), {});
    else if (const auto* desk = routes_.here(shard))
      ask_here(*desk, std::move(what), limit, std::move(then));
    else if (const auto via = routes_.there(shard))
      ask_there<Request>(shard, via, std::move(what), limit, then,
                         [this, shard, then] { then(refusal<reply_of<Request>>(routes_.unreachable(shard))); });
    else
      then(refusal<reply_of<Request>>(routes_.unreachable(shard)));
  }

  template <class Request>
  void ask_here(const shard_desk& desk, Request what, duration limit, std::function<void(reply_of<Request>)> then) {
    using reply = reply_of<Request>;
    if constexpr (is_read<Request>) {
      // What another leader has committed is not in this store: nothing is said of it before a majority has said that there is none.
      if (desk.is_of_several()) return ask_confirmed(desk, std::move(what), limit, std::move(then));
      answer_here(desk, std::move(what), limit, std::move(then));
    } else if constexpr (std::is_same_v<Request, v1::StatusRequest>) {
      auto described = [this, at = &desk, then = std::move(then)](reply answer) {
        describe_here(*at, node_, answer);
        then(std::move(answer));
      };
      send(desk.scheduler, desk.shard, std::move(what), limit, std::function<void(reply)>{std::move(described)});
    } else if constexpr (std::is_same_v<Request, v1::DoctorRequest>) {
      what.set_shard(desk.shard);
      // A check takes long and is read-only; to forget effects is a decision of the Scheduler.
      if (what.forget_effects()) return send(desk.scheduler, desk.shard, std::move(what), limit, std::move(then));
      send(doctor_, desk.shard, std::move(what), limit, std::move(then));
    } else {
      send(handler_here<Request>(desk), desk.shard, std::move(what), limit, std::move(then));
    }
  }

  /// Sends all parts at once; the answers come in the order of the parts.
  template <class Request>
  void ask_each(std::vector<std::pair<std::uint32_t, Request>> parts, duration limit,
                std::function<void(std::vector<reply_of<Request>>)> then) {
    struct gathering {
      std::vector<reply_of<Request>> answers;
      std::size_t missing = 0;
      std::function<void(std::vector<reply_of<Request>>)> then;
    };
    if (parts.empty()) return then({});
    const auto all = std::make_shared<gathering>();
    all->answers.resize(parts.size());
    all->missing = parts.size();
    all->then = std::move(then);
    for (std::size_t i = 0; i < parts.size(); ++i)
      ask(parts[i].first, std::move(parts[i].second), limit, [all, i](reply_of<Request> answer) {
        all->answers[i] = std::move(answer);
        if (--all->missing == 0) all->then(std::move(all->answers));
      });
  }

  /// Sends the same request to each shard of the cluster.
  template <class Request>
  void ask_all(const Request& what, duration limit, std::function<void(std::vector<reply_of<Request>>)> then) {
    std::vector<std::pair<std::uint32_t, Request>> parts;
    for (std::uint32_t shard = 0; shard < routes_.count(); ++shard) parts.emplace_back(shard, what);
    ask_each(std::move(parts), limit, std::move(then));
  }

  /// Sends what waits for a leader and may be sent now, or refuses it.
  void look() {
    held_.look(mailbox_time(*self_), [this](std::uint32_t shard) { return routes_.here(shard) != nullptr || routes_.there(shard); });
  }
  /// The reminder has come.
  void remind() {
    is_reminded_ = false;
    look();
    remind_of_held();
  }

  /// The holder of the shard has changed: requests sent to the earlier holder will not be answered.
  void give_up(std::uint32_t shard) {
    std::vector<std::function<void()>> lost;
    for (const auto& [id, one] : under_way_)
      if (one.shard == shard) lost.push_back(one.give_up);
    for (const auto& end : lost) end();
  }

 private:
  struct asked {
    std::uint32_t shard = 0;
    std::function<void()> give_up;
  };

  /// `over`: when there has to be an answer, however often the request is sent. `until`: how long it may wait for another leader, once it has waited
  /// for one.
  template <class Request>
  void ask_leader(std::uint32_t shard, std::shared_ptr<const Request> what, moment over, std::function<void(reply_of<Request>)> then,
                  std::optional<moment> until) {
    using reply = reply_of<Request>;
    constexpr bool may_be_done_twice = row_of<Request>::again == repeated::yes;
    const auto by = [this] { return mailbox_time(*self_) + held_requests::longest_hold; };
    const auto wait = [=, this](reply why, moment last) {
      last = std::min(until.value_or(last), over);
      hold({shard, last, what->ByteSizeLong(), [=, this] { ask_leader(shard, what, over, then, last); }, [then, why] { then(why); }});
    };
    const auto take = [=, soon = by()](reply answer) {
      if (answer.error().not_taken())
        wait(std::move(answer), by());
      else if (may_be_done_twice && answer.error().code() == v1::ERROR_CODE_UNAVAILABLE)
        wait(std::move(answer), soon);
      else
        then(std::move(answer));
    };
    const auto limit = over - mailbox_time(*self_);
    if (const auto* desk = routes_.here(shard)) return ask_here(*desk, Request(*what), limit, std::function<void(reply)>{take});
    const auto unreachable = [=, this] { return refusal<reply>(routes_.unreachable(shard)); };
    const auto via = routes_.there(shard);
    if (!via) {
      const auto last = routes_.leader_may_come_until(shard, mailbox_time(*self_));
      return last ? wait(unreachable(), *last) : then(unreachable());
    }
    ask_there<Request>(shard, via, Request(*what), limit, take, [=] {
      if (may_be_done_twice)
        wait(unreachable(), by());
      else
        then(unreachable());
    });
  }

  void hold(held_requests::request what) {
    const auto refuse = what.refuse;
    if (!held_.hold(std::move(what), mailbox_time(*self_))) return refuse();
    remind_of_held();
  }

  void remind_of_held() {
    if (held_.empty() || std::exchange(is_reminded_, true)) return;
    self_->delayed_send(self_, held_requests::look_period, shard_route{no_shard, {}, {}, {}, false});
  }

  /// The first of: the answer, the time limit, the loss of the node that is asked.
  template <class Request>
  void ask_there(std::uint32_t shard, const caf::strong_actor_ptr& via, Request what, duration limit,
                 std::function<void(reply_of<Request>)> then, std::function<void()> lost) {
    using reply = reply_of<Request>;
    const auto id = next_++;
    const auto end = [this, id, then = std::move(then)](reply answer) {
      if (under_way_.erase(id) != 0) then(std::move(answer));
    };
    under_way_.emplace(id, asked{shard, [this, id, lost = std::move(lost)] {
                                   if (under_way_.erase(id) != 0) lost();
                                 }});
    self_->request(caf::actor_cast<gateway_actor>(via), limit, std::move(what))
        .then([end](reply& answer) { end(std::move(answer)); },
              [this, shard, end](const caf::error&) { end(refusal<reply>(routes_.silent(shard))); });
  }

  template <class Request>
  void answer_here(const shard_desk& desk, Request what, duration limit, std::function<void(reply_of<Request>)> then) {
    if constexpr (row_of<Request>::by == answered_by::store)
      then(read_here(desk, what, time_.now()));
    else
      send(handler_here<Request>(desk), desk.shard, std::move(what), limit, std::move(then));
  }

  template <class Request>
  void ask_confirmed(const shard_desk& desk, Request what, duration limit, std::function<void(reply_of<Request>)> then) {
    self_->request(desk.replica, limit, confirm_atom_v, confirm_begun)
        .then(
            [this, at = &desk, what = std::move(what), limit, then](bool leads) mutable {
              if (!leads) return then(refusal<reply_of<Request>>(routes_.led_elsewhere(at->shard)));
              answer_here(*at, std::move(what), limit, std::move(then));
            },
            [this, shard = desk.shard, then](const caf::error&) { then(refusal<reply_of<Request>>(routes_.led_elsewhere(shard))); });
  }

  template <class Handle, class Request>
  void send(const Handle& whom, std::uint32_t shard, Request what, duration limit, std::function<void(reply_of<Request>)> then) {
    if (!whom) return then(refusal<reply_of<Request>>(routes_.silent(shard)));
    self_->request(whom, limit, std::move(what))
        .then([then](reply_of<Request>& answer) { then(std::move(answer)); },
              [this, shard, then](const caf::error&) { then(refusal<reply_of<Request>>(routes_.silent(shard))); });
  }

  self_pointer self_;
  const gateway_routes& routes_;
  const clock& time_;
  std::string node_;
  doctor_actor doctor_;
  std::map<std::uint64_t, asked> under_way_;  // sent to other nodes
  held_requests held_;
  bool is_reminded_ = false;
  std::uint64_t next_ = 1;
};

}  // namespace fairlead
