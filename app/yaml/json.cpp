// YAML values as JSON text: numbers keep their spelling, so integers beyond 2^53 survive.

#include <nlohmann/json.hpp>

#include "app/yaml/reader.hpp"
#include "app/yaml/scalar.hpp"

namespace fairlead::app {

using kind_type = yaml_value::kind_type;

namespace {

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::optional<std::string> yaml_node::json() const {
  std::string out;
  if (!append_json(*value_, nullptr, out)) return std::nullopt;
  return out;
}

/// Where the writing is. Only a value that is refused needs its path.
struct yaml_node::level {
  const level* above;      // null: the value itself
  const std::string* key;  // null: in a list
  std::size_t index;
};

yaml_path yaml_node::path_of(const level* inside) const {
  if (inside == nullptr) return where_;
  const auto above = path_of(inside->above);
  return inside->key != nullptr ? above.below(*inside->key) : above.item(inside->index);
}

bool yaml_node::append_json(const yaml_value& from, const level* inside, std::string& out) const {
  const auto refuse = [&](const std::string& sentence, const std::string& remedy) {
    // The value itself may stand behind a key of its own line.
    const yaml_node at{*document_, value_, path_of(inside), from.line, from.column};
    at.complain(sentence, remedy);
    return false;
  };
  bool fine = true;
  switch (from.kind) {
    case kind_type::null:
      if (!from.written) return refuse("the value is empty", "write null for the value null");
      out += "null";
      break;
    case kind_type::scalar:
      switch (from.quoted ? scalar_type::text : type_of_scalar(from.text)) {
        case scalar_type::text: out += json_string(from.text); break;
        case scalar_type::boolean: out += from.text[0] == 't' || from.text[0] == 'T' ? "true" : "false"; break;
        case scalar_type::json_integer:
        case scalar_type::json_float: out += from.text; break;
        case scalar_type::other_number:
          return refuse(from.text + " is a number that JSON cannot represent",
                        "put it in quotes if it is a text, or write it with decimal digits");
      }
      break;
    case kind_type::list: {
      out += '[';
      for (std::size_t i = 0; i < from.items.size(); ++i) {
        if (i != 0) out += ',';
        const level item{inside, nullptr, i};
        fine = append_json(*from.items[i], &item, out) && fine;
      }
      out += ']';
      break;
    }
    case kind_type::map: {
      out += '{';
      bool first = true;
      for (const auto& entry : from.entries) {
        if (!first) out += ',';
        first = false;
        out += json_string(entry.key) + ':';
        const level member{inside, &entry.key, 0};
        fine = append_json(*entry.value, &member, out) && fine;
      }
      out += '}';
      break;
    }
  }
  return fine;
}

}  // namespace fairlead::app
