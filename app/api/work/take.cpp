// POST /v1/workers/{worker}/take: the attempts that are there, or the next ones.

#include "actors/workers/workers.hpp"
#include "app/api/api.hpp"
#include "app/api/work/attempts.hpp"
#include "app/api/work/worker_calls.hpp"

namespace fairlead::app::api {

void take_attempts(exchange_ptr x) {
  agents::worker_session::take_request asked;
  asked.came = x->in().time->steady();
  if (x->refuse_rest() || !x->read_body(fields_of(asked))) return;
  asked.is_waiting = [x] { return !x->is_over(); };
  call_worker(x, [x, asked](agents::worker_session& worker) {
    const auto number = worker.take(asked, [x](result<agents::worker_session::take_answer> what) {
      // An answer that does not arrive comes again with the next take, which does not name it.
      what ? x->say(200, take_json(*what)) : refuse_of_worker(x, what.failure());
    });
    x->on_gone([all = x->in().workers, id = x->part(0), owner = owner_of(*x), number] {
      all->call(id, owner, [number](agents::worker_session* carried) {
        if (carried != nullptr) carried->client_gone(number);
      });
    });
  });
}

}  // namespace fairlead::app::api
