// An order desk: the application that submits. It may be killed at any point, and so may the node: no order is without its task, and none
// has two.
//
//   example_order_desk FILE.db [HOST:PORT[,HOST:PORT...]] [WORKFLOW]
//
// It reads orders from its input, one line each, `ID AMOUNT_CENTS`, and answers `placed ID` once the order is in its own database for good.
// A relay hands what is placed to Fairlead, and a third thread takes back how the tasks go. When the input ends it goes on until every order
// has ended.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "actors/client/client.hpp"
#include "docs/examples/order_desk/orders.hpp"

namespace {

using namespace std::chrono_literals;
using namespace fairlead;

constexpr int orders_at_once = 100;
constexpr const char* our_name = "order-desk";  // under which Fairlead keeps the statuses for us

struct desk {
  std::string file;
  std::vector<std::string> nodes;
  std::string workflow = "order";
  std::atomic<bool> done{false};

  client connect() const {
    client_options options;
    options.nodes = nodes;
    for (;;) {
      options.connect_timeout = 10s;
      auto connected = client::connect(options);
      if (connected.ok()) return std::move(connected).value();
      std::cerr << connected.failure().sentence << '\n';
      if (connected.failure().code == v1::ERROR_CODE_INVALID_ARGUMENT) std::_Exit(2);
    }
  }
};

/// Refused for now, not for good.
bool passing(v1::ErrorCode code) {
  return code == v1::ERROR_CODE_OVERLOADED || code == v1::ERROR_CODE_UNAVAILABLE || code == v1::ERROR_CODE_STORE_FULL ||
         code == v1::ERROR_CODE_TIMED_OUT;
}

/// Submits what stands in the outbox. The order's id is the task's: however often it is submitted, it is one task.
void relay(desk& of) {
  order_desk::orders db{of.file};
  auto fairlead = of.connect();
  while (!of.done) {
    const auto placed = db.to_submit(orders_at_once);
    if (placed.empty()) {
      std::this_thread::sleep_for(50ms);
      continue;
    }
    v1::SubmitRequest request;
    for (const auto& order : placed) {
      auto& task = *request.add_items();
      task.set_id(order.id);
      task.set_workflow(of.workflow);
      task.set_input(R"({"items": [{"sku": "NW-11", "quantity": 1}], "address": {"city": "Reims"}, "amount_cents": )" +
                     std::to_string(order.amount_cents) + "}");
      task.mutable_reply()->set_client(our_name);
    }
    const auto reply = fairlead.submit(request);
    if (!reply.ok()) {
      std::cerr << reply.failure().sentence << '\n';
      continue;
    }
    std::vector<std::string> taken;
    for (const auto& one : reply->results()) {
      if (one.error().code() == v1::ERROR_CODE_OK)
        taken.push_back(one.id());
      else if (!passing(one.error().code()))
        db.refused(one.id(), one.error().sentence());
    }
    // Only now, when the tasks are durable, may the outbox forget them.
    db.submitted(taken);
    if (taken.empty()) std::this_thread::sleep_for(200ms);
  }
}

std::string word(v1::StatusKind kind) {
  switch (kind) {
    case v1::STATUS_KIND_RECEIVED: return "received";
    case v1::STATUS_KIND_COMPLETED: return "completed";
    case v1::STATUS_KIND_UNDOING: return "undoing";
    case v1::STATUS_KIND_UNDONE: return "undone";
    case v1::STATUS_KIND_PARKED: return "parked";
    case v1::STATUS_KIND_UNPARKED: return "going on";
    case v1::STATUS_KIND_FAILED: return "failed";
    default: return "unknown";
  }
}

/// Writes what Fairlead says of the tasks to the orders. Acknowledged is what stands in our database, never what was only received.
void take_statuses(desk& of) {
  order_desk::orders db{of.file};
  auto fairlead = of.connect();
  v1::RepliesRequest request;
  request.set_client(our_name);
  request.set_wait_ms(1'000);
  while (!of.done) {
    const auto page = fairlead.replies(request);
    if (!page.ok()) {
      std::cerr << page.failure().sentence << '\n';
      std::this_thread::sleep_for(200ms);
      continue;
    }
    if (page->events().empty()) continue;
    std::vector<order_desk::status_change> changes;
    for (const auto& event : page->events()) changes.push_back({event.task_id(), event.sequence(), word(event.kind()), event.reason()});
    db.take(changes);
    request.set_acknowledged(page->events().rbegin()->position());
  }
}

/// Runs `work` on a thread. When it fails the whole program ends: what was placed is placed, and the next start goes on from there.
std::thread start(void (*work)(desk&), desk& of) {
  return std::thread{[work, &of] {
    try {
      work(of);
    } catch (const std::exception& failure) {
      std::cerr << failure.what() << std::endl;
      std::_Exit(1);
    }
  }};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::cerr << "usage: example_order_desk FILE.db [HOST:PORT[,HOST:PORT...]] [WORKFLOW]\n";
    return 2;
  }
  desk of;
  of.file = argv[1];
  std::istringstream list{argc > 2 ? argv[2] : "127.0.0.1:7100"};
  for (std::string node; std::getline(list, node, ',');) of.nodes.push_back(node);
  if (argc > 3) of.workflow = argv[3];

  order_desk::orders db{of.file};
  auto relaying = start(relay, of);
  auto listening = start(take_statuses, of);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    order_desk::order order;
    if (!(words >> order.id >> order.amount_cents)) {
      std::cout << "not understood: " << line << std::endl;
      continue;
    }
    db.place(order);
    std::cout << "placed " << order.id << std::endl;
  }
  while (db.open_orders() > 0) std::this_thread::sleep_for(50ms);
  of.done = true;
  relaying.join();
  listening.join();
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << std::endl;
  std::_Exit(1);
}
