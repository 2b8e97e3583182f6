#pragma once
// A node's replica of a shard that others hold, too: production's seat and service, on a thread that the disk keeps busy. What comes in meanwhile
// waits, ticks as well.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "actors/replication/copies/copy_giver.hpp"
#include "actors/replication/copies/copy_taker.hpp"
#include "actors/replication/seat.hpp"
#include "actors/replication/service.hpp"
#include "actors/replication/state_comparer.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::member final : public service_port {
 public:
  member(node& in, replica_settings how);

  void begin();
  const clock& time() const { return node_.world_.settings.planted.strange_clock ? static_cast<const clock&>(node_.clock_) : seat_.time(); }
  void begin_lead() { seat_.begin_lead(); }
  fairlead::replica& consensus() { return *seat_.consensus(); }
  v1::ReplicationStatus describe() const { return seat_.describe(); }

  // Messages to it.
  void commit(std::uint64_t core, store::batch what);
  void receive(const v1::ReplicaMessage& what);
  void confirm(std::uint64_t epoch, std::function<void(bool led)> answer);
  void linked(std::size_t place);
  void greeted(std::size_t place, const v1::ReplicaHello& you);
  void welcomed(std::size_t place, const v1::ReplicaWelcome& said);
  void lost(std::size_t place);
  void transfer(raft::replica_id to);
  void decline(bool on, why_not_lead why);
  result<std::optional<v1::ShardNodes>> change_nodes(const v1::ShardNodesRequest& what);
  void take(const v1::ReplicaCopy& what);
  /// There may be something to write.
  void wake() override;

 private:
  void send(std::vector<raft::message> what) override;
  void committed(std::uint64_t sequence) override;
  void measured(std::size_t, std::size_t, std::chrono::microseconds) override {}
  void leads(bool now) override;
  void confirmed(std::uint64_t ticket, bool led) override;

  static replica_seat::options options_of(const node& of, replica_settings how);
  void put(std::function<void()> what);
  void run(const std::function<void()>& what);
  void check(const status& done) const;
  void tick();
  void look();
  void greet(std::size_t place);
  status meet(std::size_t place, const v1::ReplicaHello& you);
  bool cannot_read(const v1::ReplicaMessage& what);
  void follow_log();
  void write();
  std::optional<status> flush();
  void turn();

  node& node_;
  replica_seat seat_;
  std::int64_t last_mail_us_ = 0;
  bool busy_ = false;
  std::deque<std::function<void()>> mail_;
  std::map<std::uint64_t, std::function<void(bool)>> asked_;
  std::set<std::size_t> linked_;                 // places with which a connection stands
  std::map<std::size_t, raft::replica_id> met_;  // by place: who has introduced itself over it
  std::uint64_t copies_ = 0;
  std::optional<copy_giver> giver_;
  std::optional<copy_taker> taker_;
  std::optional<state_comparer> comparer_;
  std::uint64_t ticks_ = 0;
  replica_service service_{*this};
};

}  // namespace fairlead::simulation
