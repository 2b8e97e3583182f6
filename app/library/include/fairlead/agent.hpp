#pragma once
// An agent in C++: the only place that touches a service. Its calls are functions and may block. Up to `capacity` calls run at a time, each
// on its own thread; handlers must guard the data that they share.
//
//   fairlead::agent payment{"payment"};
//   payment.call("charge")
//       .perform([&](const acme::ChargeRequest& in, fairlead::context& with) -> fairlead::outcome<acme::ChargeReply> {
//         if (auto paid = bank.charge(with.key(), in.cents())) return reply_of(*paid);
//         return fairlead::permanent_fault("card_declined", "the bank declined the card");
//       })
//       .lookup([&](const acme::ChargeRequest&, fairlead::context& with) -> fairlead::finding<acme::ChargeReply> { … })
//       .undo("refund", [&](const fairlead::json&, fairlead::context& with) -> fairlead::outcome<fairlead::nothing> { … });
//
// A handler takes a Protobuf message or fairlead::json and a context, and returns an outcome; a lookup returns a finding. A step's input
// that does not fit the handler's message type is refused (permanent, code input_type) before the handler is called.
//
// A handler may be called again for the same step, after a fault or a crash, with the same key: all these calls together must have one
// effect. An undo may come for a perform that never arrived, and the perform may arrive after the undo. Then the undo succeeds, and the
// perform's key must have no effect any more. A handler that throws leaves its step in doubt (code handler_threw).

#include <fairlead/handler.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace fairlead {

/// The circuit breaker, over all instances of the agent: keeps steps away from a failing service. The steps wait and use no attempts.
struct breaker_settings {
  std::uint32_t failure_percent = 50;  // a try that takes longer is slow; zero: no try is slow
  duration slow{0};                    // a try that takes longer counts as slow; zero: none does
  std::uint32_t slow_percent = 80;
  duration window = std::chrono::seconds{30};
  std::uint32_t at_least = 20;  // tries within the window before the breaker may open
  duration open_for = std::chrono::seconds{10};
  std::uint32_t canaries = 3;  // probes that must succeed before the breaker closes
};

/// A limit, over all instances of the agent.
struct limit_settings {
  std::string call;               // empty: all calls together
  std::string key;                // path into the step's input, such as `.customer.id`: one limit for each value; empty: one for all
  std::uint32_t concurrency = 0;  // attempts at a time; 0: no limit
  std::uint32_t rate = 0;         // attempts in `per`; 0: no limit
  duration per = std::chrono::seconds{1};
};

/// The agent's own tries within one attempt: after transient faults only, with the same key and input, and only if a try can end in time.
struct retry_settings {
  std::uint32_t tries = 1;  // including the first
  duration first = std::chrono::milliseconds{100};
  double factor = 2;
  duration max = std::chrono::seconds{5};
  duration try_timeout{0};  // zero: the rest of the lease
};

class agent_call;

namespace detail {
struct agent_state;
}

/// Copies are the same agent. Describe the agent completely before a node starts with it.
class agent {
 public:
  explicit agent(std::string name);

  /// Attempts at a time, each on its own thread while it runs: 1 to 4096, default 64.
  agent& capacity(std::uint32_t attempts);
  /// A label that steps can ask for with `labels`.
  agent& label(std::string key, std::string value);
  agent& retry(const retry_settings& how);
  agent& breaker(const breaker_settings& how);
  agent& without_breaker();
  agent& limit(const limit_settings& how);

  agent_call call(std::string name);

  const std::string& name() const;

  const std::shared_ptr<detail::agent_state>& inside() const { return state_; }

 private:
  std::shared_ptr<detail::agent_state> state_;
};

/// One call of an agent: the handlers that perform it, look it up and undo it.
class agent_call {
 public:
  template <class Handler>
  agent_call& perform(Handler handler) {
    static_assert(detail::is_outcome<typename detail::signature_of<Handler>::result>::value, "a perform returns a fairlead::outcome");
    set_perform(detail::erased(std::move(handler)));
    return *this;
  }

  /// Finds out whether the perform under `perform_key()` was carried out. Gets the perform's input. Changes nothing, except as the promise
  /// of `never_happened` requires.
  template <class Handler>
  agent_call& lookup(Handler handler) {
    static_assert(detail::is_finding<typename detail::signature_of<Handler>::result>::value, "a lookup returns a fairlead::finding");
    set_lookup(detail::erased(std::move(handler)));
    return *this;
  }

  /// A separate call, which a step names in its `undo`.
  template <class Handler>
  agent_call& undo(const std::string& name, Handler handler) {
    static_assert(detail::is_outcome<typename detail::signature_of<Handler>::result>::value, "an undo returns a fairlead::outcome");
    set_call(name, detail::erased(std::move(handler)));
    return *this;
  }

  agent_call(std::shared_ptr<detail::agent_state> of, std::string name) : of_(std::move(of)), name_(std::move(name)) {}

 private:
  void set_perform(detail::raw_handler handler) { set_call(name_, std::move(handler)); }
  void set_call(const std::string& name, detail::raw_handler handler);
  void set_lookup(detail::raw_handler handler);

  std::shared_ptr<detail::agent_state> of_;
  std::string name_;
};

}  // namespace fairlead
