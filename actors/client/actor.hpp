#pragma once
// The client actor: keeps one gateway, sends calls to it, and repeats them at the next gateway after a loss.

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/client/call.hpp"
#include "actors/protocol/connector.hpp"

namespace fairlead {

/// State shared by the actor and the callers' threads.
struct client_shared {
  std::mutex mutex;
  std::function<void(const v1::FinishedNotice&)> on_finished;  // called under no lock
  std::uint64_t connections = 0;
};

class client_state {
 public:
  client_state() = default;
  ~client_state();
  client_state(const client_state&) = delete;
  client_state& operator=(const client_state&) = delete;

  void start(client_shell::pointer self, std::vector<node_address> addresses, http_access access, std::shared_ptr<client_shared> shared);
  void take(client_call_ptr call);
  void tick();
  void tell_finished(const v1::FinishedNotice& notice);

 private:
  void try_connect();
  /// `found`: a node, else the `reason` why not.
  void on_outcome(std::size_t index, client_link found, const std::string& reason);
  const std::shared_ptr<http_link>& http_link_to(std::size_t index);
  void on_down(const caf::down_msg& down);
  void on_try_ended(std::uint64_t id, try_end end);
  void send(std::uint64_t id, client_call& call);
  void send_waiting();
  void lose_gateway(const char* reason);
  /// Counts a failure of the current address; a pause follows once all addresses have failed.
  void count_failure();
  bool others_in_flight() const;
  void end(std::uint64_t id, error why);
  void arm();
  error unreachable() const;

  client_shell::pointer self_ = nullptr;
  std::vector<node_address> addresses_;
  http_access access_;
  std::vector<std::shared_ptr<http_link>> http_links_;  // of each address; null: not needed yet
  std::vector<std::string> reasons_;                    // why each address failed the last time; empty: not tried
  std::optional<error> refusal_;                        // of a node that does not know whoever asks, since the last connection
  std::shared_ptr<client_shared> shared_;
  connector_actor connector_;
  client_link link_;
  std::size_t current_ = 0;  // the address of the gateway, or the one to try next
  std::size_t failed_in_row_ = 0;
  bool connecting_ = false;
  bool armed_ = false;
  steady_time connect_not_before_{};
  steady_time connected_at_{};                      // when the gateway was found
  steady_time heard_at_{};                          // when the gateway last answered anything
  std::map<std::uint64_t, client_call_ptr> calls_;  // calls without an answer
  std::uint64_t next_call_ = 1;
};

client_shell::behavior_type make_client_shell(client_shell::stateful_pointer<client_state> self, std::vector<node_address> addresses,
                                              http_access access, std::shared_ptr<client_shared> shared);

}  // namespace fairlead
