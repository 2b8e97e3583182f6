#include "actors/agents/secrets/search.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/secrets/views.hpp"

namespace fairlead::agents {

namespace {

constexpr std::size_t prefix_size = 4;
constexpr unsigned filter_bits = 16;
/// Depth of nested encodings: JSON in JSON in a string of JSON, base64 in a URL in JSON. Texts built for endless decoding end at so many
/// times their size.
constexpr int deepest_view = 4;
constexpr std::size_t most_decoded = 16;
constexpr std::size_t least_decoded = 64 * 1024;
/// Shorter parts give little away, and may be the end of any word.
constexpr std::size_t shortest_cut = 8;
constexpr std::size_t longest_cut = 1'024;

constexpr const char* standard_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr const char* url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The characters of base64 that depend only on `value` if `before` bytes (0..2) of something else precede it.
void append_base64(std::string& out, std::string_view value, std::size_t before, const char* alphabet) {
  const auto bit = [&](std::size_t index) {
    const auto byte = static_cast<unsigned char>(value[index / 8 - before]);
    return (byte >> (7U - index % 8)) & 1U;
  };
  const auto end = (before + value.size()) * 8;
  for (auto at = (before * 8 + 5) / 6 * 6; at + 6 <= end; at += 6) {
    unsigned six = 0;
    for (std::size_t i = 0; i < 6; ++i) six = six * 2 + bit(at + i);
    out += alphabet[six];
  }
}

void append_hex(std::string& out, std::string_view value, const char* digits) {
  for (const auto c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
}

/// The spellings in messages and codes of faults, where other characters replace those that are not allowed. A spelling with next to
/// nothing left of the value is not searched for, or every row of dots would match.
std::vector<std::string> shown_spellings(std::string_view value) {
  const auto in_code = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  };
  std::string code{value};
  std::replace_if(
      code.begin(), code.end(), [&](char c) { return !in_code(c); }, '_');
  std::vector<std::string> out;
  for (auto& shown : {printable(value, value.size()), code}) {
    const auto kept = std::inner_product(value.begin(), value.end(), shown.begin(), std::size_t{0}, std::plus<>{}, std::equal_to<>{});
    if (kept >= prefix_size) out.push_back(shown);
  }
  wipe(code);
  return out;
}

std::uint32_t prefix_at(const char* at) {
  std::uint32_t out = 0;
  std::memcpy(&out, at, prefix_size);
  return out;
}

std::size_t slot_of(std::uint32_t prefix) { return (prefix * 2654435761U) >> (32U - filter_bits); }

}  // namespace

secret_spellings::secret_spellings(std::string name, std::string_view value) : name_(std::move(name)) {
  const auto add = [this](std::string_view spelled) {
    if (spelled.size() < prefix_size || std::find(all_.begin(), all_.end(), spelled) != all_.end()) return;
    memory_.push_back(secret_memory::copy_of(spelled));
    all_.push_back(memory_.back().view());
  };
  add(value);
  for (auto& shown : shown_spellings(value)) {
    add(shown);
    wipe(shown);
  }
  std::string spelled;
  spelled.reserve(value.size() * 2 + prefix_size);  // no reallocation, which would leave a copy behind
  const wiped_at_end wiping{spelled};
  for (const auto* alphabet : {standard_alphabet, url_alphabet}) {
    for (std::size_t before = 0; before < 3; ++before) {
      spelled.clear();
      append_base64(spelled, value, before, alphabet);
      add(spelled);
    }
  }
  for (const auto* digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    spelled.clear();
    append_hex(spelled, value, digits);
    add(spelled);
  }
}

secret_search::secret_search(std::vector<std::shared_ptr<const secret_spellings>> values)
    : values_(std::move(values)), filter_(std::size_t{1} << filter_bits) {
  for (const auto& value : values_) {
    blanks_ = blanks_ || value->value().find(' ') != std::string_view::npos;
    for (const auto spelled : value->all()) {
      const auto prefix = prefix_at(spelled.data());
      needles_[prefix].push_back({spelled, value->name()});
      filter_[slot_of(prefix)] = true;
    }
  }
}

void secret_search::find_in(std::string_view text, const std::vector<std::uint32_t>& origin, std::vector<secret_place>& out) const {
  const auto origin_of = [&](std::size_t at) { return origin.empty() ? at : std::size_t{origin[at]}; };
  for (std::size_t at = 0; at + prefix_size <= text.size(); ++at) {
    const auto prefix = prefix_at(text.data() + at);
    if (!filter_[slot_of(prefix)]) continue;
    const auto found = needles_.find(prefix);
    if (found == needles_.end()) continue;
    for (const auto& one : found->second)
      if (text.compare(at, one.text.size(), one.text) == 0) out.push_back({origin_of(at), origin_of(at + one.text.size()), one.name});
  }
}

/// Others quote only the beginning of a service's text. If the quotation ends within a value, the remaining part is hidden as well.
void secret_search::find_cut(std::string_view text, const std::vector<std::uint32_t>& origin, std::vector<secret_place>& out) const {
  const auto origin_of = [&](std::size_t at) { return origin.empty() ? at : std::size_t{origin[at]}; };
  for (const auto& value : values_) {
    for (const auto spelled : value->all()) {
      for (auto size = std::min({spelled.size() - 1, text.size(), longest_cut}); size >= shortest_cut; --size) {
        if (text.compare(text.size() - size, size, spelled.substr(0, size)) != 0) continue;
        out.push_back({origin_of(text.size() - size), origin_of(text.size()), value->name()});
        break;
      }
    }
  }
}

/// Level by level, so that less nested texts are always searched.
void secret_search::find_decoded(std::string_view text, std::vector<secret_place>& out) const {
  find_in(text, {}, out);
  find_cut(text, {}, out);
  auto budget = text.size() * most_decoded + least_decoded;
  std::vector<secret_view> level;
  const auto decode = [&](std::string_view from, const std::vector<std::uint32_t>& origin, std::vector<secret_view>& into) {
    for (const auto encoding : all_secret_encodings) {
      if ((encoding == secret_encoding::form && !blanks_) || budget < from.size()) continue;
      auto view = decode_view(from, origin, encoding);
      if (!view) continue;
      budget -= from.size();
      find_in(view->text, view->origin, out);
      find_cut(view->text, view->origin, out);
      into.push_back(std::move(*view));
    }
  };
  decode(text, {}, level);
  for (int depth = 1; depth < deepest_view && !level.empty(); ++depth) {
    std::vector<secret_view> next;
    for (auto& view : level) {
      decode(view.text, view.origin, next);
      wipe(view.text);
    }
    level = std::move(next);
  }
  for (auto& view : level) wipe(view.text);
}

std::vector<secret_place> secret_search::find(std::string_view text) const {
  std::vector<secret_place> out;
  if (needles_.empty()) return out;
  find_decoded(text, out);
  // Of places with the same begin the longest counts: it contains the others.
  std::sort(out.begin(), out.end(),
            [](const secret_place& a, const secret_place& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::size_t kept = 0;
  for (const auto& one : out) {
    if (kept > 0 && one.begin < out[kept - 1].end) {
      out[kept - 1].end = std::max(out[kept - 1].end, one.end);
    } else {
      out[kept++] = one;
    }
  }
  out.resize(kept);
  return out;
}

}  // namespace fairlead::agents
