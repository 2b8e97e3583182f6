#pragma once
// The workers over HTTP whose agents' names are this shard's: which incarnation of an instance was given out last, and the key that signs
// sessions, tickets and callbacks. Kept as rows of the Scheduler's open batch, and in memory, too. One thread.
//
// A higher incarnation is the engine's proof that the former process is dead: its attempts are given to others. So it is given only when
// nothing says that the former process may live, or when whoever asks vouches for its death.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "actors/core/planted_faults.hpp"
#include "messages/agent.pb.h"
#include "messages/api.pb.h"
#include "messages/error.hpp"
#include "messages/task.pb.h"
#include "messages/tickets.hpp"
#include "messages/time.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead {

class worker_book {
 public:
  static constexpr std::size_t most = 100'000;                         // rows
  static constexpr duration forgotten_after = std::chrono::hours{24};  // rows of instances of which nothing is heard
  static constexpr int looked_at = 4;                                  // rows that may be forgotten, by each session that begins

  /// What the registry knows of an instance.
  struct standing {
    bool registered = false;
    bool present = false;
    bool holds = false;  // attempts
    bool worker = false;
    std::uint64_t incarnation = 0;
  };
  using standings = std::function<standing(const std::string& instance)>;

  /// `fresh_key` signs if the shard's lineage has no key yet; if it is empty nothing is signed, and no session begins.
  worker_book(const clock& time, std::uint32_t shard, v1::Lineage lineage, std::string fresh_key);

  /// Faults that tests switch on; never in production.
  void plant(const core::planted_faults& faults) { planted_ = &faults; }

  status open(const store::snapshot& from);

  /// A session begins, or goes on. The answer may leave once `out` is durable.
  v1::WorkerSessionReply answer(const v1::WorkerSessionRequest& what, const standings& of, store::batch& out);

  /// Why an instance with a session may not register here: the session is not its own, or a later process has taken the instance over. Other
  /// shards' sessions cannot be checked here. nullopt: it may.
  std::optional<error> refuse(const v1::RegisterAgent& what, store::batch& out);

  /// The process of the instance has left for good, and held nothing.
  void left(const std::string& instance, std::uint64_t incarnation, store::batch& out);

  /// Whether anything was ever signed here, in whichever lineage. If not, no attempt was ever handed to a worker.
  bool has_signed() const noexcept { return signed_; }

  /// Whether the shard, in its present lineage, has made this callback.
  bool is_callback(std::string_view text) const { return key_stored_ && is_callback_of(key_, text); }

  /// These may leave once `out` is durable. Empty: there is no key.
  std::string callback_for(const callback_name& of, store::batch& out);
  std::string ticket_for(const attempt_name& of, std::string_view instance, std::uint64_t incarnation, store::batch& out);

 private:
  struct row {
    v1::WorkerRecord record;
    moment heard;  // when this Scheduler heard of it last, or began
  };

  bool sign(store::batch& out);
  moment last_sign(const row& of) const;
  std::optional<error> why_not(const v1::WorkerSessionRequest& what, const standing& now) const;
  std::optional<error> check(const session_name& said, std::string_view text) const;
  v1::WorkerSessionReply begin(const v1::WorkerSessionRequest& what, const standing& now, store::batch& out);
  v1::WorkerSessionReply resume(const v1::WorkerSessionRequest& what, store::batch& out);
  v1::WorkerSessionReply session_of(const std::string& instance, const v1::WorkerRecord& record, store::batch& out);
  void heard(const std::string& instance, store::batch& out);
  void forget_some(const standings& of, store::batch& out);

  const clock& time_;
  std::uint32_t shard_;
  v1::Lineage lineage_;
  std::string key_;
  bool key_stored_ = false;
  bool signed_ = false;
  std::map<std::string, row> rows_;  // by instance
  std::string looked_up_to_;         // forget_some goes on behind this instance
  const core::planted_faults* planted_ = nullptr;
};

}  // namespace fairlead
