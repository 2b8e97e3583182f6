#include "actors/client/http_link.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "actors/agents/attempt_results.hpp"

namespace fairlead {

namespace {

using agents::http_answer;

constexpr std::uint32_t posts_at_once = 64;
constexpr std::int64_t connect_limit_ms = 3'000;
constexpr duration look_limit = std::chrono::seconds{5};
constexpr std::uint64_t most_reply_bytes = std::uint64_t{256} << 20;  // a task with all its payloads
constexpr std::size_t quoted_bytes = 200;
constexpr const char* message_type = "application/x-protobuf";
constexpr const char* problem_type = "application/problem+json";

agents::http_limits limits_for(const node_address& to, const http_access& with) {
  agents::http_limits out;
  out.concurrency = posts_at_once;
  out.connect_timeout_ms = connect_limit_ms;
  out.max_response_bytes = most_reply_bytes;
  out.tls.ca_file = with.ca_file;
  out.unix_socket = to.socket;
  return out;
}

std::string_view header_of(const http_answer& answer, std::string_view name) {
  const auto found = std::find_if(answer.headers.begin(), answer.headers.end(), [&](const auto& one) { return one.first == name; });
  return found == answer.headers.end() ? std::string_view{} : std::string_view{found->second};
}

bool has_type(const http_answer& answer, std::string_view wanted) {
  const auto type = header_of(answer, "content-type");
  return type.substr(0, type.find(';')) == wanted;
}

/// Of a code of a problem document. Those that HTTP alone has are about the request.
error_code code_of_word(const std::string& word) {
  for (int code = v1::ErrorCode_MIN; code <= v1::ErrorCode_MAX; ++code)
    if (v1::ErrorCode_IsValid(code) && word == code_word(static_cast<error_code>(code))) return static_cast<error_code>(code);
  return v1::ERROR_CODE_INVALID_ARGUMENT;
}

/// nullopt: the answer is no problem document of a node.
std::optional<error> problem_in(const http_answer& answer) {
  google::protobuf::Struct said;
  if (!has_type(answer, problem_type) || !google::protobuf::util::JsonStringToMessage(answer.body, &said).ok()) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const auto found = said.fields().find(key);
    return found == said.fields().end() ? std::string{} : found->second.string_value();
  };
  if (text_of("code").empty() || text_of("detail").empty()) return std::nullopt;
  error out{code_of_word(text_of("code")), text_of("detail"), text_of("remedy")};
  if (out.code == v1::ERROR_CODE_UNAUTHENTICATED)
    out.remedy = "Give a token with --token-file or in FAIRLEAD_TOKEN; fairlead token create makes one";
  return out;
}

std::string why_lost(const http_answer& answer) {
  if (answer.how == http_answer::ending::answered) return "its answer was cut off";
  if (answer.code == "timeout" || answer.code == "connect_timeout") return "does not answer";
  if (answer.code == "connection_refused") return "Connection refused";
  return agents::printable(answer.message, quoted_bytes);
}

std::string no_node(const http_answer& answer) {
  return "answered " + std::to_string(answer.status) + (answer.reason.empty() ? "" : " " + agents::printable(answer.reason, quoted_bytes)) +
         ", and is not the API of a node";
}

http_reply reply_in(http_answer answer, const std::string& where) {
  http_reply out;
  const auto refuse = [&](error why) {
    out.how = http_reply::kind::refused;
    out.why = std::move(why);
    return out;
  };
  if (answer.cut == http_answer::damage::too_large)
    return refuse({v1::ERROR_CODE_INTERNAL, "The answer of the node at " + where + " is larger than 256 MiB", "Ask for less at once"});
  if (answer.how != http_answer::ending::answered || answer.cut != http_answer::damage::none) {
    out.how = answer.code == "timeout" ? http_reply::kind::silent : http_reply::kind::lost;
    out.reason = why_lost(answer);
    return out;
  }
  if (answer.status == 200 && has_type(answer, message_type)) {
    out.how = http_reply::kind::message;
    out.message = std::move(answer.body);
    return out;
  }
  auto problem = problem_in(answer);
  if (answer.status == 404) {
    out.how = http_reply::kind::unknown;
    return out;
  }
  if (problem) return refuse(std::move(*problem));
  // Of a proxy whose node is away.
  if (answer.status == 502 || answer.status == 503 || answer.status == 504) {
    out.reason = no_node(answer);
    return out;
  }
  return refuse({v1::ERROR_CODE_UNAVAILABLE, "What is at " + where + " " + no_node(answer),
                 "Give the address of api.listen in the node file, and no redirects"});
}

}  // namespace

http_link::http_link(node_address to, http_access with, std::function<void(std::function<void()>)> later)
    : to_(std::move(to)), with_(std::move(with)), later_(std::move(later)), loop_(limits_for(to_, with_)) {}

http_link::~http_link() { loop_.shut_down(); }

void http_link::send(agents::http_request what, duration limit, std::function<void(http_answer)> done) {
  auto job = std::make_unique<agents::http_job>();
  job->key.task_number = ++last_number_;  // to the loop only a number
  job->request = std::move(what);
  job->request.headers.emplace_back("Accept", std::string{message_type} + ", " + problem_type + ", application/json");
  if (!with_.token.empty()) job->request.headers.emplace_back("Authorization", "Bearer " + with_.token);
  job->deadline = std::chrono::steady_clock::now() + limit;
  job->ends_at_deadline = true;
  job->finished = [this, done = std::move(done)](http_answer answer) {
    later_([done, kept = std::make_shared<http_answer>(std::move(answer))] { done(std::move(*kept)); });
  };
  loop_.submit(std::move(job));
}

void http_link::post(const std::string& name, std::string bytes, duration limit, std::function<void(http_reply)> done) {
  agents::http_request what;
  what.method = "POST";
  what.url = to_.url + "/v1/requests/" + name;
  what.headers.emplace_back("Content-Type", message_type);
  what.body = std::move(bytes);
  send(std::move(what), limit,
       [done = std::move(done), where = to_.text](http_answer answer) { done(reply_in(std::move(answer), where)); });
}

// Whoever is unknown hears so here. The node reads no large body of a stranger, and an answer before its end may be lost.
void http_link::look(std::function<void(std::optional<error>)> done) {
  agents::http_request what;
  what.method = "GET";
  what.url = to_.url + "/v1/me";
  send(std::move(what), look_limit, [done = std::move(done)](const http_answer& answer) {
    const auto away = [&](std::string reason) { done(error{v1::ERROR_CODE_UNAVAILABLE, std::move(reason), ""}); };
    if (answer.how != http_answer::ending::answered) return away(why_lost(answer));
    if (answer.status == 200 && !header_of(answer, "fairlead-version").empty()) return done(std::nullopt);
    auto problem = problem_in(answer);
    if (!problem || answer.status == 404) return away(no_node(answer));
    done(std::move(problem));
  });
}

}  // namespace fairlead
