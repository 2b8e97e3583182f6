#pragma once
// What the paths of one worker have in common. The worker is carried by an actor of the node, on whose thread the request is answered.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "actors/agents/worker/session.hpp"
#include "app/api/exchange.hpp"
#include "app/json/fields.hpp"

namespace fairlead::app::api {

/// Whose worker it is: the kind and the name of whoever asks.
std::string owner_of(const exchange& x);

/// Refuses the request and gives false, if this node takes no workers.
bool takes_workers(exchange& x);

/// `then` is called on the thread of the worker's host. A worker that is not here, or is another's, is answered with 410.
void call_worker(const exchange_ptr& x, std::function<void(agents::worker_session&)> then);

/// With 410. The audit has it if the worker is another's.
void refuse_as_gone(const exchange_ptr& x);
/// An error of the worker's session: one that has ended meanwhile is gone.
void refuse_of_worker(const exchange_ptr& x, const error& why);

/// Reads the body. False: it was refused; with 413 if it `is_too_large` then.
bool read_items(exchange& x, const std::vector<json_field>& fields, const bool& is_too_large);

/// Some items name no attempt that the worker holds, or has held: the audit has the first of them, unless there are too many such requests.
void note_not_held(const exchange& x, const std::string& verb, const std::string& ticket, const std::string& why);

}  // namespace fairlead::app::api
