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
    // From any thread, with or without the request.
    const auto tell = [all = x->in().workers, id = x->part(0), owner = owner_of(*x)](std::function<void(agents::worker_session&)> what) {
      all->call(id, owner, [what = std::move(what)](agents::worker_session* carried) {
        if (carried != nullptr) what(*carried);
      });
    };
    const auto number = worker.take(asked, [x, tell](result<agents::worker_session::take_answer> what) {
      if (!what) return refuse_of_worker(x, what.failure());
      // An answer that is sent and does not arrive comes again with the next take, which does not name it.
      x->say_or(take_json(*what), [tell, answer = what->attempts.empty() ? 0 : what->number] {
        if (answer != 0) tell([answer](agents::worker_session& carried) { carried.unsent(answer); });
      });
    });
    x->on_gone([tell, number] { tell([number](agents::worker_session& carried) { carried.client_gone(number); }); });
  });
}

}  // namespace fairlead::app::api
