// A shop with its own node: two agents in C++, a workflow in C++, and one order.
//
//   embedded STORE-FOLDER [--serve]
//
// Without --serve it places one order, waits for its end and stops. With it, it goes on until SIGTERM or SIGINT; then
// `fairlead status --node ADDRESS` shows it.

#include <fairlead/fairlead.hpp>

#include <iostream>
#include <map>
#include <mutex>
#include <string>

#include <shop.pb.h>

namespace {

using namespace std::chrono_literals;

/// What a bank does: it charges once for a key, whatever it is asked again.
class bank {
 public:
  std::string charge(std::string_view key, std::int64_t cents) {
    const std::lock_guard lock{guard_};
    const auto [at, is_new] = receipts_.emplace(key, "r-" + std::to_string(receipts_.size() + 1));
    if (is_new) taken_ += cents;
    return at->second;
  }

  const std::string* find(std::string_view key) {
    const std::lock_guard lock{guard_};
    const auto found = receipts_.find(std::string{key});
    return found == receipts_.end() ? nullptr : &found->second;
  }

  void refund(std::string_view key) {
    const std::lock_guard lock{guard_};
    receipts_[std::string{key}] = "refunded";
  }

 private:
  std::mutex guard_;
  std::map<std::string, std::string> receipts_;
  std::int64_t taken_ = 0;
};

fairlead::agent payment_agent(bank& with) {
  fairlead::agent payment{"payment"};
  payment.capacity(8);
  payment.call("charge")
      .perform([&with](const shop::v1::ChargeRequest& in, fairlead::context& now) -> fairlead::outcome<shop::v1::ChargeReply> {
        if (in.amount_cents() <= 0) return fairlead::permanent_fault("bad_amount", "there is nothing to charge");
        shop::v1::ChargeReply out;
        out.set_receipt(with.charge(now.key(), in.amount_cents()));
        return out;
      })
      .lookup([&with](const shop::v1::ChargeRequest&, fairlead::context& now) -> fairlead::finding<shop::v1::ChargeReply> {
        const auto* receipt = with.find(now.perform_key());
        if (receipt == nullptr) return fairlead::not_known;
        shop::v1::ChargeReply out;
        out.set_receipt(*receipt);
        return out;
      })
      .undo("refund", [&with](const fairlead::json&, fairlead::context& now) -> fairlead::outcome<fairlead::nothing> {
        with.refund(now.perform_key());
        return fairlead::nothing{};
      });
  return payment;
}

fairlead::agent inventory_agent() {
  fairlead::agent inventory{"inventory"};
  inventory.call("reserve")
      .perform([](const shop::v1::ReserveRequest& in, fairlead::context&) -> fairlead::outcome<shop::v1::ReserveReply> {
        if (in.items().empty()) return fairlead::permanent_fault("nothing_ordered", "the order has no items");
        shop::v1::ReserveReply out;
        out.set_shelf("A7");
        return out;
      })
      .undo("release",
            [](const fairlead::json&, fairlead::context&) -> fairlead::outcome<fairlead::nothing> { return fairlead::nothing{}; });
  // A call without Protobuf types: JSON text in, JSON text out.
  inventory.call("note").perform([](const fairlead::json& in, fairlead::context&) -> fairlead::outcome<fairlead::json> {
    return fairlead::json{R"({"noted": )" + in.text + "}"};
  });
  return inventory;
}

fairlead::workflow order_workflow() {
  fairlead::workflow order{"order"};
  order.timeout(2min).on_failure(fairlead::on_failure::undo);
  order.step("reserve")
      .agent("inventory")
      .call("reserve")
      .with(R"({"order": "${ .task.id }", "items": "${ .input.items }"})")
      .types<shop::v1::ReserveRequest, shop::v1::ReserveReply>()
      .timeout(5s)
      .attempts(4)
      .backoff(200ms, 2, 10s)
      .undo("release", R"({"order": "${ .task.id }"})");
  order.step("charge")
      .needs("reserve")
      .agent("payment")
      .call("charge")
      .with(R"({"order": "${ .task.id }", "amount_cents": "${ .input.amount_cents }"})")
      .types<shop::v1::ChargeRequest, shop::v1::ChargeReply>()
      .timeout(5s)
      .undo("refund", R"({"order": "${ .task.id }"})");
  order.step("note")
      .needs("charge")
      .agent("inventory")
      .call("note")
      .with(R"({"shelf": "${ .steps.reserve.shelf }", "receipt": "${ .steps.charge.receipt | ascii_upcase }"})")
      .undo_none();
  return order;
}

int complain(const fairlead::error& why) {
  std::cerr << why.sentence << '\n' << why.remedy << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: embedded STORE-FOLDER [--serve]\n";
    return 2;
  }
  bank with;
  fairlead::node_options options;
  options.name = "shop";
  options.listen = "127.0.0.1:0";
  options.store = argv[1];
  auto node = fairlead::node::start(options, {payment_agent(with), inventory_agent()});
  if (!node) return complain(node.failure());
  std::cout << "listening on " << node->address() << std::endl;

  const auto deployed = node->deploy(order_workflow());
  if (!deployed) return complain(deployed.failure());
  for (const auto& warning : deployed->warnings()) std::cout << "warning: " << warning << '\n';

  auto client = node->client();
  if (!client) return complain(client.failure());
  fairlead::v1::SubmitRequest request;
  auto& order = *request.add_items();
  order.set_workflow("order");
  order.set_input(R"({"items": [{"sku": "NW-11", "quantity": 12}], "amount_cents": 16800})");
  const auto taken = client->submit(request);
  if (!taken) return complain(taken.failure());
  if (taken->results(0).error().code() != fairlead::v1::ERROR_CODE_OK)
    return complain(fairlead::error::from_proto(taken->results(0).error()));

  const auto end = client->wait(taken->results(0).id(), 1min);
  if (!end) return complain(end.failure());
  std::cout << end->id() << ' ' << fairlead::v1::TaskState_Name(end->state()) << std::endl;
  if (end->state() != fairlead::v1::TASK_STATE_COMPLETED) return 1;

  if (argc > 2) {
    const auto ended = node->run();
    if (!ended) return complain(ended.failure());
    std::cout << "ended" << std::endl;
  }
  return 0;
}
