#pragma once
// Answers that come from other threads, where a promise is not safe.

#include <functional>
#include <utility>

#include "actors/supervision/supervised.hpp"

namespace fairlead {

/// Gives the answer of `promise` from any thread: it goes straight to the asker's mailbox.
template <class Self, class Reply>
std::function<void(Reply)> from_any_thread(Self* self, caf::typed_response_promise<Reply>& promise) {
  caf::response_promise& plain = promise;
  return [asker = plain.next(), id = plain.id(), me = caf::actor_cast<caf::strong_actor_ptr>(self)](Reply answer) {
    if (asker && !id.is_async()) asker->enqueue(me, id.response_id(), caf::make_message(std::move(answer)), nullptr);
  };
}

}  // namespace fairlead
