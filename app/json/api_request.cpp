#include "app/json/api_request.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "actors/agents/text_template.hpp"

namespace fairlead::app {

namespace {

constexpr std::string_view program = "fairlead ";

/// Where the first name behind the command goes. A second one is the step of a task, or has a place of its own in the path.
enum class name_goes { nowhere, to_path, to_numbers, to_schedule };

struct command_row {
  std::string_view words;
  std::size_t least_names, most_names;
  name_goes first;
  std::string_view method, path;  // {}: the name
  std::string_view verb;          // of the body; empty: it has none
  std::string_view effect;
  bool needs_reason = false;
  std::string_view needs_option = {};  // without it the command is that of a later row
};

constexpr auto to_path = name_goes::to_path;
constexpr std::string_view on_task = "/v1/tasks/{}/actions", on_job = "/v1/jobs/{}/actions", on_agent = "/v1/agents/{}/actions",
                           on_node = "/v1/nodes/{}/actions";

constexpr command_row command_rows[] = {
    {"task list", 0, 0, name_goes::nowhere, "GET", "/v1/tasks", "", "lists tasks"},
    {"task show", 1, 1, to_path, "GET", "/v1/tasks/{}", "", "shows the task"},
    {"task watch", 1, 1, to_path, "GET", "/v1/tasks/{}/events", "", "follows the task to its end"},
    {"task retry", 1, 2, to_path, "POST", on_task, "retry", "gives failed steps a new round of attempts"},
    {"task skip", 2, 2, to_path, "POST", on_task, "skip", "goes on without the step", true},
    {"task settle", 1, 1, to_path, "POST", on_task, "settle_completed", "says what the output of the task is", true, "--output"},
    {"task settle", 2, 2, to_path, "POST", on_task, "settle_completed", "says whether the step was carried out", true},
    {"task undo", 1, 1, to_path, "POST", on_task, "undo", "undoes what the task has done"},
    {"task cancel", 1, 1, to_path, "POST", on_task, "cancel", "stops the task and undoes what it has done"},
    {"task terminate", 1, 1, to_path, "POST", on_task, "terminate", "ends the task as failed: what it has done stays"},
    {"task pause", 1, 1, to_path, "POST", on_task, "pause", "starts no further step until the task is resumed"},
    {"task resume", 1, 1, to_path, "POST", on_task, "resume", "lets the task go on"},
    {"task delete", 1, 1, to_path, "POST", on_task, "delete", "deletes the record of the task"},
    {"task signal", 2, 2, to_path, "POST", "/v1/tasks/{}/signals/{}", "", "gives the task the signal"},
    {"workflow list", 0, 0, name_goes::nowhere, "GET", "/v1/workflows", "", "lists the deployed workflows"},
    {"workflow show", 1, 1, to_path, "GET", "/v1/workflows/{}", "", "shows the workflow"},
    {"workflow delete", 1, 1, to_path, "DELETE", "/v1/workflows/{}", "", "deletes the workflow"},
    {"workflow deploy", 1, 1, name_goes::nowhere, "POST", "/v1/workflows", "", "deploys the workflow whose file is the body"},
    {"workflow check", 1, 1, name_goes::nowhere, "POST", "/v1/workflows:check", "", "checks the workflow whose file is the body"},
    {"job list", 0, 0, name_goes::nowhere, "GET", "/v1/jobs", "", "lists jobs"},
    {"job show", 1, 1, to_path, "GET", "/v1/jobs/{}", "", "shows the job"},
    {"job pause", 1, 1, to_path, "POST", on_job, "pause", "launches nothing until the job is resumed"},
    {"job resume", 1, 1, to_path, "POST", on_job, "resume", "lets the job go on"},
    {"job skip", 1, 1, to_path, "POST", on_job, "skip", "skips the waiting launches of the job"},
    {"job run", 1, 1, to_path, "POST", on_job, "run", "launches the job once, now"},
    {"job backfill", 1, 1, to_path, "POST", on_job, "backfill", "launches the times that have no launch"},
    {"job rewind", 1, 1, to_path, "POST", on_job, "rewind", "sets the job back to now"},
    {"job delete", 1, 1, to_path, "DELETE", "/v1/jobs/{}", "", "deletes the job"},
    {"job next", 1, 1, name_goes::to_schedule, "POST", "/v1/jobs:next", "", "shows the next times of the schedule"},
    {"agent list", 0, 0, name_goes::nowhere, "GET", "/v1/agents", "", "lists agents and their instances"},
    {"agent show", 1, 1, to_path, "GET", "/v1/agents/{}", "", "shows the agent"},
    {"agent drain", 1, 1, to_path, "POST", on_agent, "drain", "gives the instance no more steps"},
    {"agent resume", 1, 1, to_path, "POST", on_agent, "resume", "gives the instance steps again"},
    {"agent breaker open", 1, 1, to_path, "POST", on_agent, "breaker_open", "opens the breaker of the agent"},
    {"agent breaker close", 1, 1, to_path, "POST", on_agent, "breaker_close", "closes the breaker of the agent"},
    {"alert list", 0, 0, name_goes::nowhere, "GET", "/v1/alerts", "", "lists alerts"},
    {"alert show", 1, 1, to_path, "GET", "/v1/alerts/{}", "", "shows the alert"},
    {"alert ack", 1, 1, name_goes::to_numbers, "POST", "/v1/alerts:ack", "", "acknowledges the alert"},
    {"brake release", 0, 0, name_goes::nowhere, "POST", "/v1/brake:release", "", "lets the undo of all held tasks go on"},
    {"status", 0, 0, name_goes::nowhere, "GET", "/v1/status", "", "shows the node and what it does"},
    {"cluster status", 0, 0, name_goes::nowhere, "GET", "/v1/cluster", "", "shows the shards and their nodes"},
    {"node drain", 1, 1, to_path, "POST", on_node, "drain", "drains the node"},
    {"node resume", 1, 1, to_path, "POST", on_node, "resume", "gives the node work again"},
    {"node reload", 1, 1, to_path, "POST", on_node, "reload", "has the node read its node file again"},
    {"node forget", 1, 1, to_path, "POST", on_node, "forget", "lets another node take the name"},
};

struct option_row {
  std::string_view word;
  bool has_value;
  std::string_view query;  // with `=` behind it the value follows
  std::string_view field;  // of the body
};

constexpr option_row option_rows[] = {
    {"--parked", false, "parked=true", ""},
    {"--failing", false, "failing=true", ""},
    {"--all", false, "state=open&state=acknowledged&state=resolved", ""},
    {"--top-level", false, "top_level=true", ""},
    {"--workflow", true, "workflow=", ""},
    {"--parent", true, "parent=", ""},
    {"--state", true, "state=", ""},
    {"--reason", true, "", "reason"},
    {"--input", true, "", "input"},
    {"--data", true, "", "data"},
    {"--completed", true, "", "output"},
    {"--output", true, "", "output"},
    {"--never-happened", false, "", ""},
    {"--now", false, "", "now"},
    {"--from", true, "", "from"},
    {"--to", true, "", "to"},
    {"--tz", true, "", "time_zone"},
    {"--dst", true, "", "dst"},
};

bool is_plain_in_shell(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view{"._:@/~-"}.find(c) != std::string_view::npos;
}

bool is_placeholder(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

/// The words of a command; in a sentence, it ends where the sentence goes on.
class word_reader {
 public:
  word_reader(std::string_view text, bool in_sentence) : text_(text), in_sentence_(in_sentence) {}

  std::size_t at() const { return at_; }
  bool is_at_end() const { return at_ >= text_.size(); }

  bool takes(std::string_view words) {
    const auto rest = text_.substr(at_);
    if (!rest.starts_with(words) || (rest.size() > words.size() && !ends_word(rest[words.size()]))) return false;
    at_ += words.size();
    return true;
  }

  /// nullopt, and nothing is read: none follows.
  std::optional<std::string> next() {
    auto from = at_;
    if (from >= text_.size() || text_[from] != ' ') return std::nullopt;
    ++from;
    std::string out;
    const auto end = from < text_.size() && text_[from] == '\'' ? quoted(from, out) : plain(from, out);
    if (out.empty() || (end < text_.size() && !ends_word(text_[end]))) return std::nullopt;
    at_ = end;
    return out;
  }

 private:
  bool ends_word(char c) const { return c == ' ' || (in_sentence_ && std::string_view{",;:.)`'"}.find(c) != std::string_view::npos); }

  std::size_t plain(std::size_t at, std::string& out) const {
    const auto from = at;
    while (at < text_.size() && is_plain_in_shell(text_[at])) ++at;
    while (in_sentence_ && at > from && (text_[at - 1] == '.' || text_[at - 1] == ':')) --at;
    out = text_.substr(from, at - from);
    return at;
  }

  std::size_t quoted(std::size_t at, std::string& out) const {
    constexpr std::string_view escaped = "'\\''";
    for (++at; at < text_.size(); ++at) {
      if (text_[at] != '\'') {
        out += text_[at];
        continue;
      }
      if (!text_.substr(at).starts_with(escaped)) return at + 1;
      out += '\'';
      at += escaped.size() - 1;
    }
    return at;
  }

  std::string_view text_;
  bool in_sentence_;
  std::size_t at_ = 0;
};

struct parsed_command {
  const command_row* row = nullptr;
  std::size_t size = 0;  // of its text, without the name of the program
  api_request request;
};

std::string encoded(const std::string& name) {
  std::string out;
  agents::append_percent_encoded(out, name);
  return out;
}

/// `words`: behind those of the row.
std::optional<parsed_command> parse_command_of(const command_row* row, word_reader words, bool in_sentence) {
  std::vector<std::string> names;
  while (names.size() < row->most_names) {
    auto after = words;
    auto name = after.next();
    const auto must = names.size() < row->least_names;
    // What follows in a sentence is a name that may be there only if it looks like one.
    if (!name || name->starts_with("--") || (!must && in_sentence && !is_placeholder(*name))) break;
    names.push_back(*std::move(name));
    words = after;
  }
  if (names.size() < row->least_names) return std::nullopt;

  auto verb = std::string{row->verb};
  std::string query;
  json_writer body;
  std::vector<std::pair<std::string_view, std::string>> fields;
  bool now = false, has_reason = false, has_needed = row->needs_option.empty();
  for (;;) {
    auto after = words;
    const auto word = after.next();
    if (!word || !word->starts_with("--")) break;
    const auto* const option =
        std::find_if(std::begin(option_rows), std::end(option_rows), [&](const auto& one) { return one.word == *word; });
    if (option == std::end(option_rows)) return std::nullopt;
    const auto value = option->has_value ? after.next() : std::optional{std::string{}};
    if (!value) return std::nullopt;
    if (!option->query.empty()) query += (query.empty() ? "?" : "&") + std::string{option->query} + encoded(*value);
    if (option->word == "--never-happened") verb = "settle_never_happened";
    now = now || option->word == "--now";
    has_reason = has_reason || option->word == "--reason";
    has_needed = has_needed || option->word == row->needs_option;
    if (option->has_value && !option->field.empty()) fields.emplace_back(option->field, *value);
    words = after;
  }
  if (!has_needed || (!in_sentence && !words.is_at_end())) return std::nullopt;

  bool has_body = true;
  body.begin_object();
  if (!verb.empty())
    body.key("verb").string(verb);
  else if (row->first == name_goes::to_numbers &&
           std::all_of(names[0].begin(), names[0].end(), [](unsigned char c) { return std::isdigit(c); }))
    body.key("numbers").begin_array().raw(names[0]).end_array();
  else if (row->first == name_goes::to_schedule)
    body.key("schedule").string(names[0]);
  else if (row->first == name_goes::to_numbers)
    return std::nullopt;
  else
    has_body = !fields.empty();
  if (names.size() > 1 && row->path.find("{}") == row->path.rfind("{}")) body.key("step").string(names[1]);
  if (now) body.key("now").boolean(true);
  for (const auto& [field, value] : fields) body.key(field).string(value);
  if (row->needs_reason && !has_reason) body.key("reason").string("TEXT");
  body.end_object();

  parsed_command out{row, words.at(), {std::string{row->method}, std::string{row->path}, has_body ? body.text() : ""}};
  auto& path = out.request.path;
  std::size_t used = 0;
  for (auto place = path.find("{}"); place != std::string::npos; place = path.find("{}", place)) {
    const auto name = encoded(names[used++]);
    path.replace(place, 2, name);
    place += name.size();
  }
  path += query;
  return out;
}

/// `text`: behind the name of the program.
std::optional<parsed_command> parse_command(std::string_view text, bool in_sentence) {
  for (const auto& row : command_rows) {
    word_reader words{text, in_sentence};
    if (!words.takes(row.words)) continue;
    auto found = parse_command_of(&row, words, in_sentence);
    if (found || row.needs_option.empty()) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<api_request> request_of(std::string_view command) {
  if (!command.starts_with(program)) return std::nullopt;
  auto found = parse_command(command.substr(program.size()), false);
  return found ? std::optional{std::move(found->request)} : std::nullopt;
}

help help_of(const remedy& what) { return {what.command, what.effect, request_of(what.command)}; }

std::string with_requests(std::string_view remedy, std::vector<help>& found) {
  std::string out;
  for (std::size_t at = 0; at < remedy.size();) {
    const auto begin = remedy.find(program, at);
    out += remedy.substr(at, begin - at);
    if (begin == std::string_view::npos) break;
    const auto inside = begin + program.size();
    auto one = parse_command(remedy.substr(inside), true);
    at = inside + (one ? one->size : 0);
    const auto command = remedy.substr(begin, at - begin);
    if (!one) {
      out += command;
      continue;
    }
    const auto& what = one->request;
    out += what.method + " " + what.path + (what.body.empty() ? "" : " " + what.body);
    const auto is_same = [&](const help& other) { return other.command == command; };
    if (std::none_of(found.begin(), found.end(), is_same))
      found.push_back({std::string{command}, std::string{one->row->effect}, std::move(one->request)});
  }
  return out;
}

void write_remedy(json_writer& out, std::string_view remedy) {
  std::vector<help> found;
  out.key("remedy").string(with_requests(remedy, found)).key("what_helps");
  write_helps(out, found);
}

void write_helps(json_writer& out, const std::vector<help>& all) {
  out.begin_array();
  for (const auto& one : all) {
    out.begin_object().key("command").string(one.command).key("request");
    if (one.request) {
      out.begin_object().key("method").string(one.request->method).key("path").string(one.request->path);
      out.key("body").raw(one.request->body).end_object();
    } else {
      out.null();
    }
    out.key("effect").string(one.effect).end_object();
  }
  out.end_array();
}

}  // namespace fairlead::app
