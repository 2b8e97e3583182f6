#include "actors/core/expression/reads.hpp"

#include <algorithm>

#include "actors/core/text/json.hpp"

namespace fairlead::core {
namespace {

constexpr const char* root_names[] = {"input", "task", "launch", "steps", "status", "errors", "item", "index"};

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  append_json_string(out, key);
  out += ':';
}

}  // namespace

void read_tree::add(const std::string& expression, const checked_expression& checked) {
  readers_.push_back({expression, checked});
  if (checked.reads_everything) {
    for (const auto* name : root_names) top_.below[name].whole = true;
  }
  for (const auto& keys : checked.reads) {
    auto* at = &top_;
    for (const auto& key : keys) at = &at->below[key];
    at->whole = true;
  }
}

result<std::string> read_tree::cut(const document& doc) const {
  std::string out = "{";
  for (const auto& [name, what] : top_.below) {
    if (auto done = append_root(out, doc, name, what); !done.ok()) return done.failure();
  }
  out += '}';
  return out;
}

status read_tree::append_root(std::string& out, const document& doc, const std::string& name, const node& what) const {
  if (root_size(name) == 1) {
    const auto value = doc.root(name, {});
    if (!value) return nothing{};
    append_key(out, name);
    return append(out, trim_json(*value), "." + name, what);
  }
  append_key(out, name);
  out += '{';
  static const node all{true, {}};
  auto members = doc.members(name);
  // What is read by its name may be there as null though it is not listed.
  for (const auto& [member, below] : what.below)
    if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(member);
  for (const auto& member : members) {
    const auto known = what.below.find(member);
    if (!what.whole && known == what.below.end()) continue;
    const auto value = doc.root(name, member);
    if (!value) continue;
    append_key(out, member);
    auto done = append(out, trim_json(*value), "." + name + spell_json_key(member), what.whole ? all : known->second);
    if (!done.ok()) return done;
  }
  out += '}';
  return nothing{};
}

status read_tree::append(std::string& out, std::string_view value, const std::string& path, const node& what) const {
  // A path that goes on below a value that is no object fails in jq; the error names that value, so it is kept whole.
  if (what.whole || value.front() != '{') return append_whole(out, value, path);
  out += '{';
  for (const auto& [key, below] : what.below) {
    const auto member = json_member(value, key);
    if (!member) continue;
    append_key(out, key);
    if (auto done = append(out, *member, path + spell_json_key(key), below); !done.ok()) return done;
  }
  out += '}';
  return nothing{};
}

status read_tree::append_whole(std::string& out, std::string_view value, const std::string& path) const {
  if (const auto changed = find_changed_number(value)) {
    const auto where = path + changed->path;
    return error{v1::ERROR_CODE_EXPRESSION,
                 "expression ${ " + reader_of(where) + " }: jq would change the number " + changed->number + " at " + where,
                 "Copy it with a plain path such as ${ " + where + " }, or send it as a string."};
  }
  if (out.size() + value.size() > max_worker_document_bytes)
    return error{
        v1::ERROR_CODE_EXPRESSION,
        "expression ${ " + reader_of(path) + " }: with it more than " + std::to_string(max_worker_document_bytes) + " bytes are read",
        "Read only the members that are needed, or copy a value with a plain path."};
  out += value;
  return nothing{};
}

std::string read_tree::reader_of(const std::string& path) const {
  for (const auto& reader : readers_) {
    if (reader.checked.reads_everything) return reader.expression;
    for (const auto& keys : reader.checked.reads) {
      std::string read;
      for (const auto& key : keys) read += spell_json_key(key);
      const auto behind = path.size() > read.size() ? path[read.size()] : '.';
      if (path.compare(0, read.size(), read) == 0 && (behind == '.' || behind == '[')) return reader.expression;
    }
  }
  return readers_.front().expression;
}

}  // namespace fairlead::core
