#include "app/door/problem.hpp"

#include <algorithm>

#include "actors/core/text/text.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::door {

namespace {

constexpr std::size_t most_sentence_bytes = 1'024;

bool may_pass(unsigned status) { return status == 429 || status == 503; }

}  // namespace

const std::vector<problem_kind>& problem_kinds() {
  static const std::vector<problem_kind> all{
      {"bad_request", 400, "The request is not sound HTTP",
       "It can be read in more than one way, or lacks a part. The connection is closed.",
       "Use an HTTP client that follows RFC 9112, and look at the proxy in front of the node."},
      {"expression", 400, "An expression is wrong", "An expression of the workflow cannot be parsed, or failed on this input.",
       "Mend the expression that the sentence names, or the input."},
      {"invalid_argument", 400, "The request is wrong",
       "A field, a parameter or the body is not what is expected. Repeating it cannot help.", "Mend what `errors` points to."},
      {"unauthenticated", 401, "Nobody knows who asks",
       "The request needs a token or a client certificate that is known, has not expired and was not revoked.",
       "Send a token of `fairlead token create` in the header Authorization, or a client certificate."},
      {"cross_origin", 403, "A web page of another site sent this",
       "Requests that change something are taken from programs, and from pages of this node.",
       "Send it from a program, or from a page of this node."},
      {"forbidden", 403, "Whoever asks may not do this",
       "The sentence names the right that is missing, which roles give, or the namespace.",
       "Ask with a token that has a role with this right. GET /v1/me shows roles and rights."},
      {"not_found", 404, "There is no such thing", "The path, the task, the workflow, the job or the agent is unknown.",
       "Check the spelling. The lists of the API show what there is."},
      {"method_not_allowed", 405, "The path does not have this method", "The header Allow names the methods that it has.",
       "Use one of these methods."},
      {"not_acceptable", 406, "Only JSON is spoken here", "The header Accept leaves no room for application/json.",
       "Send Accept: application/json, or no such header."},
      {"conflict", 409, "It exists with other content", "The id was used for something else. Choose another one.",
       "Choose another id, or send the same content again."},
      {"wrong_state", 409, "The state does not allow this", "Nothing was changed. Look at the task or the job, then decide.",
       "Do what the remedy of the problem says, or nothing."},
      {"gone", 410, "This node does not carry that worker (any more)",
       "The worker has ended, is carried by another node, or this node has started again. What it holds stays its own.",
       "Register again (POST /v1/workers) with the session of the former registration, and name in `have` all tickets that the worker "
       "holds."},
      {"changed", 412, "It has changed",
       "It is not as the header If-Match says any more. Nothing was changed. Look at it again, then decide.",
       "Get it again, look at it, and send its new ETag."},
      {"too_large", 413, "The body is too large",
       "A body has at most 4 MiB, the input of a task at most 256 KiB, the output of an attempt or in a callback at most 1 MiB.",
       "Send less at once. Keep large data elsewhere, and send its address."},
      {"target_too_long", 414, "The target is too long", "Path and query have at most 32 KiB together.",
       "Send fewer or shorter parameters."},
      {"unsupported_media_type", 415, "The body is no JSON", "Send it with Content-Type: application/json.",
       "Send JSON with Content-Type: application/json. Files of workflows and jobs may be application/yaml."},
      {"range_not_satisfiable", 416, "There is no such part of the body",
       "The header Range begins behind the end of the body. The header Content-Range says how many bytes there are.",
       "Ask for a part that begins before the end, or leave the header Range out."},
      {"misdirected", 421, "The host is not this node", "The header Host names another host than those at which this node is reached.",
       "Use the address of api.listen, or add the name to api.hosts in the node file."},
      {"key_reused", 422, "The Idempotency-Key, or the callback, was used for another request",
       "A key stands for one request, with one body, and so does a callback.", "Choose another key, or send the first request as it was."},
      {"overloaded", 429, "There is too much to do", "Refused to protect what runs. Try again later.",
       "Wait as long as Retry-After says, and send it again."},
      {"headers_too_large", 431, "The headers are too large", "All headers have at most 16 KiB together.",
       "Send fewer or shorter headers."},
      {"corrupt", 500, "Stored data is damaged", "A value is not what was written. An operator has to look at the node.",
       "Run fairlead store check on the node."},
      {"disk", 500, "The disk refused", "The operating system did not read or write. An operator has to look at the node.",
       "Look at the disk and the log of the node."},
      {"inconsistent", 500, "Stored rows contradict each other", "Report this as a bug.",
       "Run fairlead store check on the node, and report what it says."},
      {"internal", 500, "A bug", "Report this with the sentence in `detail`.",
       "Report this with the sentence in `detail` and the id of the request."},
      {"store_newer", 500, "The store is of a later release", "Run the release that wrote it, or a later one.",
       "Run the release that wrote the store, or a later one."},
      {"not_implemented", 501, "The method is not known", "GET, HEAD, POST, PUT, DELETE, PATCH and OPTIONS are.",
       "Use one of these methods."},
      {"stale_epoch", 503, "Another process has taken over", "Try again: another node serves the shard now.",
       "Wait as long as Retry-After says, and send it again."},
      {"store_in_use", 503, "The store is in use", "Another process holds it. Try again later.",
       "End the other process, or wait until it ends."},
      {"unavailable", 503, "Nobody can answer now", "The node, or the shard asked for, is not up. Try again later.",
       "Wait as long as Retry-After says, and send it again. GET /v1/cluster shows the shards."},
      {"timed_out", 504, "There was no answer in time",
       "What was asked for may have been done. A request that has an id or an Idempotency-Key can be sent again.",
       "Look whether it was done, or send it again under its id or key."},
      {"store_full", 507, "There is no room", "New tasks are refused; what runs goes on. An operator has to make room.",
       "Make room on the disk of the node, or raise the limit of its store."},
  };
  return all;
}

