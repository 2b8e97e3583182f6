#include "app/json/fields.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "actors/core/text/json.hpp"
#include "app/json/times.hpp"

namespace fairlead::app {

namespace {

/// The end of the JSON value that begins at `at`. `text` must be valid JSON.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  const char* end = text.data() + text.size();
  while (at < text.size()) {
    switch (text[at]) {
      case '"': at = static_cast<std::size_t>(core::skip_json_string(text.data() + at, end) - text.data()); continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 0) return at;
        --depth;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default: break;
    }
    ++at;
  }
  return at;
}

status for_each_json_item(std::string_view array, const std::function<status(std::size_t i, std::string_view value)>& visit) {
  std::size_t at = 1;
  for (std::size_t i = 0; at < array.size(); ++i) {
    const auto end = value_end(array, at);
    const auto value = core::trim_json(array.substr(at, end - at));
    if (value.empty()) return nothing{};
    if (auto visited = visit(i, value); !visited) return visited;
    at = end + 1;
  }
  return nothing{};
}

std::string names_of_fields(const std::vector<json_field>& fields) {
  std::string out;
  for (const auto& one : fields) out += (out.empty() ? "" : ", ") + one.name + (one.required ? " (required)" : "");
  return out.empty() ? "It has no fields." : "It has the fields " + out + ".";
}

}  // namespace

std::string found_kind(std::string_view value) { return std::string{"found "} + core::json_kind(value); }

std::string pointer_part(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

status for_each_json_member(std::string_view object, const std::function<status(const std::string& name, std::string_view value)>& visit) {
  std::size_t at = object.find('{') + 1;
  for (;;) {
    at = object.find_first_of("\"}", at);
    if (at == std::string_view::npos || object[at] == '}') return nothing{};
    auto name_end = static_cast<std::size_t>(core::skip_json_string(object.data() + at, object.data() + object.size()) - object.data());
    auto name = core::decode_json_string(object.substr(at, name_end - at));
    auto begin = object.find(':', name_end) + 1;
    auto end = value_end(object, begin);
    if (auto visited = visit(name, core::trim_json(object.substr(begin, end - begin))); !visited) return visited;
    if (end >= object.size() || object[end] == '}') return nothing{};
    at = end + 1;
  }
}

status read_json_object(std::string_view text, const std::string& what, const std::vector<json_field>& fields, std::string& pointer,
                        const std::string& of) {
  const auto base = std::exchange(pointer, {});
  const auto refused = [&](const std::string& sentence, const std::string& at, const std::string& remedy) {
    pointer = base + at;
    return invalid(sentence, remedy);
  };
  if (auto checked = core::check_json(text); !checked)
    return refused(what + " is not JSON: " + checked.failure().sentence, "", "Correct the JSON there.");
  const auto object = core::trim_json(text);
  if (object.front() != '{') return refused(what + " must be a JSON object, " + found_kind(object), "", names_of_fields(fields));
  std::set<std::string> seen;
  auto read = for_each_json_member(object, [&](const std::string& name, std::string_view value) -> status {
    const auto at = "/" + pointer_part(name);
    const auto called = "Field '" + name + "'" + of;
    if (!seen.insert(name).second) return refused(called + " is given twice", at, "Give it once.");
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.name == name; });
    if (field == fields.end()) return refused("Unknown field '" + name + "'" + of, at, names_of_fields(fields));
    pointer = base + at;
    auto taken = field->take(called, value, pointer);
    if (taken || !taken.failure().remedy.empty()) return taken;
    return invalid(taken.failure().sentence, "Correct this field.");
  });
  if (!read) return read;
  for (const auto& one : fields)
    if (one.required && seen.count(one.name) == 0)
      return refused(what + " has no field '" + one.name + "'", "/" + one.name, names_of_fields(fields));
  pointer = base;
  return nothing{};
}

json_taker text_into(std::string& out) {
  return [&out](const std::string& field, std::string_view value, std::string&) -> status {
    if (value.front() != '"') return invalid(field + " must be a string, " + found_kind(value), give_text);
    out = core::decode_json_string(value);
    return nothing{};
  };
}

json_taker text_into(std::optional<std::string>& out) {
  return [&out](const std::string& field, std::string_view value, std::string& pointer) {
    return text_into(out.emplace())(field, value, pointer);
  };
}

json_taker flag_into(bool& out) {
  return [&out](const std::string& field, std::string_view value, std::string&) -> status {
    if (value != "true" && value != "false")
      return invalid(field + " must be true or false, " + found_kind(value), "Give true or false, without quotes.");
    out = value == "true";
    return nothing{};
  };
}

json_taker json_into(std::string& out) {
  return [&out](const std::string&, std::string_view value, std::string&) -> status {
    out = std::string{value};
    return nothing{};
  };
}

json_taker each_into(std::size_t most, std::function<status(std::size_t i, std::string_view value, std::string& pointer)> take,
                     std::size_t least) {
  return [most, least, take = std::move(take)](const std::string& field, std::string_view value, std::string& pointer) -> status {
    if (value.front() != '[') return invalid(field + " must be an array, " + found_kind(value), "Give an array: [ITEM, …].");
    const auto base = pointer;
    std::size_t count = 0;
    auto read = for_each_json_item(value, [&](std::size_t i, std::string_view one) -> status {
      pointer = ++count > most ? base : base + "/" + std::to_string(i);
      if (count > most) return invalid(field + " has more than " + std::to_string(most) + " items", "Send several requests.");
      return take(i, one, pointer);
    });
    if (!read) return read;
    pointer = base;
    if (count < least) return invalid(field + " is empty", "Give at least one item.");
    return nothing{};
  };
}

json_taker texts_into(std::vector<std::string>& out, std::size_t most, std::size_t least) {
  const auto take = [&out](std::size_t, std::string_view value, std::string&) -> status {
    if (value.front() != '"') return invalid("Each item must be a string, " + found_kind(value), give_text);
    out.push_back(core::decode_json_string(value));
    return nothing{};
  };
  return each_into(most, take, least);
}

json_taker moment_into(std::int64_t& unix_ms) {
  return [&unix_ms](const std::string& field, std::string_view value, std::string& pointer) -> status {
    std::string text;
    if (auto read = text_into(text)(field, value, pointer); !read) return read;
    const auto at = read_start("f" + field.substr(1), text);
    if (!at) return at.failure();
    unix_ms = *at;
    return nothing{};
  };
}

json_taker duration_into(std::int64_t& ms, std::int64_t least_ms) {
  return [&ms, least_ms](const std::string& field, std::string_view value, std::string& pointer) -> status {
    std::string text;
    if (auto read = text_into(text)(field, value, pointer); !read) return read;
    const auto given = read_duration("f" + field.substr(1), text, least_ms);
    if (!given) return given.failure();
    ms = *given;
    return nothing{};
  };
}

}  // namespace fairlead::app
