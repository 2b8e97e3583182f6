#include "app/api/query.hpp"

#include "actors/core/request_limits.hpp"
#include "app/json/times.hpp"

namespace fairlead::app::api {

namespace {

/// FNV-1a, so that a cursor holds on every node and release.
std::string seal_over(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string out(16, '0');
  for (auto i = out.rbegin(); i != out.rend(); ++i, hash >>= 4) *i = "0123456789abcdef"[hash & 15];
  return out;
}

}  // namespace

void take_age(exchange& from, const std::string& name, std::int64_t& ms) {
  take_text(from, name, [&](const std::string& words) {
    const auto read = read_duration(name, words, 1);
    read ? void(ms = *read) : from.refuse_at(name, read.failure());
  });
}

void take_moment(exchange& from, const std::string& name, std::int64_t& unix_ms) {
  take_text(from, name, [&](const std::string& words) {
    const auto read = read_start(name, words);
    read ? void(unix_ms = *read) : from.refuse_at(name, read.failure());
  });
}

void take_labels(exchange& from, google::protobuf::RepeatedPtrField<v1::Label>& out) {
  for (const auto& label : from.parameters("label")) {
    const auto colon = label.find(':');
    if (colon == std::string::npos || colon == 0)
      return from.refuse_at("label", invalid("The label '" + label + "' has no key.", "Give KEY:VALUE."));
    auto& one = *out.Add();
    one.set_key(label.substr(0, colon));
    one.set_value(label.substr(colon + 1));
  }
}

std::optional<duration> take_wait(exchange& from) {
  const auto text = from.parameter("wait");
  if (!text) return std::nullopt;
  const auto ms = read_duration("wait", *text, 0);
  if (ms && *ms <= longest_wait.count()) return duration{*ms};
  from.refuse_at("wait", ms ? invalid("The parameter wait is longer than 30s.", "Give at most 30s, and ask again.") : ms.failure());
  return std::nullopt;
}

page_asked::page_asked(exchange& from) : path_(from.what().path()) {
  take_number(from, "page_size", 1U, max_page_size, [this](std::uint32_t number) { size = number; });
  std::string given;
  take_text(from, "cursor", [&](const std::string& text) { given = text; });
  for (const auto& [name, value] : from.query()) filters_ += door::encode_percent(name) + "=" + door::encode_percent(value) + "&";
  seal_ = seal_over(path_ + "?" + filters_) + ".";
  if (given.starts_with(seal_))
    cursor = given.substr(seal_.size());
  else if (!given.empty())
    from.refuse_at("cursor", invalid("The cursor is not one of this list.", "Use the path in `next` as it is."));
}

std::uint64_t page_asked::number(exchange& from) const {
  std::uint64_t out = 0;
  if (!cursor.empty() && !read_number(cursor, out))
    from.refuse_at("cursor", invalid("The cursor is none.", "Use the path in `next` as it is."));
  return out;
}

void page_asked::write_next(json_writer& out, const std::string& cursor) const {
  out.key("next");
  if (cursor.empty()) {
    out.null();
    return;
  }
  const auto sized = size == 0 ? std::string{} : "page_size=" + std::to_string(size) + "&";
  out.string(path_ + "?" + filters_ + sized + "cursor=" + door::encode_percent(seal_ + cursor));
}

}  // namespace fairlead::app::api
