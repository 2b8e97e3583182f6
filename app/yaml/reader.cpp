#include "app/yaml/reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "actors/core/text/nearest.hpp"
#include "app/yaml/scalar.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

using kind_type = yaml_value::kind_type;

namespace {

std::string shown(const std::string& text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return "\"" + text + "\"";
  auto cut = most;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) --cut;
  return "\"" + text.substr(0, cut) + "…\"";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + units[unit];
}

std::optional<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc{} || end == text.data()) return std::nullopt;
  const std::string unit{end, text.data() + text.size()};
  int shift = 0;
  if (unit == "KiB") {
    shift = 10;
  } else if (unit == "MiB") {
    shift = 20;
  } else if (unit == "GiB") {
    shift = 30;
  } else if (unit == "TiB") {
    shift = 40;
  } else if (!unit.empty() && unit != "B") {
    return std::nullopt;
  }
  if (count > (std::numeric_limits<std::uint64_t>::max() >> shift)) return std::nullopt;
  return count << shift;
}

}  // namespace

std::pair<int, int> place_of_entry(const yaml_entry& entry) {
  // A block below its key is best found at the key.
  const bool below = entry.value->kind != kind_type::scalar && entry.value->line != entry.line;
  return below ? std::pair{entry.line, entry.column} : std::pair{entry.value->line, entry.value->column};
}

yaml_node::yaml_node(yaml_document& document, yaml_pointer value, yaml_path where, int line, int column)
    : document_(&document), value_(std::move(value)), where_(std::move(where)), line_(line), column_(column) {}

yaml_node yaml_node::root(yaml_document& document) { return {document, document.root, {}, document.root->line, document.root->column}; }

void yaml_node::complain(std::string sentence, std::string remedy) const {
  if (document_->has_room(line_, column_))
    document_->problems.push_back({document_->file, line_, column_, where(), std::move(sentence), std::move(remedy)});
}

std::string yaml_node::found() const {
  switch (value_->kind) {
    case kind_type::null: return value_->written ? "null" : "nothing";
    case kind_type::list: return "a list";
    case kind_type::map: return "a map";
    case kind_type::scalar: break;
  }
  switch (value_->quoted ? scalar_type::text : type_of_scalar(value_->text)) {
    case scalar_type::boolean: return "the truth value " + value_->text;
    case scalar_type::json_integer:
    case scalar_type::json_float:
    case scalar_type::other_number: return "the number " + value_->text;
    case scalar_type::text: break;
  }
  return shown(value_->text);
}

yaml_node yaml_node::child(const std::string& key) const { return {*document_, value_, where_.below(key), line_, column_}; }

void yaml_node::expected(const std::string& what) const { complain("expected " + what + ", found " + found()); }

std::optional<std::string> yaml_node::text() const {
  if (value_->kind == kind_type::scalar && (value_->quoted || type_of_scalar(value_->text) == scalar_type::text)) {
    if (!value_->text.empty()) return value_->text;
    complain("the text is empty");
    return std::nullopt;
  }
  expected("text");
  return std::nullopt;
}

std::optional<std::string> yaml_node::scalar_text() const {
  if (value_->kind == kind_type::scalar) return value_->text;
  expected("a single value");
  return std::nullopt;
}

std::optional<bool> yaml_node::boolean() const {
  if (value_->kind == kind_type::scalar && !value_->quoted && type_of_scalar(value_->text) == scalar_type::boolean)
    return value_->text[0] == 't' || value_->text[0] == 'T';
  expected("true or false");
  return std::nullopt;
}

