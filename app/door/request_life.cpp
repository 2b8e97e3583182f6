#include "app/door/request_life.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "app/door/requests_in_progress.hpp"

namespace fairlead::app::door {

namespace {

/// What a client that sends too much may send on before its connection is closed instead of answered.
constexpr std::size_t most_discarded_bytes = 4 * most_body_bytes;
/// Of a stream. A client that has so much before it when more comes does not take what is sent.
constexpr std::size_t most_pending_bytes = 1 << 20;
constexpr std::size_t stream_block_bytes = 4 * 1024;

problem too_many() { return {"overloaded", "This node has too many requests at once.", "Try again later.", {}, {}, true}; }

}  // namespace

request_life::request_life(requests_in_progress& all, MHD_Connection* at, const char* target)
    : all_(all), at_(at), on_(connection::of(at)) {
  what_.head.target = target;
  enter(stage::head);
}

request_life::~request_life() {
  drop_body();
  leave();
  if (number_ != 0) all_.forget(number_);
  if (reply_ && reply_->if_unsent && now_ != stage::sending) reply_->if_unsent();
  on_->enter(phase::idle);
}

// ---- stages ----

phase request_life::phase_of(stage of) {
  switch (of) {
    case stage::head: return phase::head;
    case stage::body: return phase::body;
    case stage::soon:
    case stage::suspended:
    case stage::paused: return phase::waiting;
    default: return phase::answering;
  }
}

void request_life::enter(stage next) {
  leave();
  now_ = next;
  if (next == stage::soon) ++all_.soon;
  if (next == stage::sending) ++all_.sending;
  on_->enter(phase_of(next));
}

void request_life::leave() {
  if (now_ == stage::soon) --all_.soon;
  if (now_ == stage::sending) --all_.sending;
}

/// Until there is something to send, or the client has gone.
void request_life::suspend(stage next) {
  enter(next);
  MHD_suspend_connection(at_);
  (void)watch(all_.epoll, on_->fd, number_, EPOLLRDHUP | EPOLLHUP | EPOLLERR);
}

void request_life::wake() {
  if (now_ != stage::soon && now_ != stage::suspended && now_ != stage::paused) return;
  const bool is_suspended = now_ != stage::soon;
  if (is_suspended) (void)::epoll_ctl(all_.epoll, EPOLL_CTL_DEL, on_->fd, nullptr);
  enter(now_ == stage::paused ? stage::streaming : stage::woken);
  if (is_suspended) MHD_resume_connection(at_);
}

MHD_Result request_life::go_on(const char* method, const char* version, const char* data, std::size_t* size) {
  if (gone_) return MHD_NO;
  if (now_ == stage::soon) return look_at_soon();
  all_.has_more = true;
  switch (now_) {
    case stage::head: return take_head(method, version);
    case stage::body:
      if (*size != 0) return take_body({data, std::exchange(*size, 0)});
      return reply_ ? send() : hand_on();
    case stage::woken: return send();
    default: return MHD_YES;  // the library does not ask then
  }
}

// ---- until the service has it ----

MHD_Result request_life::take_head(const char* method, const char* version) {
  const auto& guards = all_.guards;
  if (guards.counts) in_progress_.emplace(guards.counts->requests);
  on_->look_at_certificate(at_);
  what_.from = on_->from;
  what_.head.method = method;
  what_.head.version = version;
  what_.head.fields = headers_of(at_);
  const auto given = find_header(what_.head, "X-Request-Id");
  what_.id = given && is_request_id(*given) ? std::string{*given} : all_.make_id();
  if (const auto bad = guards.refuse(what_.head)) return refuse_head(*bad);
  const auto most = guards.most_bytes(what_.head, what_.from);
  if (const auto* const bad = std::get_if<problem>(&most)) return refuse_head(*bad);
  most_bytes_ = std::get<std::size_t>(most);
  if (!has_room_for(announced_bytes(what_.head).value_or(0)) || all_.mail->requests() >= all_.limits.requests) return refuse(too_many());
  enter(stage::body);
  return MHD_YES;
}

/// Whoever is not known leaves most of the room to others.
bool request_life::has_room_for(std::size_t bytes) const {
  constexpr std::size_t part = 4;
  return all_.has_room_for(most_bytes_ == most_body_bytes ? bytes : bytes + all_.limits.body_bytes / part * (part - 1));
}

MHD_Result request_life::take_body(std::string_view data) {
  const bool is_large = what_.body.size() + data.size() > most_bytes_;
  if (!reply_ && !is_large && has_room_for(data.size())) {
    what_.body += data;
    all_.body_bytes += data.size();
    return MHD_YES;
  }
  // It is of a length that was not said before. The library answers only behind its end.
  if (!reply_) {
    reply_ = to_answer(is_large ? too_large(most_bytes_) : too_many(), what_.id);
    drop_body();
  }
  discarded_ += data.size();
  return discarded_ <= most_discarded_bytes ? MHD_YES : MHD_NO;
}

void request_life::drop_body() {
  all_.body_bytes -= what_.body.size();
  what_.body = {};
}

MHD_Result request_life::hand_on() {
  if (all_.stopping) return refuse(all_.ending());
  number_ = all_.await(*this);
  auto to = std::make_shared<answerer>(all_.mail, number_, what_.id, what_.body.size());
  all_.body_bytes -= what_.body.size();
  const bool is_soon = all_.serve(std::exchange(what_, request{{what_.head.method, {}, {}, {}}, {}, what_.id}), std::move(to));
  is_soon ? enter(stage::soon) : suspend(stage::suspended);
  return MHD_YES;
}

/// Its answer has not come yet.
MHD_Result request_life::look_at_soon() {
  if (steady::now() >= on_->since + soon_within) suspend(stage::suspended);
  return MHD_YES;
}

// ---- what comes back ----

bool request_life::take(letter what) {
  if (what.head) {
    reply_ = std::move(what.head);
    streams_ = !what.last;
  }
  if (!what.more.empty() && pending_.size() - taken_ > most_pending_bytes) {
    gone_ = true;
    finish();
    return true;
  }
  pending_ += what.more;
  what.last ? finish() : wake();
  return what.last;
}

void request_life::say_farewell() {
  if (streams_) pending_ += reply_->farewell;
}

void request_life::finish(const problem& why) {
  if (!reply_ && !gone_) reply_ = to_answer(why, what_.id);
  ended_ = true;
  all_.mail->forget(std::exchange(number_, 0));
  // A stream whose client takes what is pending goes on by itself.
  wake();
  if (streams_ && gone_) on_->send_away();
}

MHD_Result request_life::refuse_head(const problem& why) {
  if (all_.guards.on_refused_write && !is_safe(what_.head.method)) all_.guards.on_refused_write(what_, why);
  return refuse(why);
}

/// With an answer before the body the library reads none, and closes.
MHD_Result request_life::refuse(const problem& why) {
  reply_ = to_answer(why, what_.id);
  return send();
}

MHD_Result request_life::send() {
  enter(streams_ ? stage::streaming : stage::sending);
  count();
  if (reply_->cut_in_head) return send_half_head();
  auto* const made = response();
  if (made == nullptr) return MHD_NO;
  auto& what = *reply_;
  what.body = {};  // the library has it
  const auto add = [&](const char* name, const std::string& value) { MHD_add_response_header(made, name, value.c_str()); };
  if (what.status != MHD_HTTP_NO_CONTENT && what.status != MHD_HTTP_NOT_MODIFIED) add(MHD_HTTP_HEADER_CONTENT_TYPE, what.content_type);
  add(MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  add("X-Content-Type-Options", "nosniff");
  add("X-Request-Id", what_.id);
  add("Fairlead-Version", all_.version);
  for (const auto& [name, value] : what.more) add(name.c_str(), value);
  if (what.close || all_.stopping) add(MHD_HTTP_HEADER_CONNECTION, "close");
  const auto queued = MHD_queue_response(at_, what.status, made);
  MHD_destroy_response(made);
  return queued;
}

/// Past the library, which sends heads whole, and closes the connection.
MHD_Result request_life::send_half_head() {
  constexpr std::string_view half = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Le";
  (void)::send(on_->fd, half.data(), half.size(), MSG_NOSIGNAL);
  return MHD_NO;
}

void request_life::count() {
  const auto& counts = all_.guards.counts;
  if (!counts) return;
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begun_).count();
  counts->on_answer(what_.head.method, reply_->status, static_cast<std::uint64_t>(took));
  if (streams_) open_.emplace(counts->streams);
}

MHD_Response* request_life::response() {
  if (streams_) return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, stream_block_bytes, &give_block, this, nullptr);
  if (reply_->cut) return MHD_create_response_from_callback(reply_->body.size(), stream_block_bytes, &give_half, this, nullptr);
  return MHD_create_response_from_buffer(reply_->body.size(), reply_->body.data(), MHD_RESPMEM_MUST_COPY);
}

