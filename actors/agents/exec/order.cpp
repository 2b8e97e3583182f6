#include "actors/agents/exec/order.hpp"

#include <cstring>

namespace fairlead::agents {

namespace {

class writer {
 public:
  void number(std::uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const auto& value : values) text(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// After the first read beyond the end every further read returns nothing.
class reader {
 public:
  explicit reader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (!has(sizeof value)) return 0;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number();
    if (!has(size)) return {};
    std::string value{left_.substr(0, size)};
    left_.remove_prefix(size);
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    for (auto count = number(); count > 0 && !broken_; --count) values.push_back(text());
    return values;
  }
  bool whole() const { return !broken_ && left_.empty(); }
  bool broken() const { return broken_; }

 private:
  bool has(std::uint64_t size) {
    broken_ = broken_ || size > left_.size();
    return !broken_;
  }
  std::string_view left_;
  bool broken_ = false;
};

}  // namespace

std::string encode(const exec_order& order) {
  writer out;
  out.texts(order.command);
  out.texts(order.environment);
  out.text(order.directory);
  out.number(order.identity.given ? 1 : 0);
  out.number(order.identity.user);
  out.number(order.identity.group);
  out.number(order.identity.groups.size());
  for (const auto group : order.identity.groups) out.number(group);
  out.number(order.limits.memory_bytes);
  out.number(order.limits.cpu_seconds);
  out.number(order.limits.files);
  out.number(order.limits.processes);
  out.number(order.limits.file_bytes);
  out.number(static_cast<std::uint64_t>(order.terminate_at_ns));
  out.number(static_cast<std::uint64_t>(order.kill_at_ns));
  return out.take();
}

std::optional<exec_order> decode_order(std::string_view bytes) {
  reader in{bytes};
  exec_order out;
  out.command = in.texts();
  out.environment = in.texts();
  out.directory = in.text();
  out.identity.given = in.number() != 0;
  out.identity.user = static_cast<std::uint32_t>(in.number());
  out.identity.group = static_cast<std::uint32_t>(in.number());
  for (auto count = in.number(); count > 0 && !in.broken(); --count) out.identity.groups.push_back(static_cast<std::uint32_t>(in.number()));
  out.limits.memory_bytes = in.number();
  out.limits.cpu_seconds = in.number();
  out.limits.files = in.number();
  out.limits.processes = in.number();
  out.limits.file_bytes = in.number();
  out.terminate_at_ns = static_cast<std::int64_t>(in.number());
  out.kill_at_ns = static_cast<std::int64_t>(in.number());
  if (!in.whole() || out.command.empty()) return std::nullopt;
  return out;
}

}  // namespace fairlead::agents
