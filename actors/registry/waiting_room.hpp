#pragma once
// The waiting room of a registry: tasks in lanes, and which of them is next.
//
// A line is all steps that need the same of the same service; what blocks one of its steps at the service or its instances blocks them all. A
// lane is the part of a line that counts against the same keyed limits. What is blocked stands outside the order in which `next` looks: a line
// until it is unblocked, a lane at the bucket that has no room. So looking costs what may proceed, not what waits.
//
// A bucket that has room again lets one lane of each line go and look (its scout), not all: a merchant's limit may hold back the lanes of ten
// thousand customers. Where the scout is blocked by something else, or is through, the next best follows.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actors/core/registry/limit_book.hpp"
#include "messages/time.hpp"

namespace fairlead {

/// Moments at which something has to be looked at, one for each thing. Of those that are due at the same time the one that was set first comes
/// first: what is done must not hang on where in memory things happen to stand.
///
/// Moments are those of a clock that somebody may set. Once it shows less than it has shown before, all are due: none of them says any more how
/// long to wait, and whoever looks sets those anew that are still needed. Where it falls by less than has passed since the last look nothing is
/// noticed, and nothing waits longer than that.
template <class T>
class alarms {
 public:
  void set(T* what, moment at, moment now) {
    looked_ = std::max(looked_, now);
    const auto known = by_what_.find(what);
    if (known != by_what_.end()) {
      if (known->second.first == at) return;
      by_time_.erase(known->second);
      by_what_.erase(known);
    }
    const std::pair place{at, next_place_++};
    by_what_.emplace(what, place);
    by_time_.emplace(place, what);
  }
  void clear(T* what) {
    const auto entry = by_what_.find(what);
    if (entry == by_what_.end()) return;
    by_time_.erase(entry->second);
    by_what_.erase(entry);
  }
  std::optional<moment> next() const { return by_time_.empty() ? std::nullopt : std::optional{by_time_.begin()->first.first}; }
  /// The first one that is due, taken off; null: none is.
  T* take_due(moment now) {
    if (now < looked_) bring_forward(now);
    looked_ = now;
    if (by_time_.empty() || by_time_.begin()->first.first > now) return nullptr;
    auto* const what = by_time_.begin()->second;
    clear(what);
    return what;
  }

 private:
  void bring_forward(moment to) {
    for (const auto& [place, what] : std::exchange(by_time_, {})) {
      const std::pair sooner{std::min(place.first, to), place.second};
      by_what_.find(what)->second = sooner;
      by_time_.emplace(sooner, what);
    }
  }

  std::map<std::pair<moment, std::uint64_t>, T*> by_time_;
  std::unordered_map<T*, std::pair<moment, std::uint64_t>> by_what_;
  std::uint64_t next_place_ = 0;
  moment looked_{};  // the latest that the clock has shown since the last look
};

/// What is to be undone goes first, then the least order.
struct waiting_key {
  bool performing = true;
  std::uint64_t order = 0;
  std::uint64_t task_number = 0;
  friend auto operator<=>(const waiting_key&, const waiting_key&) = default;
};

class waiting_room {
 public:
  struct lane;
  struct park;

  /// Ties go by number, never by where in memory something stands: the same events give the same order again.
  struct in_order {
    template <class T>
    bool operator()(const std::pair<waiting_key, T*>& a, const std::pair<waiting_key, T*>& b) const {
      return a.first != b.first ? a.first < b.first : a.second->id < b.second->id;
    }
    template <class T>
    bool operator()(const T* a, const T* b) const {
      return a->id < b->id;
    }
  };

  struct line {
    std::uint64_t id = 0;                  // among all lines
    core::limit_book* limits = nullptr;    // of the service
    std::uint64_t* lines_ready = nullptr;  // of the service: those that `next` looks at
    std::uint64_t waiting = 0;             // tasks in its lanes
    bool blocked = false;
    std::set<std::pair<waiting_key, lane*>, in_order> ready;
    std::optional<waiting_key> listed;  // where it stands in the order of all lines
    std::unordered_map<std::string, lane*> lanes;
  };

