#include "actors/node/node_tree.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "actors/cluster/links_actor.hpp"
#include "actors/core/text/text.hpp"
#include "actors/expressions/deployer_actor.hpp"
#include "actors/node/steward_actor.hpp"
#include "actors/supervisor/doctor_actor.hpp"

namespace fairlead {

namespace {

constexpr duration stop_limit = std::chrono::seconds{5};
constexpr duration look_again_after{20};
constexpr duration links_answer_limit = std::chrono::seconds{2};
constexpr auto path_of_shards = "node/shards";
constexpr duration leads_move_within = std::chrono::seconds{2};
constexpr duration drain_heard_within{500};

template <class Handle>
caf::strong_actor_ptr pointer(const Handle& handle) {
  return caf::actor_cast<caf::strong_actor_ptr>(handle);
}

/// The tree owns the address and outlives all guardians.
std::shared_ptr<stable_address> borrowed(stable_address& of) {
  return {&of, [](stable_address*) {}};
}

child_spec child(std::string id, child_factory start, stable_address& address) {
  child_spec out;
  out.id = std::move(id);
  out.start = std::move(start);
  out.address = borrowed(address);
  return out;
}

/// Files of an audit that are read at once, each in a thread of its own.
constexpr int most_audits_read = 8;

decltype(gateway_setup::read_audit) reads_in_threads(caf::actor_system& system, std::shared_ptr<const audit_port> from) {
  return [&system, from = std::move(from), reading = std::make_shared<std::atomic<int>>(0)](const v1::AuditListRequest& what,
                                                                                            std::function<void(v1::AuditListReply)> done) {
    if (reading->fetch_add(1) >= most_audits_read) {
      reading->fetch_sub(1);
      v1::AuditListReply refused;
      *refused.mutable_error() =
          error{v1::ERROR_CODE_OVERLOADED, "it reads too many files of its audit at once", "Ask again in a moment."}.to_proto();
      return done(std::move(refused));
    }
    system.spawn<caf::detached>([from, reading, what, done = std::move(done)](caf::event_based_actor*) {
      done(from->read(what));
      reading->fetch_sub(1);
    });
  };
}

guardian_spec branch_of(std::string id) {
  guardian_spec out;
  out.id = std::move(id);
  return out;
}

}  // namespace

node_tree::node_tree(world in, node_tree_options options)
    : world_(std::move(in)),
      options_(std::move(options)),
      tree_(*world_.time),
      guards_{world_.system, world_.time, world_.log, &tree_},
      gateway_(*world_.system),
      links_(*world_.system),
      deployer_(*world_.system),
      doctor_(*world_.system),
      steward_(*world_.system),
      agents_guardian_(*world_.system),
      shards_guardian_(*world_.system),
      started_at_unix_ms_(to_unix_ms(world_.time->now())),
      workers_(std::make_shared<workers>(
          workers::world{world_.system, world_.time, world_.log, options_.who.node(), links_.as<links_actor>(), options_.callback_url})) {}

result<std::unique_ptr<node_tree>> node_tree::start(world in, node_tree_options options, std::vector<shard_part> shards) {
  std::unique_ptr<node_tree> out{new node_tree{std::move(in), std::move(options)}};
  auto& with = out->world_;
  auto* self = out.get();
  // An endless series of crashes must reach the root while the root still counts the restarts: the higher a guardian, the fewer restarts in
  // a longer time.
  auto root = branch_of("node");
  root.policy.within = std::chrono::minutes{5};
  auto shards_branch = branch_of("shards");
  shards_branch.policy.restarts = 1;
  shards_branch.policy.within = std::chrono::minutes{5};
  const auto turn = std::make_shared<copy_turn>(false);
  for (auto& part : shards) {
    shard::world of;
    of.guards = out->guards_;
    of.store = part.store;
    of.commits = part.commits;
    of.seat = part.seat;
    of.links = out->links_.as<links_actor>();
    of.archives = std::move(part.archives);
    of.turn = turn;
    of.store_id = part.store_id;
    of.lineage = part.lineage;
    of.expressions = with.expressions;
    of.alert_webhooks = with.alert_webhooks;
    of.describe_store = std::move(part.describe_store);
    of.on_fatal = with.on_fatal;
    of.on_damage = with.on_damage;
    of.on_difference = with.on_difference;
    of.on_older_copy = with.on_older_copy;
    of.on_outlived = with.on_outlived;
    of.on_others = with.on_others;
    of.on_epoch = [self](const v1::ShardClaim& claim) { caf::anon_send(self->links_.as<links_actor>(), claim); };
    part.options.shard_count = out->options_.who.shard_count();
    out->shards_.push_back(std::make_unique<shard>(std::move(of), std::move(part.options)));
    shards_branch.children.push_back(out->shards_.back()->branch(path_of_shards));
  }
  auto all_shards = guardian_child(out->guards_, "node", std::move(shards_branch));
  all_shards.address = borrowed(out->shards_guardian_);
  root.children.push_back(std::move(all_shards));
  root.children.push_back(guardian_child(out->guards_, "node", out->network()));
  auto agents = guardian_child(out->guards_, "node", out->agents_branch());
  agents.address = borrowed(out->agents_guardian_);
  root.children.push_back(std::move(agents));
  root.children.push_back(guardian_child(out->guards_, "node", out->desk_branch()));
  auto started = start_guardian(out->guards_, std::move(root), with.on_given_up);
  if (!started) return started.failure();
  out->root_ = std::move(*started);
  return out;
}

node_tree::~node_tree() {
  workers_->close();
  if (root_) stop_guardian(guards_, root_, stop_limit);
  for (auto& one : shards_) one->shut_down();
  for (auto* address : {&gateway_, &links_, &deployer_, &doctor_, &steward_, &agents_guardian_, &shards_guardian_}) address->close();
}

// ---- network and desk ----

guardian_spec node_tree::network() {
  links_setup setup;
  setup.options.me = options_.who;
  setup.options.me.clear_shards();
  for (const auto& claim : options_.who.shards()) setup.options.shards_here.push_back(claim.shard());
  for (const auto& one : shards_)
    if (auto known = one->known()) setup.options.known.push_back(std::move(*known));
  setup.options.peers = options_.peers;
  setup.options.time = world_.time;
  setup.options.log = world_.log;
  setup.gateway = gateway_.handle();
  setup.on_held_elsewhere = world_.on_held_elsewhere;
  return network_branch(guards_, std::move(setup), borrowed(links_));
}

std::vector<shard_desk> node_tree::desks() const {
  std::vector<shard_desk> out;
  for (const auto& one : shards_) out.push_back(one->desk());
  return out;
}

guardian_spec node_tree::desk_branch() {
  auto out = branch_of("desk");
  auto desks = this->desks();
  out.children.push_back(child(
      "deployer",
      [this]() -> result<caf::strong_actor_ptr> {
        deployer_setup setup;
        setup.check_expressions = [pool = world_.expressions](const std::vector<std::string>& all) { return pool->check(all); };
        return pointer(world_.system->spawn<caf::detached>(run_deployer, std::move(setup)));
      },
      deployer_));
  out.children.push_back(child(
      "doctor",
      [this, desks]() -> result<caf::strong_actor_ptr> {
        return pointer(world_.system->spawn<caf::detached>(run_doctor, doctor_setup{desks}));
      },
      doctor_));
  out.children.push_back(child(
      "steward",
      [this]() -> result<caf::strong_actor_ptr> {
        return pointer(
            world_.system->spawn<caf::detached>(run_steward, [this](const v1::NodeOperateRequest& what) { return operate(what); }));
      },
      steward_));
  out.children.push_back(gateway_child(std::move(desks)));
  return out;
}

child_spec node_tree::gateway_child(std::vector<shard_desk> desks) {
  return child(
      "gateway",
      [this, desks = std::move(desks)]() -> result<caf::strong_actor_ptr> {
        gateway_setup setup;
        const auto& who = options_.who;
        setup.node = who.node();
        setup.version = who.version();
        setup.cluster = who.cluster();
        setup.roles.assign(who.roles().begin(), who.roles().end());
        setup.incarnation = who.incarnation();
        setup.started_at_unix_ms = started_at_unix_ms_;
        setup.time = world_.time;
        setup.log = world_.log;
        setup.desks = desks;
        setup.shard_count = who.shard_count();
        setup.links = links_.as<links_actor>();
        setup.deployer = deployer_.as<deployer_actor>();
        if (!desks.empty()) setup.doctor = doctor_.as<doctor_actor>();
        setup.tree = &tree_;
        setup.operate = [this](const v1::NodeOperateRequest& what, std::function<void(v1::NodeOperateReply)> done) {
          caf::anon_send(steward_.as<steward_actor>(), steward_order{what, std::move(done)});
        };
        setup.audit = world_.audit;
        if (world_.audit) setup.read_audit = reads_in_threads(*world_.system, world_.audit);
        if (world_.log_level)
          setup.log_level = [this] {
            const auto level = world_.log_level("");
            return level ? *level : std::string{};
          };
        setup.draining = [this] { return draining_.load(); };
        return pointer(world_.system->spawn(run_gateway, std::move(setup)));
      },
      gateway_);
}

v1::NodeOperateReply node_tree::operate(const v1::NodeOperateRequest& what) {
  v1::NodeOperateReply out;
  out.set_node(options_.who.node());
  const auto said = [&](const std::string& verb) {
    world_.log->on_note(
        note_level::info, "node",
        core::clean_text(what.who(), 64) + ": " + verb + (what.reason().empty() ? "" : ": " + core::clean_text(what.reason(), 256)));
  };
  switch (what.verb()) {
    case v1::NODE_VERB_DRAIN:
    case v1::NODE_VERB_RESUME: {
      const bool drain = what.verb() == v1::NODE_VERB_DRAIN;
      said(drain ? "the node is drained: other nodes are to lead its shards, and its agents take no new steps"
                 : "the node is drained no longer");
      out.set_leads(decline_leads(drain));
      out.set_held(drain_agents(drain));
      // An agent counts one more until its shards have heard of it.
      const auto until = std::chrono::steady_clock::now() + drain_heard_within;
      while (drain && out.held() > 0 && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(look_again_after);
        out.set_held(drain_agents(drain));
      }
      break;
    }
    case v1::NODE_VERB_RELOAD: {
      if (!world_.reload) {
        *out.mutable_error() =
            error{v1::ERROR_CODE_WRONG_STATE, "this node was started without a node file", "start it with --config FILE"}.to_proto();
        break;
      }
      said("the node file is read again");
      const auto read = world_.reload();
      if (read)
        *out.mutable_reload() = *read;
      else
        *out.mutable_error() = read.failure().to_proto();
      break;
    }
    case v1::NODE_VERB_INIT:
      open_to_others(out);
      if (!out.shards().empty()) said("other nodes can join its shards");
      break;
    case v1::NODE_VERB_LOG_LEVEL: {
      if (!world_.log_level) {
        *out.mutable_error() = error{v1::ERROR_CODE_WRONG_STATE, "this node has no log of its own", "start it with a node file"}.to_proto();
        break;
      }
      const auto before = world_.log_level(what.log_level());
      if (!before) {
        *out.mutable_error() = before.failure().to_proto();
        break;
      }
      out.set_before(*before);
      if (!what.log_level().empty()) said("log level " + what.log_level() + " instead of " + *before);
      break;
    }
    default:
      *out.mutable_error() =
          error{v1::ERROR_CODE_INVALID_ARGUMENT, "the request has no action for the node", "use a client of the node's release"}.to_proto();
  }
  return out;
}

/// A node that refuses this one, or that this one refuses; empty: none is known.
std::string node_tree::refused_by() {
  std::string out;
  caf::scoped_actor self{*world_.system};
  self->request(links_.as<links_actor>(), links_answer_limit, report_atom_v)
      .receive(
          [&out](const link_report& report) {
            for (const auto& peer : report.peers)
              if (peer.refused()) out = peer.node().empty() ? peer.address() : peer.node();
          },
          [](const caf::error&) {});
  return out;
}

/// One shard after the other, each of which stands still for a moment.
void node_tree::open_to_others(v1::NodeOperateReply& out) {
  const auto set_error = [&](const error& why) { *out.mutable_error() = why.to_proto(); };
  if (!world_.open_to_others) return set_error({v1::ERROR_CODE_WRONG_STATE, "the shards of this node cannot be on several nodes", ""});
  if (const auto refused = refused_by(); !refused.empty())
    return set_error(
        {v1::ERROR_CODE_WRONG_STATE,
         "node " + options_.who.node() + " and node " + refused + " do not work together, so others may hold the shard already",
         "fairlead console -c nodes says why; to let this node hold the shard together with them, run fairlead cluster join on it"});
  for (const auto& one : shards_) {
    if (!one->lives_here_alone()) continue;
    const auto opened =
        one->open_to_others(shards_guardian_.as<guardian_actor>(), path_of_shards, [&] { return world_.open_to_others(one->number()); });
    if (!opened.ok()) return set_error(opened.failure());
    if (draining_) one->decline(true);
    out.add_shards(one->number());
  }
  if (!out.shards().empty()) return;
  const auto waits =
      std::find_if(shards_.begin(), shards_.end(), [](const auto& one) { return !one->lives_here_alone() && !one->known(); });
  if (waits != shards_.end())
    return set_error({v1::ERROR_CODE_WRONG_STATE,
                      "shard " + std::to_string((*waits)->number()) + " has not begun on node " + options_.who.node() +
                          ", which is to hold it together with others",
                      "fairlead cluster status says what it waits for"});
  set_error({v1::ERROR_CODE_WRONG_STATE,
             shards_.empty() ? "node " + options_.who.node() + " holds no shard"
                             : "no shard lives on node " + options_.who.node() + " alone: others can join them already",
             shards_.empty() ? "ask a node that does" : "run fairlead cluster join on the other nodes"});
}

/// How many shards it still leads after a while, which is long enough for another node to take over.
std::uint32_t node_tree::decline_leads(bool on) {
  for (const auto& one : shards_) one->decline(on);
  const auto leads = [this] {
    return static_cast<std::uint32_t>(std::count_if(shards_.begin(), shards_.end(), [](const auto& one) { return one->leads(); }));
  };
  const auto until = std::chrono::steady_clock::now() + leads_move_within;
  while (on && leads() > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(look_again_after);
  return on ? leads() : 0;
}

// ---- the end ----

bool node_tree::drain_shards(std::chrono::steady_clock::time_point until) {
  bool settled = true;
  for (const auto& one : shards_)
    settled = one->drain(std::max(std::chrono::duration_cast<duration>(until - std::chrono::steady_clock::now()), duration{1})) && settled;
  return settled;
}

bool node_tree::stop(duration limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  workers_->close();
  // The agents leave first, so that shards elsewhere give their steps to others. Then nothing is handed over here any more.
  auto held = drain_agents(true);
  auto settled = drain_shards(until);
  while (held > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(look_again_after);
    held = drain_agents(true);
  }
  return settled && held == 0;
}

}  // namespace fairlead
