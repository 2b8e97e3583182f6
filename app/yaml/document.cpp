#include "app/yaml/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include "actors/core/text/text.hpp"
#include "app/yaml/source.hpp"

namespace fairlead::app {

namespace {

// Ends the reading of a file; parse_yaml turns it into a problem.
struct stop {
  text_position at;
  std::string where;
  std::string sentence;
  std::string remedy;
};

// Long texts count as several values, or an alias to one could stand for gigabytes.
constexpr std::size_t bytes_per_node = 64;

class builder final : public YAML::EventHandler {
 public:
  builder(const yaml_source& source, int lines_before, yaml_document& document)
      : source_(source), lines_before_(lines_before), document_(document) {}

  yaml_pointer root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!begun_) {
      begun_ = true;
      return;
    }
    const auto at = place(mark);
    if (source_.line(at.line - lines_before_).substr(0, 3) == "---")
      throw stop{at, "", "a second document begins here; only one is allowed in a file", "remove the other document"};
    throw stop{at, "", "this line does not fit to the lines above it", "check the indentation and the punctuation before it"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto value = fresh(yaml_value::kind_type::null, mark);
    value->written = source_.null_is_written(static_cast<std::size_t>(mark.pos));
    if (key_expected()) throw stop{place(mark), path(), "a key is empty", "put a word before the colon"};
    // Nothing stands there: the key, or the list, is the place to look at.
    if (!value->written && !stack_.empty()) {
      const auto& top = stack_.back();
      value->line = top.value->kind == yaml_value::kind_type::map ? top.key_at.line : value->line;
      value->column = top.value->kind == yaml_value::kind_type::map ? top.key_at.column : value->column;
    }
    attach(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (key_expected()) throw stop{place(mark), path(), "an alias cannot be a key", ""};
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw stop{place(mark), path(), "this alias refers to a value that contains the alias", ""};
    bound(mark, found->second->nodes, found->second->height);
    give(found->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    if (!source_.quote_is_closed(static_cast<std::size_t>(mark.pos)))
      throw stop{place(mark), path(), "the quote that begins here is never closed", ""};
    auto value = fresh(yaml_value::kind_type::scalar, mark);
    value->quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    value->text = text;
    value->nodes += text.size() / bytes_per_node;
    if (!value->quoted) check_tag(mark, tag);
    if (key_expected()) {
      if (text == "<<" && !value->quoted) throw stop{place(mark), path(), "merge keys (<<) are not supported", "write the keys out"};
      auto& top = stack_.back();
      top.key = text;
      top.key_at = {value->line, value->column};
      top.has_key = true;
      return;
    }
    attach(std::move(value), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(yaml_value::kind_type::list, mark, tag, "tag:yaml.org,2002:seq", anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) override {
    open(yaml_value::kind_type::map, mark, tag, "tag:yaml.org,2002:map", anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct frame {
    std::shared_ptr<yaml_value> value;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    text_position key_at;
    std::unordered_map<std::string, int> keys;  // and the line each stands on
  };

  text_position place(const YAML::Mark& mark) const {
    const auto at = source_.position_of(static_cast<std::size_t>(mark.pos));
    return {at.line + lines_before_, at.column};
  }

  bool key_expected() const { return !stack_.empty() && stack_.back().value->kind == yaml_value::kind_type::map && !stack_.back().has_key; }

  void complain(text_position at, const std::string& sentence, const std::string& remedy) {
    if (document_.has_room(at.line, at.column))
      document_.problems.push_back({document_.file, at.line, at.column, path(), sentence, remedy});
  }

  // The dotted key of what comes next.
  std::string path() const {
    std::string out;
    for (const auto& level : stack_) {
      if (level.value->kind == yaml_value::kind_type::list) {
        out += "[" + std::to_string(level.value->items.size()) + "]";
      } else if (level.has_key) {
        out = dotted(out, core::shown_key(level.key));
      }
    }
    return out;
  }

  std::shared_ptr<yaml_value> fresh(yaml_value::kind_type kind, const YAML::Mark& mark) {
    bound(mark, 1, 1);
    auto value = std::make_shared<yaml_value>();
    const auto at = place(mark);
    value->kind = kind;
    value->line = at.line;
    value->column = at.column;
    return value;
  }

  void bound(const YAML::Mark& mark, std::size_t nodes, int height) {
    nodes_ += nodes;
    if (nodes_ > max_yaml_nodes)
      throw stop{place(mark), "", "there are more than " + std::to_string(max_yaml_nodes) + " values (aliased values count at each use)",
                 ""};
    if (static_cast<int>(stack_.size()) + height > max_yaml_depth)
      throw stop{place(mark), "", "the values are nested more than " + std::to_string(max_yaml_depth) + " deep", ""};
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?") return;
    complain(place(mark), "the tag " + tag + " is not supported", "leave it out");
  }

  void open(yaml_value::kind_type kind, const YAML::Mark& mark, const std::string& tag, const char* allowed, YAML::anchor_t anchor) {
    if (key_expected())
      throw stop{place(mark), path(), "a key must be a plain word, not a list or a map",
                 "put the key in quotes if { } or [ ] is part of a text"};
    auto value = fresh(kind, mark);
    if (tag != allowed && tag != "!") check_tag(mark, tag);
    frame next;
    next.value = std::move(value);
    next.anchor = anchor;
    stack_.push_back(std::move(next));
  }

  void close() {
    auto top = std::move(stack_.back());
    stack_.pop_back();
    attach(std::move(top.value), top.anchor);
  }

  void attach(std::shared_ptr<yaml_value> value, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = value;
    give(std::move(value));
  }

  void give(yaml_pointer value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    auto& top = stack_.back();
    top.value->nodes += value->nodes + top.key.size() / bytes_per_node;
    top.value->height = std::max(top.value->height, value->height + 1);
    if (top.value->kind == yaml_value::kind_type::list) {
      top.value->items.push_back(std::move(value));
      return;
    }
    const auto [seen, first] = top.keys.emplace(top.key, top.key_at.line);
    if (first) {
      top.value->entries.push_back({top.key, top.key_at.line, top.key_at.column, std::move(value)});
    } else {
      complain(top.key_at, "this key is defined twice, first on line " + std::to_string(seen->second), "remove one of them");
    }
    top.has_key = false;
  }

  const yaml_source& source_;
  int lines_before_;
  yaml_document& document_;
  yaml_pointer root_;
  bool begun_ = false;
  std::size_t nodes_ = 0;
  std::vector<frame> stack_;
  std::map<YAML::anchor_t, yaml_pointer> anchors_;
};

}  // namespace

bool yaml_document::has_room(int line, int column) {
  if (problems.size() < max_yaml_problems) return true;
  if (problems.size() == max_yaml_problems)
    problems.push_back(
        {file, line, column, "", "there are more problems than are listed", "correct these first, and check the file again"});
  else
    ++more_problems;
  return false;
}

std::string dotted(const std::string& parent, const std::string& key) { return parent.empty() ? key : parent + "." + key; }

std::string to_text(const problem& what) {
  std::string out = what.file;
  if (what.line > 0) out += ":" + std::to_string(what.line) + ":" + std::to_string(what.column);
  if (!what.where.empty()) out += ": " + what.where;
  out += ": " + what.sentence;
  if (!what.remedy.empty()) out += "; " + what.remedy;
  return out;
}

yaml_document parse_yaml(const std::string& file, const std::string& whole, int lines_before) {
  yaml_document out;
  out.file = file;
  const auto complain = [&](text_position at, const std::string& where, const std::string& sentence, const std::string& remedy) {
    out.root = nullptr;
    out.problems.push_back({file, at.line, at.column, where, sentence, remedy});
  };
  // A byte order mark is no part of the text.
  const std::string text = whole.compare(0, 3, "\xef\xbb\xbf") == 0 ? whole.substr(3) : whole;
  const yaml_source source{text};
  if (text.size() > max_yaml_bytes) {
    out.problems.push_back({file, 0, 0, "", "the file is larger than 1 MiB", ""});
    return out;
  }
  if (const auto bad = source.first_bad_byte()) {
    const auto at = source.position_of(*bad);
    complain({at.line + lines_before, at.column}, "", "this line has a byte that is not UTF-8 text",
             "save the file as UTF-8 without control characters");
    return out;
  }
  try {
    std::istringstream in{text};
    YAML::Parser parser{in};
    builder handler{source, lines_before, out};
    while (parser.HandleNextDocument(handler)) {
    }
    out.root = handler.root();
    if (!out.root) complain({1 + lines_before, 1}, "", "the file is empty", "");
  } catch (const stop& what) {
    complain(what.at, what.where, what.sentence, what.remedy);
  } catch (const YAML::Exception& what) {
    const text_position at = what.mark.is_null() ? text_position{} : source.position_of(static_cast<std::size_t>(what.mark.pos));
    const auto line = source.line(at.line);
    const auto tab = line.find_first_not_of(' ');
    complain({at.line + lines_before, at.column}, "", "this is not YAML: " + what.msg,
             tab != std::string_view::npos && line[tab] == '\t' ? "the line is indented with a tab; use spaces" : "");
  }
  return out;
}

std::optional<std::string> read_text_file(const std::string& path, std::vector<problem>& problems) {
  const auto refuse = [&](const std::string& sentence, const std::string& remedy) {
    problems.push_back({path, 0, 0, "", sentence, remedy});
    return std::nullopt;
  };
  std::error_code failure;
  const auto kind = std::filesystem::status(path, failure).type();
  if (kind == std::filesystem::file_type::not_found) return refuse("there is no such file", "");
  if (kind == std::filesystem::file_type::directory) return refuse("this is a folder, not a file", "");
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  if (!in) return refuse(std::string{"the file cannot be read: "} + std::strerror(errno), "");
  std::string text(max_yaml_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return refuse(std::string{"the file cannot be read: "} + std::strerror(errno), "");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > max_yaml_bytes) return refuse("the file is larger than 1 MiB", "");
  return text;
}

}  // namespace fairlead::app
