// /v1/audit: what was done over the API of this node, and what was refused.

#include "app/api/api.hpp"
#include "app/api/query.hpp"

namespace fairlead::app::api {

namespace {

/// As an entry has it: keys are never inside of a text, where quotes are escaped.
std::string member(const char* key, const std::string& text) {
  json_writer out;
  return "\"" + std::string{key} + "\":" + out.string(text).text();
}

}  // namespace

void list_audit(exchange_ptr x) {
  const page_asked page{*x};
  std::vector<std::string> wanted;
  for (const auto* const key : {"who", "verb", "path", "code"})
    take_text(*x, key, [&](const std::string& text) { wanted.push_back(member(key, text)); });
  if (x->refuse_rest()) return;
  const auto found = x->in().audit->read(page.cursor, page_size_of(page.size), [&](std::string_view entry) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& one) { return entry.find(one) != std::string_view::npos; });
  });
  if (!found) return x->refuse(found.failure());
  json_writer out;
  out.begin_object().key("items").begin_array();
  for (const auto& one : found->entries) out.raw(one);
  page.write_next(out.end_array(), found->cursor);
  x->say(200, out.end_object().text());
}

}  // namespace fairlead::app::api