std::optional<std::int64_t> yaml_node::integer(std::int64_t least, std::int64_t most) const {
  if (value_->kind == kind_type::scalar && !value_->quoted && type_of_scalar(value_->text) == scalar_type::json_integer) {
    std::int64_t out = 0;
    const auto& text = value_->text;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (failure == std::errc{} && end == text.data() + text.size() && out >= least && out <= most) return out;
  }
  expected("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<double> yaml_node::number(double least, double most) const {
  if (value_->kind == kind_type::scalar && !value_->quoted) {
    const auto type = type_of_scalar(value_->text);
    double out = 0;
    const auto& text = value_->text;
    if (type == scalar_type::json_integer || type == scalar_type::json_float) {
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
      if (failure == std::errc{} && end == text.data() + text.size() && out >= least && out <= most) return out;
    }
  }
  const auto show = [](double value) {
    auto text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  expected("a number from " + show(least) + " to " + show(most));
  return std::nullopt;
}

std::optional<std::int64_t> yaml_node::duration_ms(std::int64_t least, std::int64_t most) const {
  std::int64_t out = 0;
  if (value_->kind != kind_type::scalar || !has_form_of_duration(value_->text)) {
    expected("a duration such as 250ms, 5s, 1m30s, 2h or 7d");
    return std::nullopt;
  }
  if (parse_duration(value_->text, out) && out >= least && out <= most) return out;
  expected("a duration from " + format_duration(least) + " to " + format_duration(most));
  return std::nullopt;
}

std::optional<std::uint64_t> yaml_node::size_bytes(std::uint64_t least, std::uint64_t most) const {
  const auto out = value_->kind == kind_type::scalar ? parse_size(value_->text) : std::nullopt;
  if (!out) {
    expected("a size such as 4096, 256KiB, 64MiB or 16GiB");
    return std::nullopt;
  }
  if (*out >= least && *out <= most) return out;
  expected("a size from " + format_size(least) + " to " + format_size(most));
  return std::nullopt;
}

std::optional<std::size_t> yaml_node::word(const std::vector<std::string>& choices) const {
  if (value_->kind == kind_type::scalar) {
    const auto at = std::find(choices.begin(), choices.end(), value_->text);
    if (at != choices.end()) return static_cast<std::size_t>(at - choices.begin());
    complain("expected " + join(choices) + ", found " + found(), core::did_you_mean(value_->text, choices));
    return std::nullopt;
  }
  expected(join(choices));
  return std::nullopt;
}

std::vector<yaml_node> yaml_node::items() const {
  std::vector<yaml_node> out;
  if (!is_list()) {
    expected("a list");
    return out;
  }
  for (const auto& item : value_->items) out.emplace_back(*document_, item, where_.item(out.size()), item->line, item->column);
  return out;
}

std::vector<std::pair<std::string, yaml_node>> yaml_node::entries() const {
  std::vector<std::pair<std::string, yaml_node>> out;
  if (!is_map()) {
    expected("a map");
    return out;
  }
  for (std::size_t i = 0; i < value_->entries.size(); ++i) out.emplace_back(value_->entries[i].key, entry(i));
  return out;
}

yaml_node yaml_node::entry(std::size_t index) const {
  const auto& one = value_->entries[index];
  const auto at = place_of_entry(one);
  return {*document_, one.value, where_.below(one.key), at.first, at.second};
}

yaml_section::yaml_section(const yaml_node& node) : node_(node) {
  if (!node_.is_map()) node_.expected("a map");
}

std::optional<yaml_node> yaml_section::find(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  if (!node_.is_map()) return std::nullopt;
  // Most keys that are asked for are not there.
  const auto& all = node_.value().entries;
  const auto found = std::find_if(all.begin(), all.end(), [&key](const auto& one) { return one.key == key; });
  if (found == all.end()) return std::nullopt;
  return node_.entry(static_cast<std::size_t>(found - all.begin()));
}

std::optional<yaml_node> yaml_section::require(const std::string& key, const std::string& what) {
  auto out = find(key);
  if (!out && node_.is_map()) node_.child(key).complain("this key is missing; expected " + what);
  return out;
}

bool yaml_section::text(const std::string& key, std::string& out) {
  return set(find(key), out, [](const yaml_node& n) { return n.text(); });
}

bool yaml_section::boolean(const std::string& key, bool& out) {
  return set(find(key), out, [](const yaml_node& n) { return n.boolean(); });
}

bool yaml_section::duration_ms(const std::string& key, std::int64_t& out, std::int64_t least, std::int64_t most) {
  return set(find(key), out, [&](const yaml_node& n) { return n.duration_ms(least, most); });
}

bool yaml_section::size_bytes(const std::string& key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
  return set(find(key), out, [&](const yaml_node& n) { return n.size_bytes(least, most); });
}

bool yaml_section::json(const std::string& key, std::string& out) {
  return set(find(key), out, [](const yaml_node& n) { return n.json(); });
}

void yaml_section::not_yet(const std::vector<std::string>& keys) { later_.insert(later_.end(), keys.begin(), keys.end()); }

void yaml_section::refuse(std::string key, std::string sentence, std::string remedy) {
  refused_.push_back({std::move(key), std::move(sentence), std::move(remedy)});
}

void yaml_section::finish() {
  if (!node_.is_map()) return;
  const auto entries = node_.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& [key, value] = entries[i];
    const auto why = std::find_if(refused_.begin(), refused_.end(), [&key = key](const refused& one) { return one.key == key; });
    if (why == refused_.end() && std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    // The key is at fault, not its value.
    const auto& place = node_.value().entries[i];
    auto at_key = value;
    at_key.move_to(place.line, place.column);
    if (why != refused_.end()) {
      at_key.complain(why->sentence, why->remedy);
      continue;
    }
    if (std::find(later_.begin(), later_.end(), key) != later_.end()) {
      at_key.complain("this key is not supported yet", "");
      continue;
    }
    const auto meant = core::did_you_mean(key, asked_);
    at_key.complain("this key is not known here", meant.empty() ? "known keys: " + join(asked_) : meant);
  }
}

}  // namespace fairlead::app
