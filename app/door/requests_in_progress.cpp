#include "app/door/requests_in_progress.hpp"

#include <sys/epoll.h>

#include <utility>

namespace fairlead::app::door {

bool watch(int epoll, int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/// The first that is known of a request.
void* requests_in_progress::on_target(void* self, const char* target, MHD_Connection* at) {
  return new request_life{*static_cast<requests_in_progress*>(self), at, target};
}

MHD_Result requests_in_progress::on_request(void*, MHD_Connection*, const char*, const char* method, const char* version, const char* data,
                                            std::size_t* size, void** context) {
  return static_cast<request_life*>(*context)->go_on(method, version, data, size);
}

void requests_in_progress::on_completed(void* self, MHD_Connection*, void** context, MHD_RequestTerminationCode) {
  const std::unique_ptr<request_life> one{static_cast<request_life*>(std::exchange(*context, nullptr))};
  if (one) static_cast<requests_in_progress*>(self)->has_more = true;
}

void requests_in_progress::deliver() {
  for (auto& what : mail->take()) {
    const auto one = waiting.find(what.number);
    if (one == waiting.end()) {
      // Its client has gone since it was put there.
      if (what.head && what.head->if_unsent) what.head->if_unsent();
    } else if (one->second->take(std::move(what))) {
      waiting.erase(one);
    }
  }
}

void requests_in_progress::lose_client(std::uint64_t number) {
  const auto one = waiting.find(number);
  if (one == waiting.end()) return;
  one->second->lose_client();
  finish(one);
}

void requests_in_progress::finish(places::iterator which, const problem& why) {
  which->second->finish(why);
  waiting.erase(which);
}

void requests_in_progress::finish_all() {
  while (!waiting.empty()) {
    waiting.begin()->second->say_farewell();
    finish(waiting.begin(), ending());
  }
}

std::uint64_t requests_in_progress::await(request_life& one) {
  waiting.emplace(++last_number_, &one);
  mail->await(last_number_);
  return last_number_;
}

void requests_in_progress::forget(std::uint64_t number) {
  mail->forget(number);
  waiting.erase(number);
}

}  // namespace fairlead::app::door
