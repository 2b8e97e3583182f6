#include "actors/supervision/supervised.hpp"

namespace fairlead {

namespace {

thread_local std::shared_ptr<actor_gauge> placing;

}  // namespace

std::atomic<std::int64_t>& outside_actors() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

placement::placement(std::shared_ptr<actor_gauge> gauge) : outer_(std::exchange(placing, std::move(gauge))) {}
placement::~placement() { placing = std::move(outer_); }
std::shared_ptr<actor_gauge> placement::current() { return placing; }

}  // namespace fairlead
