#include "app/api/port.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "app/api/api.hpp"
#include "messages/ids.hpp"

namespace fairlead::app::api {

namespace {

/// The node needs open files for other things, too.
std::size_t most_connections(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::size_t>(wanted, files.rlim_cur / 2);
}

}  // namespace

result<std::unique_ptr<door::listener>> serve(const std::optional<listen_address>& address, surroundings in, observer& log) {
  if (!address) return std::unique_ptr<door::listener>{};
  const auto kept = std::make_shared<const surroundings>(std::move(in));
  door::listener_limits limits;
  limits.connections = most_connections(limits.connections);
  auto out = door::listener::start(
      *address, {}, make_service(kept), [kept] { return make_uuid_v7(to_unix_ms(kept->time->now())); }, kept->version, limits);
  if (out) log.on_note(note_level::info, "api", "served on http://" + to_text(listen_address{address->host, (*out)->port()}) + "/v1");
  return out;
}

}  // namespace fairlead::app::api
