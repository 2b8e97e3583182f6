#pragma once
// The paths of the API. A handler runs in an actor of its own, and may wait for as long as it likes.

#include <functional>
#include <string_view>
#include <vector>

#include "app/api/exchange.hpp"

namespace fairlead::app::api {

struct route {
  std::string_view method;
  std::string_view path;
  void (*handle)(exchange_ptr);
};

/// All of them.
const std::vector<route>& routes();

door::service make_service(std::shared_ptr<const surroundings> in);

// ---- handlers ----

void show_version(exchange_ptr x);
void show_problem(exchange_ptr x);

void list_tasks(exchange_ptr x);
void show_task(exchange_ptr x);
void put_task(exchange_ptr x);
void post_task(exchange_ptr x);

}  // namespace fairlead::app::api
