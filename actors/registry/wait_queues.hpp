#pragma once
// The wait queues of a registry: the waiting tasks, and which task is next.
//
// A queue holds all steps with the same needs at the same service. A block at the service or its instances applies to the whole queue. A
// keyed queue is the part of a queue that counts against the same keyed limits. `next` looks only at unblocked queues: a blocked queue is
// left out until it is unblocked, a blocked keyed queue until its full bucket has room. So the cost is that of steps that may proceed, not
// of all waiting steps.
//
// When a full bucket has room again, one keyed queue of each queue is made ready (the probe), not all: a limit for each merchant may hold
// back the keyed queues of ten thousand customers. Once the probe is blocked elsewhere, or is served, the next best keyed queue follows.

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
#include "actors/registry/alarms.hpp"
#include "messages/time.hpp"

namespace fairlead {

/// Undoing goes before performing, then the least order.
struct waiting_key {
  bool performing = true;
  std::uint64_t order = 0;
  std::uint64_t task_number = 0;
  friend auto operator<=>(const waiting_key&, const waiting_key&) = default;  // NOLINT(modernize-use-nullptr)
};

class wait_queues {
 public:
  struct keyed_queue;
  struct full_bucket;

  /// Ties are broken by number, never by address: the same events give the same order again.
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

  struct queue {
    std::uint64_t id = 0;                   // unique among all queues
    core::limit_book* limits = nullptr;     // of the service
    std::uint64_t* queues_ready = nullptr;  // of the service: how many of its queues `next` looks at
    std::uint64_t waiting = 0;              // tasks in its keyed queues
    bool blocked = false;
    std::set<std::pair<waiting_key, keyed_queue*>, in_order> ready;
    std::optional<waiting_key> listed;  // its place in the order of all queues
    std::unordered_map<std::string, keyed_queue*> keyed;
  };

  /// The owner's decisions about a queue.
  class admission {
   public:
    virtual ~admission() = default;
    /// Whether a task of the queue may proceed now, as far as the service and its instances are concerned.
    virtual bool admits(queue& which, moment now) = 0;
    /// The number of tasks in the queue has changed from or to zero.
    virtual void occupied(queue& which, moment now) = 0;
  };

  explicit wait_queues(admission& at) : admission_(at) {}
  ~wait_queues();

  /// The id of the keyed queue for steps that count against these buckets. The queue lives at least as long as a task waits in it.
  std::uint64_t queue_for(queue& in, const std::vector<core::limit_bucket*>& keyed, moment now);

  void wait(std::uint64_t keyed_queue_id, const waiting_key& who, moment now);
  /// Takes the task out of all queues.
  void forget(std::uint64_t task_number, moment now);
  struct turn {
    std::uint64_t task_number = 0;
    const queue* from = nullptr;  // null: the task has to ask anew for its queue
  };
  /// The first task that may proceed, taken out of its queue.
  std::optional<turn> next(moment now);
  bool waits(std::uint64_t task_number) const;

  /// A condition that `admission::admits` checks has changed.
  void unblock(queue& which);
  /// A keyed bucket may have room again.
  void opened(core::limit_bucket& which, moment now);
  /// The service has other limits: the tasks must ask for their keyed queues anew.
  void dissolve(queue& which, moment now);

  /// Whether `next` may name a task.
  bool has_next() const noexcept { return !unqueued_.empty() || !ready_.empty(); }

  std::optional<moment> next_wake() const { return rates_.next(); }
  void wake(moment now);

  /// Calls `with(buckets, tasks)` for each keyed queue in which a task waits.
  template <class F>
  void for_each_keyed(const queue& in, F&& with) const;
  /// For each queue, since when its longest waiting task waits.
  std::map<const queue*, moment> oldest() const;
  std::size_t keyed_queues() const noexcept { return keyed_.size(); }

 private:
  struct place {
    keyed_queue* in = nullptr;
    waiting_key key;
    moment since;
  };

  void block_what_cannot_go_on(queue& which, moment now);
  void relist(queue& which);
  void make_ready(keyed_queue& which);
  /// Takes the keyed queue out of the order. Returns the full bucket whose probe it was; that bucket may want another probe.
  full_bucket* take_out(keyed_queue& which);
  void block_at(keyed_queue& which, full_bucket& where);
  void block(keyed_queue& which, core::limit_bucket& bucket, moment now);
  void send_probe(full_bucket& from);
  void tidy(full_bucket& which);
  void reposition(keyed_queue& which);
  void remove_task(keyed_queue& from, const waiting_key& key, moment now);
  void become_idle(keyed_queue& which, moment now);
  void destroy(keyed_queue& which, moment now);

  admission& admission_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<keyed_queue>> keyed_;
  std::unordered_map<std::uint64_t, std::vector<place>> tasks_;
  std::set<std::pair<waiting_key, queue*>, in_order> ready_;
  std::unordered_map<core::limit_bucket*, std::map<queue*, std::unique_ptr<full_bucket>, in_order>> full_;
  alarms<core::limit_bucket> rates_;
  std::list<keyed_queue*> idle_;    // without tasks, in the order in which they became so
  std::set<waiting_key> unqueued_;  // tasks whose keyed queue is gone: they must ask anew
};

struct wait_queues::keyed_queue {
  std::uint64_t id = 0;
  queue* in = nullptr;
  std::string signature;  // ids of its buckets
  std::vector<core::limit_bucket*> buckets;
  std::set<waiting_key> tasks;
  waiting_key listed;  // its place in `queue::ready` or `full_bucket::keyed`
  bool ready = false;
  full_bucket* blocked_at = nullptr;
  full_bucket* probe_of = nullptr;  // while ready
  std::optional<std::list<keyed_queue*>::iterator> idle;
};

/// The keyed queues of one queue that wait for room in one bucket.
struct wait_queues::full_bucket {
  core::limit_bucket* bucket = nullptr;
  queue* of = nullptr;
  std::set<std::pair<waiting_key, keyed_queue*>, in_order> keyed;
  keyed_queue* probe = nullptr;
};

template <class F>
void wait_queues::for_each_keyed(const queue& in, F&& with) const {
  for (const auto& [signature, one] : in.keyed)
    if (!one->tasks.empty()) with(one->buckets, one->tasks.size());
}

}  // namespace fairlead
