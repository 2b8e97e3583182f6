// Submits an order, follows its steps and waits for its end. A node with a workflow named `order` has to run:
//
//   example_submit_order [HOST:PORT[,HOST:PORT...]] [WORKFLOW] [TASK-ID]
//
// Run it twice with the same task id: the second submission is the same task, and nothing is done twice.

#include <fairlead/client.hpp>

#include <chrono>
#include <iostream>
#include <sstream>
#include <string>

namespace {

int complain(const fairlead::error& why) {
  std::cerr << why.sentence << '\n' << why.remedy << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  fairlead::client_options options;
  if (argc > 1) {
    options.nodes.clear();
    std::istringstream list{argv[1]};
    for (std::string node; std::getline(list, node, ',');) options.nodes.push_back(node);
  }
  auto connected = fairlead::client::connect(options);
  if (!connected) return complain(connected.failure());
  fairlead::client& client = *connected;

  fairlead::v1::SubmitRequest request;
  auto& order = *request.add_items();
  order.set_workflow(argc > 2 ? argv[2] : "order");
  if (argc > 3) order.set_id(argv[3]);  // without one the client gives a UUIDv7
  order.set_input(
      R"({"items": [{"sku": "NW-11", "quantity": 12}], "amount_cents": 16800, "address": {"city": "Reims", "country": "France"}})");
  auto& label = *order.add_labels();
  label.set_key("from");
  label.set_value("example");

  // Once this returns the order is durable, whatever happens to the node.
  auto reply = client.submit(request);
  if (!reply) return complain(reply.failure());
  const auto& taken = reply->results(0);
  if (taken.error().code() != fairlead::v1::ERROR_CODE_OK) return complain(fairlead::error::from_proto(taken.error()));
  std::cout << taken.id() << (taken.created() ? " submitted" : " was submitted before") << '\n';

  // The client goes on after the last event it has seen when the node is lost and comes back.
  auto watched = client.watch(taken.id(), 0, [](const fairlead::v1::WatchReply& news) {
    for (const auto& event : news.events()) {
      std::cout << fairlead::format_utc(event.at_unix_ms()) << ' ' << fairlead::v1::EventKind_Name(event.kind());
      const int step = static_cast<int>(event.step());
      if (step > 0 && step <= news.step_paths_size()) std::cout << ' ' << news.step_paths(step - 1);
      std::cout << '\n';
    }
    return true;
  });
  if (!watched) return complain(watched.failure());

  auto end = client.wait(taken.id(), std::chrono::minutes{1});
  if (!end) return complain(end.failure());
  std::cout << fairlead::v1::TaskState_Name(end->state()) << (end->parked() ? ", parked: " + end->reason() : std::string{}) << '\n';
  return end->state() == fairlead::v1::TASK_STATE_COMPLETED && !end->parked() ? 0 : 1;
}
