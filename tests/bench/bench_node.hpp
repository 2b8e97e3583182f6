#pragma once
// A whole node without a network in this process: real store, Scheduler, Supervisor, gateway, and one agent `services`, native or http, whose
// call `work` gives 100 bytes. The workflow `order` of three sequential steps is deployed.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/agents/native.hpp"
#include "actors/node/node_tree.hpp"
#include "actors/protocol/meta_objects.hpp"
#include "actors/replication/replica.hpp"
#include "store/disk/disk_stores.hpp"

namespace fairlead::bench {

namespace stores = fairlead::store;  // inside a class derived from store::store the name `store` is the class

/// The store, counting operations and, when told to, remembering the groups as they were committed.
class recording_store final : public stores::store {
 public:
  explicit recording_store(stores::store& inner) : inner_(inner) {}
  status commit(const std::vector<stores::batch>& group) override;
  result<std::uint64_t> raise_epoch() override { return inner_.raise_epoch(); }
  std::unique_ptr<stores::snapshot> read() const override { return inner_.read(); }
  std::unique_ptr<stores::snapshot> read_settled() const override { return inner_.read_settled(); }
  stores::usage get_usage() const override { return inner_.get_usage(); }

  void record() { recording_ = true; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t commits() const { return commits_; }
  double commit_seconds() const { return static_cast<double>(commit_ns_) / 1e9; }
  /// Of a node that has stopped.
  const std::vector<double>& commits_us() const { return commits_us_; }
  std::size_t most_unapplied_bytes() const { return most_unapplied_bytes_; }
  std::function<std::size_t()> unapplied_bytes;  // empty: everything is applied at once
  std::vector<std::vector<stores::batch>> take() { return std::move(groups_); }

 private:
  stores::store& inner_;
  bool recording_ = false;
  std::uint64_t operations_ = 0;
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<std::int64_t> commit_ns_{0};
  std::vector<double> commits_us_;
  std::size_t most_unapplied_bytes_ = 0;
  std::vector<std::vector<stores::batch>> groups_;
};

v1::DeployRequest order_workflow();
/// A workflow `flow` of so many sequential steps; each reads the input, the task and the step before it.
v1::DeployRequest flow_workflow(std::uint32_t steps);

/// A workflow `list` whose step is carried out once for each of `.input.items`.
v1::DeployRequest list_workflow(std::uint32_t at_once);

class bench_node {
 public:
  struct options {
    std::string directory;   // of the store
    bool lmdb_only = false;  // each commit is a transaction of LMDB; else the store is behind a journal, as in a real node
    bool record = false;
    std::uint64_t running_tasks = 10'000;
    std::uint32_t flow_steps = 0;     // not 0: the workflow `flow` is deployed, too
    std::uint32_t items_at_once = 0;  // not 0: the workflow `list` is deployed, too
    cron_limits cron;
    bool with_agent = true;
    bool watched = false;          // by a `fairlead console` that lists tasks every second
    bool agent_elsewhere = false;  // the native agent lives in another process, which speaks with this one through CAF's network
    int http_port = 0;             // where bench_http_server listens: the agent is one of kind http; 0: it is native
    std::function<void(const agents::native_context&)> on_work;  // told of each call before it is answered
  };

  /// Opens, starts and deploys; throws std::runtime_error with the reason when something refuses.
  explicit bench_node(const options& with);
  ~bench_node();

  caf::actor_system& system() { return *system_; }
  gateway_actor gateway() const { return tree_->gateway(); }
  recording_store& recorder() { return recorder_; }
  /// Of new segments of the journal: once for each file, whatever is written later.
  std::uint64_t zeroed_bytes() const;
  void stop() { tree_->stop(std::chrono::seconds{10}); }

 private:
  void deploy(v1::DeployRequest what);
  std::string publish();
  int start_beside(const std::vector<std::string>& command);
  void begin_agents_elsewhere();

  std::unique_ptr<stores::lmdb_store> alone_;
  std::unique_ptr<stores::disk_stores> journaled_;
  std::unique_ptr<replica> replica_;  // null: with lmdb_only
  recording_store recorder_;
  const system_clock clock_;
  std::unique_ptr<observer> log_;
  expression_pool expressions_;
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
  std::unique_ptr<node_tree> tree_;
  std::vector<int> beside_;  // processes that end with this
};

/// `fairlead_bench agent-node ADDRESS`: the node that `agent_elsewhere` starts; ends with its parent.
int run_agent_node(const std::string& shard_address);

}  // namespace fairlead::bench
