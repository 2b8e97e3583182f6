#include "app/node/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include "actors/delivery/webhooks.hpp"
#include "actors/expressions/pool.hpp"
#include "actors/node/node_tree.hpp"
#include "actors/replication/damage_watch.hpp"
#include "actors/replication/replica.hpp"
#include "app/access/named_files.hpp"
#include "app/config/secrets.hpp"
#include "app/node/identity.hpp"
#include "app/node/notes.hpp"
#include "app/node/ports.hpp"
#include "app/node/rebuild.hpp"
#include "app/node/reload.hpp"
#include "app/node/replicas.hpp"
#include "app/node/setup.hpp"
#include "app/process/both.hpp"
#include "app/process/listen_probe.hpp"
#include "app/process/logging.hpp"
#include "messages/ids.hpp"
#include "messages/lineage.hpp"
#include "messages/time.hpp"
#include "store/disk/disk_stores.hpp"
#include "store/journal/recovery.hpp"

namespace fairlead::app {

/// In the order of construction; destroyed in the opposite order.
struct node_runtime::state {
  node_config config;
  node_parts parts;
  std::shared_ptr<const agents::secrets> secrets;  // of the agents; null: none
  std::mutex reloads;                              // guards `config` and `secrets` once the tree runs, the start of the tree, and:
  const std::shared_ptr<std::atomic<bool>> ending = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<transition_log> log;
  std::optional<both> told;  // the log and the listener, if there is one
  std::unique_ptr<node_identity> identity;
  std::shared_ptr<node_notes> notes;
  std::once_flag end_limited;
  std::string waits_for;  // why the start has to wait, as it was told last
  // As of the start, for any thread. What is read again later is in `config`.
  std::shared_ptr<const node_config> started;
  std::unique_ptr<store::disk_stores> stores;  // of the shards here; null: none
  // Of these shards, in their order: one of the two each.
  std::mutex of_several;                             // guards these, once the tree runs
  std::vector<std::unique_ptr<replica>> replicas;    // if the shard lives on this node alone
  std::vector<std::unique_ptr<replica_seat>> seats;  // if others hold it, too, or may
  std::optional<expression_pool> expressions;
  // Separate from other posts, so that hanging receivers of these delay no alert. Before the actor system, because its actors post.
  std::optional<webhooks> alert_webhooks;
  system_clock clock;
  caf_config caf_settings;
  std::optional<caf::actor_system> system;
  std::shared_ptr<audit_log> audit;  // null: the node has no API. Behind the system: its last answers go to actors
  std::unique_ptr<node_tree> tree;
  std::unique_ptr<node_ports> ports;
  std::optional<std::jthread> written_notes;
  damage_watch damage{watch_of_damage()};
  std::optional<std::jthread> watches_damage;
  std::uint16_t port = 0;

  [[noreturn]] void die(error why) {
    // A damaged disk may hang, too.
    limit_end(exit_code_of(why.code));
    if (why.code == v1::ERROR_CODE_CORRUPT && others_hold_all(notes->others(), started->shards_here) &&
        notes->note_damage(why, store_folders_of(*started)).ok()) {
      why.code = v1::ERROR_CODE_UNAVAILABLE;
      why.remedy = "Start the node again: it gets its shards from the other nodes that hold them.";
    }
    log->on_note(note_level::error, "node", in_one_line(why));
    if (parts.on_fatal) parts.on_fatal(why);
    std::_Exit(exit_code_of(why.code));
  }

  /// From now on the process ends in time, whatever hangs.
  void limit_end(exit_code code) {
    std::call_once(end_limited, [&] {
      if (parts.on_ending) parts.on_ending(code);
    });
  }

