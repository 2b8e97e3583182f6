// What workers say about their attempts and about themselves: heartbeats, outcomes, drain and end.

#include <memory>
#include <utility>

#include "app/api/api.hpp"
#include "app/api/query.hpp"
#include "app/api/work/attempts.hpp"
#include "app/api/work/worker_calls.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

void take_heartbeats(exchange_ptr x) {
  const auto came = x->in().time->steady();
  const auto asked = std::make_shared<asked_beats>();
  if (x->refuse_rest() || !read_items(*x, fields_of(*asked), asked->too_large)) return;
  call_worker(x, [x, came, asked](agents::worker_session& worker) {
    worker.heartbeats(asked->items, came, [x, asked](result<std::vector<agents::worker_session::beat_answer>> what) {
      if (!what) return refuse_of_worker(x, what.failure());
      for (std::size_t i = 0; i < what->size() && i < asked->items.size(); ++i) {
        if (!(*what)[i].never_was_held) continue;
        note_not_held(*x, "heartbeats", asked->items[i].ticket, {});
        break;
      }
      x->say(200, beats_json(*asked, *what));
    });
  });
}

void take_outcomes(exchange_ptr x) {
  const auto asked = std::make_shared<asked_reports>();
  if (x->refuse_rest() || !read_items(*x, fields_of(*asked), asked->too_large)) return;
  call_worker(x, [x, asked](agents::worker_session& worker) {
    worker.outcomes(asked->items, [x, asked](result<std::vector<agents::worker_session::report_answer>> what) {
      if (!what) return refuse_of_worker(x, what.failure());
      for (std::size_t i = 0; i < what->size() && i < asked->items.size(); ++i) {
        if (!(*what)[i].never_was_held) continue;
        note_not_held(*x, "outcomes", asked->items[i].ticket, (*what)[i].why);
        break;
      }
      x->say(200, reports_json(*asked, *what));
    });
  });
}

void drain_worker(exchange_ptr x) {
  if (x->refuse_rest() || !x->read_body({})) return;
  call_worker(x, [x](agents::worker_session& worker) {
    if (const auto drains = worker.drain(); !drains) return refuse_of_worker(x, drains.failure());
    json_writer out;
    out.begin_object().key("draining").boolean(true).key("held").number(std::uint64_t{worker.held()});
    x->say(202, out.end_object().text());
  });
}

void end_worker(exchange_ptr x) {
  auto abandoned = false;
  take_flag(*x, "abandon", [&abandoned](bool wanted) { abandoned = wanted; });
  if (x->refuse_rest() || !x->read_body({})) return;
  // Whoever abandons attempts leaves them in doubt.
  if (abandoned && !x->note_in_audit()) return;
  if (abandoned) x->note_action("abandon", {});
  call_worker(x, [x, abandoned](agents::worker_session& worker) {
    const auto left = worker.leave(abandoned);
    left ? x->say(204, {}) : refuse_of_worker(x, left.failure());
  });
}

}  // namespace fairlead::app::api
