#include "app/node/native_handlers.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "actors/agents/native.hpp"

namespace fairlead::app {

namespace {

agents::attempt_result echo(const agents::native_context&, std::string_view input) { return {std::string{input}, std::nullopt, 1}; }

agents::attempt_result pause(const agents::native_context& context, std::string_view input) {
  const auto parsed = nlohmann::json::parse(input, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("ms") || !parsed["ms"].is_number_unsigned()) {
    v1::Fault fault;
    fault.set_kind(v1::FAULT_KIND_PERMANENT);
    fault.set_code("bad_input");
    fault.set_message("the input of pause has no field ms with a number of milliseconds");
    return {"", std::move(fault), 1};
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds{parsed["ms"].get<std::uint64_t>()};
  while (!context.stopped() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(
        std::min<std::chrono::steady_clock::duration>(until - std::chrono::steady_clock::now(), std::chrono::milliseconds{20}));
  return {std::string{input}, std::nullopt, 1};
}

}  // namespace

std::vector<std::string> native_handler_names() { return {"echo", "pause"}; }

result<std::shared_ptr<agents::backend>> make_native_handler(const std::string& handler, std::uint32_t concurrency) {
  agents::native_agent_config config;
  config.capacity = concurrency;
  if (handler == "echo") {
    config.calls["echo"] = echo;
  } else if (handler == "pause") {
    config.calls["pause"] = pause;
    config.mode = agents::native_mode::pooled;
  } else {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "there is no native handler " + handler, "use echo or pause"};
  }
  auto made = agents::make_native_backend(std::move(config));
  if (!made) return made.failure();
  return std::shared_ptr<agents::backend>{std::move(*made)};
}

}  // namespace fairlead::app
