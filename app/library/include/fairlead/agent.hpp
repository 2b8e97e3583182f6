#pragma once
// An agent in C++: the only place that touches a service. Its calls are functions; they may block. Up to `capacity` run at a time, each on a
// thread of its own: what they share they must guard.
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
// A handler takes a Protobuf message or fairlead::json and a context, and returns an outcome; a lookup returns a finding. The types of a
// message are its own: a step's input that does not fit is refused (permanent, code input_type) before the handler is called.
//
// A handler may be called again for the same step, after a fault or after a crash, with the same key: it must have the same effect once. An
// undo may come for a perform that never arrived, and the perform may arrive after it: then the undo succeeds, and the perform's key must
// have no effect any more. A handler that throws leaves its step in doubt (code handler_threw).

#include <fairlead/handler.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace fairlead {

/// Keeps steps away from a service that fails: they wait, and use up no attempts. Over all instances of the agent together.
struct breaker_settings {
  std::uint32_t failure_percent = 50;  // of the tries within the window
  duration slow{0};                    // a try that takes longer counts as slow; zero: none does
  std::uint32_t slow_percent = 80;
  duration window = std::chrono::seconds{30};
  std::uint32_t at_least = 20;  // tries within the window
  duration open_for = std::chrono::seconds{10};
  std::uint32_t canaries = 3;  // that must succeed before it closes
};

/// Over all instances of the agent together.
struct limit_settings {
  std::string call;               // empty: all calls together
  std::string key;                // a path into the step's input, such as `.customer.id`: one limit for each value; empty: one for all
  std::uint32_t concurrency = 0;  // attempts at a time; 0: no limit
  std::uint32_t rate = 0;         // attempts in `per`; 0: no limit
  duration per = std::chrono::seconds{1};
};

/// Of an agent's own tries within one attempt: after transient faults only, with the same key and input, and only while one can end in time.
struct retry_settings {
  std::uint32_t tries = 1;  // the first included
  duration first = std::chrono::milliseconds{100};
  double factor = 2;
  duration max = std::chrono::seconds{5};
  duration try_timeout{0};  // zero: the rest of the lease
};

class agent_call;

namespace detail {
struct agent_state;
}

/// Copies are the same agent. To be described whole before a node starts with it.
class agent {
 public:
  explicit agent(std::string name);

  /// Attempts at a time, each on a thread of its own while it runs: 1 to 4096, 64 unless said.
  agent& capacity(std::uint32_t attempts);
  /// What steps can ask for with `labels`.
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

/// One call of an agent: what performs it, and what finds out about and undoes it.
class agent_call {
 public:
  template <class Handler>
  agent_call& perform(Handler handler) {
    static_assert(detail::is_outcome<typename detail::signature_of<Handler>::result>::value, "a perform returns a fairlead::outcome");
    set_perform(detail::erased(std::move(handler)));
    return *this;
  }

  /// Finds out whether the perform under `perform_key()` was carried out. Given the perform's input; changes nothing but what
  /// `never_happened` promises.
  template <class Handler>
  agent_call& lookup(Handler handler) {
    static_assert(detail::is_finding<typename detail::signature_of<Handler>::result>::value, "a lookup returns a fairlead::finding");
    set_lookup(detail::erased(std::move(handler)));
    return *this;
  }

  /// A call of its own, which a step names in its `undo`.
  template <class Handler>
  agent_call& undo(std::string name, Handler handler) {
    static_assert(detail::is_outcome<typename detail::signature_of<Handler>::result>::value, "an undo returns a fairlead::outcome");
    set_call(std::move(name), detail::erased(std::move(handler)));
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
