#include "app/metrics/metrics_source.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/metrics/metrics_text.hpp"

namespace fairlead::app {

namespace {

constexpr duration kept = std::chrono::seconds{1};
/// For all requests together; a slower Scheduler counts as failed.
constexpr duration limit = std::chrono::seconds{2};
/// The status of the whole node needs other nodes, one of which may be frozen. That says nothing about this node, so an older answer is
/// used.
constexpr duration status_kept = std::chrono::seconds{10};

http_answer verdict_answer(const std::string& node, const node_verdict& verdict, const char* good, const char* bad) {
  const nlohmann::json body{{"status", verdict.good() ? good : bad}, {"node", node}, {"reasons", verdict.reasons}};
  return {verdict.good() ? 200U : 503U, "application/json", body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

}  // namespace

metrics_source::metrics_source(metrics_setup setup) : setup_(std::move(setup)) {}

std::shared_ptr<const node_figures> metrics_source::look() {
  const std::lock_guard asking{asking_};
  std::shared_ptr<const node_figures> before;
  {
    const std::lock_guard lock{guard_};
    if (stopping_ || (last_ && setup_.time->steady() - *looked_at_ < kept)) return last_;
    before = last_;
  }
  auto fresh = refresh(before.get());
  const std::lock_guard lock{guard_};
  if (stopping_) return last_;
  last_ = std::move(fresh);
  looked_at_ = setup_.time->steady();
  return last_;
}

std::shared_ptr<node_figures> metrics_source::refresh(const node_figures* before) {
  auto out = std::make_shared<node_figures>();
  out->node = setup_.node;
  out->version = setup_.version;
  if (setup_.replicas) out->replicas = setup_.replicas();
  if (setup_.set_aside) out->set_aside = setup_.set_aside();
  if (setup_.api) out->api = setup_.api();
  auto asked = setup_.shards_here;
  // A shard is told of by the node that leads it.
  asked.erase(std::remove_if(asked.begin(), asked.end(), [&](std::uint32_t one) { return !leads(*out, one); }), asked.end());
  out->told = setup_.ask(asked, limit);
  keep_late_status(*out, before);
  out->now = setup_.time->now();
  out->process = look_at_this_process();
  for (const auto& [number, part] : out->told.shards) {
    if (!part.reply) continue;
    const auto status = shard_status_of(*part.reply, number);
    if (!status.has_store() || status.store().max_bytes() == 0) continue;
    auto& growth = growth_[number];
    growth.saw(setup_.time->steady(), status.store().used_bytes() + status.store().reserved_bytes());
    if (const auto seconds = growth.seconds_until(status.store().max_bytes() / 100 * full_at_percent))
      out->full_in_seconds[number] = *seconds;
  }
  return out;
}

void metrics_source::keep_late_status(node_figures& all, const node_figures* before) {
  const auto now = setup_.time->steady();
  if (all.told.status.reply) {
    status_at_ = now;
  } else if (before != nullptr && before->told.status.reply && status_at_ && now - *status_at_ < status_kept) {
    all.told.status.reply = before->told.status.reply;
  }
}

bool metrics_source::healthy() { return app::healthy(*look()).good(); }

http_handlers metrics_source::handlers() {
  http_handlers out;
  out["/metrics"] = [this] { return http_answer{200, metrics_content_type, metrics_text(*look())}; };
  out["/healthz"] = [this] { return verdict_answer(setup_.node, app::healthy(*look()), "healthy", "not healthy"); };
  out["/readyz"] = [this] { return verdict_answer(setup_.node, ready(*look()), "ready", "not ready"); };
  return out;
}

void metrics_source::stop() {
  const std::lock_guard lock{guard_};
  if (std::exchange(stopping_, true)) return;
  // The last figures stay for a scrape during the end.
  auto now = last_ ? std::make_shared<node_figures>(*last_) : std::make_shared<node_figures>();
  now->node = setup_.node;
  now->version = setup_.version;
  now->stopping = true;
  last_ = std::move(now);
}

}  // namespace fairlead::app