/// Of an answer that is cut.
ssize_t request_life::give_half(void* self, std::uint64_t at, char* to, std::size_t most) {
  const auto& body = static_cast<const request_life*>(self)->reply_->body;
  if (at >= body.size() / 2) return MHD_CONTENT_READER_END_WITH_ERROR;
  const auto size = std::min(most, body.size() / 2 - static_cast<std::size_t>(at));
  std::memcpy(to, body.data() + at, size);
  return static_cast<ssize_t>(size);
}

/// The next bytes of a stream.
ssize_t request_life::give_block(void* self, std::uint64_t, char* to, std::size_t most) {
  auto& one = *static_cast<request_life*>(self);
  one.all_.has_more = true;
  if (one.gone_) return MHD_CONTENT_READER_END_WITH_ERROR;
  if (one.pending_.empty()) {
    if (one.ended_) return MHD_CONTENT_READER_END_OF_STREAM;
    one.suspend(stage::paused);
    return 0;
  }
  const auto size = std::min(most, one.pending_.size() - one.taken_);
  std::memcpy(to, one.pending_.data() + one.taken_, size);
  one.taken_ += size;
  // Not moved for each block: a long history has thousands.
  if (one.taken_ * 2 >= one.pending_.size()) {
    one.pending_.erase(0, one.taken_);
    one.taken_ = 0;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace fairlead::app::door
