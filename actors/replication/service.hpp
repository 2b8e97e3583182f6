#pragma once
// What a replica does with its turns: the Scheduler's batches gather until the disk is free, and what consensus says is told on in order once it is
// durable. Written against ports, without CAF.

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "actors/replication/replica.hpp"

namespace fairlead {

/// What a replica's turns lead to. Called on the thread that serves it, but for send().
class service_port {
 public:
  virtual ~service_port() = default;
  /// To other replicas of the shard. Also from the thread of a Scheduler that begins, with a lock held: it must not call back.
  virtual void send(std::vector<raft::message> what) = 0;
  /// There is work: flush() is to be called behind all that has come in by then.
  virtual void wake() = 0;
  /// To the Scheduler whose batches these were: all up to this one count.
  virtual void committed(std::uint64_t sequence) = 0;
  /// A group of the Scheduler's batches counts, so long after it was proposed.
  virtual void measured(std::size_t batches, std::size_t bytes, std::chrono::microseconds took) = 0;
  /// This replica leads from now on, or no longer.
  virtual void leads(bool now) = 0;
  /// To who has asked for a confirmed round.
  virtual void confirmed(std::uint64_t ticket, bool led) = 0;
};

/// An error is one of the disk or a bug: the process has to end.
class replica_service final : private replica_port {
 public:
  /// `to` outlives the service.
  explicit replica_service(service_port& to) : world_(to) {}
  ~replica_service() override;
  replica_service(const replica_service&) = delete;
  replica_service& operator=(const replica_service&) = delete;

  /// The shard has begun, or had before. `which` outlives the service.
  void serve(replica& which);

  /// `from` names the Scheduler; what one before it has left counts no more.
  void commit(std::uint64_t from, store::batch what);
  status receive(const raft::message& what);
  status tick();
  /// The ticket under which the world hears the answer (replica::confirm).
  std::uint64_t confirm(std::uint64_t epoch = 0);
  status unreachable(raft::replica_id who);
  /// After wake().
  status flush();

 private:
  struct proposed {
    std::uint64_t last_sequence = 0;
    std::size_t batches = 0;
    std::size_t bytes = 0;
    std::chrono::steady_clock::time_point since;
  };

  // What consensus says, from the thread that is inside it.
  void send(std::vector<raft::message> what) override { world_.send(std::move(what)); }
  void committed(std::uint64_t sequence) override;
  void leads(std::uint64_t epoch) override;
  void leads_no_longer() override;
  void confirmed(std::uint64_t ticket, bool led) override;

  void wake();
  status propose();
  void act();

  service_port& world_;
  replica* replica_ = nullptr;
  bool awake_ = false;
  bool leads_ = false;  // as told on
  std::uint64_t scheduler_ = 0;
  std::vector<store::batch> gathered_;
  std::deque<proposed> proposed_;

  std::mutex guard_;  // of what follows: a Scheduler that begins anew is inside consensus on another thread
  std::uint64_t committed_ = 0;
  std::vector<bool> led_;
  std::vector<std::pair<std::uint64_t, bool>> answers_;
};

}  // namespace fairlead
