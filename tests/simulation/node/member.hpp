#pragma once
// A node's replica of a shard that others hold, too: production's service, on a thread that the disk keeps busy. What comes in meanwhile waits, ticks
// as well.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "actors/replication/lead_clock.hpp"
#include "actors/replication/replica.hpp"
#include "actors/replication/service.hpp"
#include "tests/simulation/node/node.hpp"

namespace fairlead::simulation {

class node::member final : public service_port {
 public:
  member(node& in, replica_settings how);

  void begin();
  /// As replica_seat.
  const clock& time() const {
    const auto& planted = node_.world_.settings.planted;
    return planted.strange_clock ? static_cast<const clock&>(node_.clock_) : planted.follow_while_leading ? time_ : led_time_;
  }
  void begin_lead() { led_time_.take(time_); }
  fairlead::replica& consensus() { return replica_; }
  v1::ReplicationStatus describe() const;

  // Messages to it.
  void commit(std::uint64_t core, store::batch what);
  void receive(const v1::ReplicaMessage& what);
  void confirm(std::uint64_t epoch, std::function<void(bool led)> answer);
  void unreachable(raft::replica_id who);
  void transfer(raft::replica_id to);
  /// There may be something to write.
  void wake() override;

 private:
  void send(std::vector<raft::message> what) override;
  void committed(std::uint64_t sequence) override;
  void measured(std::size_t, std::size_t, std::chrono::microseconds) override {}
  void leads(bool now) override;
  void confirmed(std::uint64_t ticket, bool led) override;

  void put(std::function<void()> what);
  void run(const std::function<void()>& what);
  void check(const status& done) const;
  void tick();
  void write();
  std::optional<status> flush();
  void turn();

  node& node_;
  lead_clock time_;
  lead_clock led_time_;
  fairlead::replica replica_;
  std::int64_t last_mail_us_ = 0;
  bool busy_ = false;
  std::deque<std::function<void()>> mail_;
  std::map<std::uint64_t, std::function<void(bool)>> asked_;
  replica_service service_{*this};
};

}  // namespace fairlead::simulation