const problem_kind* find_problem_kind(std::string_view code) {
  const auto& all = problem_kinds();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.code == code; });
  return found == all.end() ? nullptr : &*found;
}

problem problem_of(const error& why) {
  problem out{code_word(why.code), why.sentence, {}, {}, {}, false};
  out.remedy = with_requests(why.remedy, out.what_helps);
  return out;
}

answer to_answer(const problem& what, const std::string& id) {
  // It may name what came from outside.
  const auto sentence = core::clean_text(what.sentence, most_sentence_bytes);
  const auto* kind = find_problem_kind(what.code);
  if (kind == nullptr) kind = find_problem_kind("internal");
  json_writer out;
  out.begin_object().key("type").string("/v1/problems/" + std::string{kind->code}).key("title").string(kind->title);
  out.key("status").number(std::uint32_t{kind->status}).key("detail").string(sentence).key("instance").string(id);
  out.key("code").string(kind->code).key("remedy").string(what.remedy).key("retry_after_ms");
  may_pass(kind->status) ? out.number(what.retry_after_s * 1'000) : out.null();
  out.key("errors").begin_array();
  for (const auto& one : what.faults) {
    out.begin_object().key("pointer").string(one.pointer).key("sentence").string(core::clean_text(one.sentence, most_sentence_bytes));
    out.key("remedy").string(one.remedy).key("line");
    one.line == 0 ? out.null() : out.number(std::int32_t{one.line});
    out.key("column");
    one.column == 0 ? out.null() : out.number(std::int32_t{one.column});
    out.end_object();
  }
  out.end_array().key("what_helps");
  write_helps(out, what.what_helps);
  out.end_object();
  answer made{kind->status, "application/problem+json", out.text(), what.more, what.close};
  if (may_pass(kind->status)) made.more.emplace_back("Retry-After", std::to_string(what.retry_after_s));
  return made;
}

std::string kind_json(const problem_kind& kind) {
  json_writer out;
  out.begin_object().key("code").string(kind.code).key("status").number(std::uint32_t{kind.status});
  out.key("title").string(kind.title).key("meaning").string(kind.meaning).key("remedy").string(kind.remedy);
  return out.end_object().text();
}

}  // namespace fairlead::app::door