  damage_watch::world watch_of_damage() {
    return {[this] { return to_unix_ms(clock.now()); },
            [this] { return turn_of(*started, *notes); },
            [this] { return others_hold_all(notes->others(), started->shards_here); },
            [this](const auto& answer) { answer(can_begin_anew(*started, *notes)); },
            [this](bool on) {
              const std::lock_guard lock{of_several};
              for (const auto& seat : seats)
                if (seat) (void)seat->decline(on, why_not_lead::damaged);
            },
            [this](const std::string& sentence) { log->on_note(note_level::error, "store", sentence); },
            [this](const error& why) { die(why); },
            [this] {
              watches_damage.emplace([this](const std::stop_token& stop) {
                for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds{100})) damage.look();
              });
            }};
  }

  /// Everything has been stopped: only the process is left to end.
  void given_up(const error& why) {
    if (!parts.on_given_up) die(why);
    log->on_note(note_level::error, "node", in_one_line(why));
    parts.on_given_up(why);
  }

  status open_identity() {
    const auto& folder = data_folder_of(config);
    auto opened = node_identity::open(folder, clock.now());
    if (!opened) return opened.failure();
    identity = std::move(*opened);
    notes = std::make_shared<node_notes>(folder);
    started = std::make_shared<const node_config>(config);
    return nothing{};
  }

  /// Opens the stores of the shards here. If they are damaged, and other nodes have the shards, new ones take their places.
  status open_sound_stores(v1::Hello& who) {
    if (config.shards_here.empty()) return nothing{};
    const auto begun = notes->rebuilding();
    if (!begun) return begun.failure();
    const auto noted = notes->damage(store_folders_of(config));
    if (!noted) return noted.failure();
    if (!*noted)
      if (auto forgotten = notes->forget_damage(store_folders_of(config)); !forgotten.ok()) return forgotten;
    const auto opened = *begun ? open_anew(who, **begun) : *noted ? status(**noted) : open_stores(who, nullptr);
    if (opened.ok() || opened.failure().code != v1::ERROR_CODE_CORRUPT) return opened;
    const auto damage = opened.failure();
    replicas.clear();
    seats.clear();
    stores.reset();
    who.clear_shards();
    if (!others_may_hold_all(config, *notes)) return damage;
    log->on_note(note_level::warning, "replica",
                 "the stores are damaged; the node asks the other nodes for their shards: " + damage.sentence);
    if (parts.waits) parts.waits("the stores are damaged; the node asks the other nodes for their shards");
    const auto waits = [this](const error& why) { return goes_on_waiting(why); };
    const auto agreed = agree_to_rebuild(config, *notes, damage, {.goes_on = waits, .at_once = begun->has_value()});
    if (parts.waits_no_more) parts.waits_no_more();
    return agreed ? open_anew(who, *agreed) : agreed.failure();
  }

  bool goes_on_waiting(const error& why) {
    if (!parts.waits) return false;
    const auto words = "the node waits, and asks again: " + in_one_line(why);
    if (std::exchange(waits_for, why.sentence) != why.sentence) log->on_note(note_level::warning, "replica", words);
    parts.waits(words);
    return true;
  }

  /// New stores take the places of damaged ones.
  status open_anew(v1::Hello& who, const v1::RebuildNote& how) {
    if (auto aside = set_stores_aside(config, *notes, how); !aside.ok()) return aside;
    if (auto opened = open_stores(who, &how); !opened.ok()) return opened;
    log->on_note(
        note_level::warning, "replica",
        "the stores of this node were damaged and are set aside; it gets its shards from the other nodes: " + how.why().sentence());
    return end_rebuilding(config, *notes);
  }

  /// Checks that each store belongs to its shard. `rebuilt`: what new ones become; null: as the node file says.
  status open_stores(v1::Hello& who, const v1::RebuildNote* rebuilt) {
    auto how = stores_of(config);
    how.check_journal = [this](const store::journal_end& found) { return notes->check_written(found); };
    auto opened = store::disk_stores::open(std::move(how));
    if (!opened) return opened.failure();
    stores = std::move(*opened);
    // All are looked at before one is changed.
    for (std::size_t i = 0; i < stores->size(); ++i)
      if (auto fits = check_replica(stores->at(i), config, config.shards_here[i]); !fits.ok()) return fits;
    if (auto noted = note_written(); !noted.ok()) return noted;
    std::vector<std::uint32_t> held_with_others;
    peers_asked peers{config};
    for (std::size_t i = 0; i < stores->size(); ++i) {
      auto& store = stores->at(i);
      const auto number = config.shards_here[i];
      if (rebuilt != nullptr)
        if (auto made = be_as_agreed(store, config, number, *rebuilt); !made.ok()) return made;
      // Earlier releases counted the node's processes in the store, and a restore raises that count.
      const auto boot = store.boot();
      if (!boot) return boot.failure();
      if (const auto kept = identity->at_least(*boot); !kept.ok()) return kept.failure();
      if (is_of_several(store, config)) {
        const auto is_first = be_replica(store, config, number);
        if (!is_first) return is_first.failure();
        if (*is_first)
          log->on_note(note_level::info, "replica",
                       "shard " + std::to_string(number) + " goes on from here; other nodes get it from this one");
        seats.push_back(std::make_unique<replica_seat>(store, seat_of(config, number), clock, now_boot_ms));
        replicas.push_back(nullptr);
        const auto later = notes->later(number);
        if (!later) return later.failure();
        if (*later) seats.back()->heard_of(**later);
        who.add_shards()->set_shard(number);
        held_with_others.push_back(number);
        continue;
      }
      auto claim = claim_alone(store, config, number, *notes, peers, to_unix_ms(clock.now()));
      if (!claim) return claim.failure();
      *who.add_shards() = std::move(*claim);
      replicas.push_back(std::make_unique<replica>(store, replica_settings{}, now_boot_ms));
      seats.push_back(nullptr);
    }
    if (auto kept = notes->keep_others(held_with_others); !kept.ok()) return kept;
    for (const auto& damage : stores->healed())
      log->on_note(note_level::warning, "journal", store::place_of(damage) + " is damaged; everything in it was in the store already");
    if (!stores->direct())
      log->on_note(note_level::info, "journal", "the file system has no direct writes: the journal is written through the page cache");
    const auto note = [this](bool warning, const std::string& sentence) {
      log->on_note(warning ? note_level::warning : note_level::info, "journal", sentence);
    };
    stores->on_damage([this](const error& why) { damage.damaged(why); });
    stores->begin_applying([this](const error& why) { die(why); }, note, [](const error& why) { std::_Exit(exit_code_of(why.code)); });
    return nothing{};
  }

  /// How far the journal is written, while other nodes hold a shard of it.
  std::optional<store::journal_end> written_with_others() {
    const std::lock_guard lock{of_several};
    for (std::size_t i = 0; i < stores->size(); ++i)
      if (is_of_several(stores->at(i), *started)) return stores->end_of_journal();
    return std::nullopt;
  }

  status note_written() {
    const auto end = written_with_others();
    return end ? notes->note_written(*end) : status(nothing{});
  }

  std::vector<node_tree::shard_part> shard_parts(const v1::Hello& who) {
    std::vector<node_tree::shard_part> out;
    for (std::size_t i = 0; stores && i < stores->size(); ++i) {
      const auto& claim = who.shards(static_cast<int>(i));
      auto* const seat = seats[i].get();
      out.push_back({&stores->at(i), replicas[i].get(), seat, stores->archives(i), claim.store_id(), claim.lineage(),
                     [this, i](v1::StoreStatus& status) { stores->describe(i, status); }, options_of(config, claim.shard())});
    }
    return out;
  }

  result<replica_seat*> open_to_others(std::uint32_t number) {
    const std::scoped_lock lock{reloads, of_several};
    const auto& here = config.shards_here;
    const auto place = static_cast<std::size_t>(std::find(here.begin(), here.end(), number) - here.begin());
    auto& store = stores->at(place);
    const auto term = replicas[place]->view().term;
    replicas[place].reset();
    if (auto begun = be_first_of_several(store, config, term); !begun.ok()) return begun.failure();
    seats[place] = std::make_unique<replica_seat>(store, seat_of(config, number), clock, now_boot_ms);
    return seats[place].get();
  }

  /// Starts the node. The error names what is missing; `code` is set if the error's own exit code does not apply.
  status begin(exit_code& code) {
    // Whoever asks for a reading of the node file waits until the node has started.
    const std::lock_guard starting{reloads};
    auto opened_log = transition_log::open(config.log);
    if (!opened_log) return opened_log.failure();
    log = std::move(*opened_log);

    auto made_secrets = make_secrets(config, [this](const std::string& sentence) { warn_of_secrets(sentence); });
    if (!made_secrets) return made_secrets.failure();
    secrets = std::move(*made_secrets);
    if (auto sound = sound_access_files(config); !sound.ok()) return sound;
    if (const auto listens = probe_listen(config.listen); !listens.ok()) {
      code = exit_in_use;
      return listens.failure();
    }
    auto who = hello_of(config);
    if (auto opened = open_identity(); !opened.ok()) return opened;
    if (auto opened = open_sound_stores(who); !opened.ok()) return opened;
    if (stores)
      written_notes.emplace([this](const std::stop_token& stop) {
        keep_noting_written(
            *notes, [this] { return written_with_others(); }, *log, stop);
      });
    const auto incarnation = identity->next_incarnation();
    if (!incarnation) return incarnation.failure();
    who.set_node_id(identity->node_id());
    who.set_incarnation(*incarnation);
    who.set_run_id(make_uuid_v7(to_unix_ms(clock.now())));

    if (auto opened = open_audit(config, clock, *log, audit); !opened.ok()) return opened;
    auto agents = all_agents(config, parts.agents, secrets, parts.program);
    if (!agents) return agents.failure();

    expressions.emplace(pool_options_of(config, parts.program));
    for (const auto& target : config.alert_targets)
      if (!target.url.empty() && !alert_webhooks) alert_webhooks.emplace();

    caf_settings.pass_through(config.caf);
    system.emplace(caf_settings);

    node_tree::world world;
    world.system = &*system;
    world.time = &clock;
    world.log = log.get();
    if (parts.listener != nullptr) world.log = &told.emplace(*log, *parts.listener);
    world.expressions = &*expressions;
    world.alert_webhooks = alert_webhooks ? &*alert_webhooks : nullptr;
    world.on_fatal = [this](const error& why) { die(why); };
    world.on_damage = [this](const error& why) { damage.damaged(why); };
    world.on_difference = [this](const error& why) { damage.differs(why); };
    // What it has confirmed and lacks may be what the others need: it has no vote any more.
    world.on_older_copy = [this](const error& why) {
      others_hold_all(notes->others(), started->shards_here) ? die(why) : damage.damaged(why);
    };
    world.on_outlived = [this](std::uint32_t shard, const v1::Lineage& latest) {
      if (const auto noted = notes->note_later(shard, latest); !noted.ok())
        log->on_note(note_level::error, "replica", in_one_line(noted.failure()));
    };
    world.on_held_elsewhere = [this](const v1::ShardClaim& claim) {
      if (const auto noted = notes->note_later(claim.shard(), claim.lineage()); !noted.ok()) die(noted.failure());
      die(held_by_several(*started, claim.shard()));
    };
    world.on_given_up = [this](const error& why) { given_up(why); };
    world.next_incarnation = [this] { return identity->next_incarnation(); };
    world.on_others = [this](const v1::ReplicaHello& me) { note_others(me); };
    world.open_to_others = [this](std::uint32_t number) { return open_to_others(number); };
    world.log_level = [this](const std::string& level) { return log->set_level(level); };
    if (audit) world.audit = audit_port_of(audit, clock);
    node_tree_options options;
    options.who = who;
    options.peers = config.peers;
    options.agents = std::move(*agents);
    options.callback_url = callback_base(config);
    if (!config.file.empty()) world.reload = [this] { return reload(); };
    auto started = node_tree::start(std::move(world), std::move(options), shard_parts(who));
    if (!started) return started.failure();
    tree = std::move(*started);

    const auto published = system->middleman().publish(tree->gateway(), config.listen.port, config.listen.host.c_str(), true);
    if (!published) {
      code = exit_in_use;
      return error{v1::ERROR_CODE_UNAVAILABLE,
                   "cannot listen on " + config.listen.host + ":" + std::to_string(config.listen.port) + " any more",
                   "start the node again"};
    }
    port = *published;
    auto served = node_ports::serve({config, *system, *tree, clock, *log, audit, ending, [this] { return describe_replicas(); }});
    if (!served) {
      if (served.failure().code == v1::ERROR_CODE_UNAVAILABLE) code = exit_in_use;
      return served.failure();
    }
    ports = std::move(*served);
    if (const auto warning = trust_warning(config); !warning.empty()) log->on_note(note_level::warning, "node", warning);
    log->on_note(note_level::info, "node", config.name + " is ready on " + config.listen.host + ":" + std::to_string(port));
    return nothing{};
  }

  /// On a thread of its own, for the disk may be slow.
  void note_others(const v1::ReplicaHello& me) {
    system->spawn<caf::detached>([kept = notes, to = log.get(), me](caf::event_based_actor*) {
      if (const auto noted = kept->note_others(me); !noted.ok()) to->on_note(note_level::warning, "replica", in_one_line(noted.failure()));
    });
  }

  void warn_of_secrets(const std::string& sentence) const { log->on_note(note_level::warning, "secrets", sentence); }

  result<v1::NodeReload> reload() {
    const std::lock_guard lock{reloads};
    if (*ending || !tree) return error{v1::ERROR_CODE_UNAVAILABLE, "this node is starting or ending", "ask again when it is ready"};
    if (config.file.empty()) return error{v1::ERROR_CODE_WRONG_STATE, "this node was started without a node file", ""};
    if (const auto opened = log->reopen(); !opened.ok()) log->on_note(note_level::error, "node", in_one_line(opened.failure()));
    auto plan = plan_reload(config, parts, secrets, [this](const std::string& sentence) { warn_of_secrets(sentence); });
    if (!plan) {
      log->on_note(note_level::error, "node", "the node file was read again and is refused: " + in_one_line(plan.failure()));
      return plan.failure();
    }
    auto out = to_proto(config.file, plan->changes);
    config = std::move(plan->config);
    secrets = std::move(plan->secrets);
    if (plan->changes.log_level) log->set_level(config.log.level);
    if (plan->changes.certificates && ports) ports->take_certificates(config.access.certificates);
    const auto failed = tree->change_agents(std::move(plan->agents));
    log->on_note(note_level::info, "node", to_text(out));
    if (failed.empty()) return out;
    // The next reading finds them new.
    for (const auto& [name, why] : failed) config.written.erase("agents." + name);
    const auto why = could_not_start(failed);
    log->on_note(note_level::error, "node", in_one_line(why));
    return why;
  }

  std::map<std::uint32_t, v1::ShardStatus> describe_replicas() {
    std::map<std::uint32_t, v1::ShardStatus> out;
    const std::lock_guard lock{of_several};
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (!seats[i]) continue;
      auto& here = out[seats[i]->settings().shard];
      stores->describe(i, *here.mutable_store());
      *here.mutable_replication() = seats[i]->describe();
    }
    return out;
  }

  /// What is committed is durable in any case; the next start is faster, and a copy of the closed store is whole.
  void close_stores() {
    if (!stores) return;
    watches_damage.reset();
    written_notes.reset();
    replicas.clear();
    seats.clear();
    if (const auto closed = stores->close(); !closed.ok())
      log->on_note(note_level::warning, "journal", "the journal was not closed: " + in_one_line(closed.failure()));
    else if (const auto noted = note_written(); !noted.ok())
      log->on_note(note_level::warning, "journal", in_one_line(noted.failure()));
    stores.reset();
  }

  bool end(exit_code code) {
    bool settled = true;
    if (system) limit_end(code);
    {
      // A reading in progress ends first; none begins any more.
      const std::lock_guard lock{reloads};
      *ending = true;
    }
    if (ports) ports->stop_api();
    if (tree) {
      if (port != 0) system->middleman().unpublish(tree->gateway(), port);
      settled = tree->stop(duration{config.shutdown_timeout_ms / 4 * 3});
      if (!settled) log->on_note(note_level::warning, "node", "some work was not finished in time; nothing acknowledged is lost");
      // Not earlier, so that clients of the monitoring port see the node end; before the tree, which the port asks.
      if (ports) ports->stop_http();
      tree.reset();
    }
    if (expressions) expressions->shut_down();
    if (alert_webhooks) alert_webhooks->shut_down();
    if (system) system->await_all_actors_done();
    close_stores();
    if (port != 0) log->on_note(note_level::info, "node", "ended");
    port = 0;
    return settled;
  }
};