  /// Asked about a line before one of its tasks is let go.
  class door {
   public:
    virtual ~door() = default;
    virtual bool lets_through(line& which, moment now) = 0;
    /// The number of tasks in the line has changed from or to none.
    virtual void occupied(line& which, moment now) = 0;
  };

  explicit waiting_room(door& at) : door_(at) {}
  ~waiting_room();

  /// The lane of steps that count against these buckets; it lives at least as long as anything waits in it.
  std::uint64_t lane_for(line& in, const std::vector<core::limit_bucket*>& keyed, moment now);

  void wait(std::uint64_t lane, const waiting_key& who, moment now);
  /// Takes the task out of all lanes.
  void forget(std::uint64_t task_number, moment now);
  std::optional<std::uint64_t> next(moment now);
  bool waits(std::uint64_t task_number) const;

  /// Something that the door minds has changed.
  void unblock(line& which);
  /// A keyed bucket may have room again.
  void opened(core::limit_bucket& which, moment now);
  /// The service has other limits: each task has to be asked anew what it counts against.
  void dissolve(line& which, moment now);

  /// `next` may name somebody.
  bool has_next() const noexcept { return !strays_.empty() || !ready_.empty(); }

  std::optional<moment> next_wake() const { return rates_.next(); }
  void wake(moment now);

  /// Calls `with(line, lane's buckets, tasks in it)` for each lane in which something waits.
  template <class F>
  void for_each_lane(const line& in, F&& with) const;
  /// When the task that has waited longest in each line began to.
  std::map<const line*, moment> oldest() const;
  std::size_t lanes() const noexcept { return lanes_.size(); }

 private:
  struct spot {
    lane* in = nullptr;
    waiting_key key;
    moment since;
  };

  void settle(line& which, moment now);
  void relist(line& which);
  void make_ready(lane& which);
  /// Out of the order, wherever it stands. The park whose scout it was, which may want another.
  park* take_out(lane& which);
  void put_at(lane& which, park& where);
  void park_lane(lane& which, core::limit_bucket& bucket, moment now);
  void send_scout(park& from);
  void tidy(park& which);
  void reposition(lane& which);
  void remove_task(lane& from, const waiting_key& key, moment now);
  void become_idle(lane& which, moment now);
  void destroy(lane& which, moment now);

  door& door_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<lane>> lanes_;
  std::unordered_map<std::uint64_t, std::vector<spot>> tasks_;
  std::set<std::pair<waiting_key, line*>, in_order> ready_;
  std::unordered_map<core::limit_bucket*, std::map<line*, std::unique_ptr<park>, in_order>> parks_;
  alarms<core::limit_bucket> rates_;
  std::list<lane*> idle_;         // lanes without tasks, in the order in which they became so
  std::set<waiting_key> strays_;  // tasks whose lane is gone: they have to ask anew
};

struct waiting_room::lane {
  std::uint64_t id = 0;
  line* in = nullptr;
  std::string signature;  // ids of its buckets
  std::vector<core::limit_bucket*> buckets;
  std::set<waiting_key> tasks;
  waiting_key listed;  // its place in `line::ready` or `park::lanes`
  bool ready = false;
  park* parked = nullptr;
  park* scout_of = nullptr;  // while ready
  std::optional<std::list<lane*>::iterator> idle;
};

/// Lanes of one line before one bucket without room.
struct waiting_room::park {
  core::limit_bucket* bucket = nullptr;
  line* of = nullptr;
  std::set<std::pair<waiting_key, lane*>, in_order> lanes;
  lane* scout = nullptr;
};

template <class F>
void waiting_room::for_each_lane(const line& in, F&& with) const {
  for (const auto& [signature, one] : in.lanes)
    if (!one->tasks.empty()) with(one->buckets, one->tasks.size());
}

}  // namespace fairlead
