#pragma once
// The life of one request, from its first line until its client has the answer. What happens to a request is changed here; connections, the loop and
// deadlines are the listener's, and what all requests share is in requests_in_progress.
//
// Only for the listener's thread. libmicrohttpd begins a life with the request's first line, and ends it at any stage, with the answer or the
// connection. In between these lead from stage to stage, and nothing else does:
//
//   head       the head is coming                         take_head: body, or sending a refusal
//   body       the body is coming, or is thrown away      at its end hand_on: soon or suspended; or sending a refusal
//   soon       the service answers almost at once         look_at_soon: suspended, when it does not; wake: woken
//   suspended  the service has the request                wake: woken
//   woken      there is an answer, or no client           go_on, when the library asks: sending, streaming, or the connection's end
//   sending    the library has the whole answer
//   streaming  the library takes a body that is growing   give_block: paused, where there is nothing more yet
//   paused     the service has more to give               wake: streaming
//
// Suspended and paused, and only then, the library does not look at the connection, and the loop's epoll watches it under the request's number.
// From hand_on to finish the request has a number, by which `waiting` finds it; nothing of the service reaches one without a number. The deadline of a
// stage is that of the connection's phase, which goes with it.

#include <microhttpd.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/door/connection.hpp"
#include "app/door/figures.hpp"
#include "app/door/guards.hpp"
#include "app/door/mailbox.hpp"
#include "app/door/message.hpp"
#include "app/door/problem.hpp"

namespace fairlead::app::door {

struct requests_in_progress;

class request_life {
 public:
  using steady = std::chrono::steady_clock;

  request_life(requests_in_progress& all, MHD_Connection* at, const char* target);
  request_life(const request_life&) = delete;
  request_life& operator=(const request_life&) = delete;
  ~request_life();

  // ---- the library asks ----

  /// With the head, then with each piece of the body (`size` of them is taken), then without any until there is an answer. MHD_NO: the connection is to
  /// be closed.
  MHD_Result go_on(const char* method, const char* version, const char* data, std::size_t* size);

  // ---- while it has a number: only by requests_in_progress, which forgets it when it is finished ----

  /// What the service says. True: it is finished.
  bool take(letter what);
  /// Nothing more is to come for it. `why`: if it has no answer yet.
  void finish(const problem& why = {});
  void lose_client() { gone_ = true; }
  /// A stream ends with what its service wanted to be said last.
  void say_farewell();
  bool is_stream() const { return streams_; }
  /// Since when the service has it; of no stream.
  steady::time_point handed_on_at() const { return on_->since; }

 private:
  enum class stage { head, body, soon, suspended, woken, sending, streaming, paused };

  static phase phase_of(stage of);
  void enter(stage next);
  void leave();
  void suspend(stage next);
  void wake();

  MHD_Result take_head(const char* method, const char* version);
  MHD_Result take_body(std::string_view data);
  MHD_Result hand_on();
  MHD_Result look_at_soon();
  MHD_Result refuse_head(const problem& why);
  MHD_Result refuse(const problem& why);
  MHD_Result send();
  MHD_Result send_half_head();
  bool has_room_for(std::size_t bytes) const;
  void drop_body();
  void count();
  MHD_Response* response();
  static ssize_t give_block(void* self, std::uint64_t, char* to, std::size_t most);
  static ssize_t give_half(void* self, std::uint64_t at, char* to, std::size_t most);

  requests_in_progress& all_;
  MHD_Connection* const at_;
  connection* const on_;
  const steady::time_point begun_ = steady::now();
  stage now_ = stage::head;
  request what_;
  std::optional<answer> reply_;
  std::size_t most_bytes_ = most_body_bytes;  // of its body
  std::size_t discarded_ = 0;
  std::uint64_t number_ = 0;  // 0: it has none
  bool streams_ = false;      // its answer does
  bool ended_ = false;        // nothing follows what is pending
  bool gone_ = false;         // the client is
  std::string pending_;       // of a stream, from `taken_` on
  std::size_t taken_ = 0;
  std::optional<counted> in_progress_, open_;  // open: of a stream
};

}  // namespace fairlead::app::door