node_runtime::node_runtime(std::unique_ptr<state> s) : state_(std::move(s)) {}

node_runtime::~node_runtime() { stop(); }

std::unique_ptr<node_runtime> node_runtime::start(const node_config& config, node_parts parts, start_failure& failure) {
  auto s = std::make_unique<state>();
  s->config = config;
  s->parts = std::move(parts);
  exit_code code = exit_ok;
  const auto begun = s->begin(code);
  if (begun.ok()) return std::unique_ptr<node_runtime>{new node_runtime{std::move(s)}};
  failure.why = begun.failure();
  failure.code = code == exit_ok ? exit_code_of(failure.why.code) : code;
  s->end(failure.code);
  return nullptr;
}

std::uint16_t node_runtime::port() const { return state_->port; }

status node_runtime::add_agent(const given_agent& agent, const std::string& instance) {
  auto added = made(agent, agent.name, agent.capacity, agent.settings);
  if (!added) return added.failure();
  return state_->tree->add_agent(*added, instance);
}

result<v1::NodeReload> node_runtime::reload() { return state_->reload(); }
observer& node_runtime::log() { return *state_->log; }
std::uint16_t node_runtime::http_port() const { return state_->ports ? state_->ports->http_port() : 0; }
std::uint16_t node_runtime::api_port() const { return state_->ports ? state_->ports->api_port() : 0; }
bool node_runtime::healthy() { return state_->ports && state_->ports->healthy(); }
supervision_tree& node_runtime::tree() { return state_->tree->tree(); }
bool node_runtime::stop() { return state_->end(exit_ok); }

}  // namespace fairlead::app
