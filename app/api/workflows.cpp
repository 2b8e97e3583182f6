// /v1/workflows.

#include <utility>

#include "app/api/api.hpp"
#include "app/api/files.hpp"
#include "app/api/query.hpp"
#include "app/files/workflow_file.hpp"
#include "app/json/node/workflows.hpp"
#include "store/content_hash.hpp"

namespace fairlead::app::api {

namespace {

/// The body is one workflow file. Expressions and agents are checked by the node, before any shard takes the definition.
void deploy(const exchange_ptr& x, bool check_only) {
  if (x->refuse_rest()) return;
  auto file = parse_workflow("body", x->text(), nullptr);
  if (!file.problems.empty()) return x->refuse(problem_of_file(file.problems));
  v1::DeployRequest request;
  *request.mutable_definition() = std::move(file.definition);
  request.set_source(std::move(file.source));
  request.set_check_only(check_only);
  const auto name = request.definition().name();
  x->note_object(name);
  x->ask<v1::DeployRequest>(
      std::move(request),
      [x, name, check_only](const v1::DeployReply& reply) {
        json_writer out;
        write_deployed(out, name, reply);
        const auto is_new = reply.created() && !check_only;
        x->say(is_new ? 201 : 200, out.text(),
               is_new ? door::headers{{"Location", "/v1/workflows/" + door::encode_percent(name)}} : door::headers{});
      },
      deploy_time);
}

}  // namespace

void list_workflows(exchange_ptr x) {
  if (x->refuse_rest()) return;
  x->ask<v1::WorkflowListRequest>({}, [x](const v1::WorkflowListReply& reply) {
    json_writer out;
    x->say(200, out.begin_object().key("items").raw(workflow_items_json(reply)).key("next").null().end_object().text());
  });
}

void show_workflow(exchange_ptr x) {
  v1::WorkflowShowRequest request;
  take_text(*x, "version", [&](const std::string& text) {
    auto hash = store::from_hex(text);
    if (!hash || hash->size() < 4 || hash->size() > store::content_hash_bytes)
      return x->refuse_at("version", invalid("The parameter version names no version.",
                                             "Give its content_hash, or at least the first 8 digits of it, an even number."));
    request.set_content_hash(std::move(*hash));
  });
  if (x->is_over() || x->refuse_rest()) return;
  request.set_name(x->part(0));
  x->ask<v1::WorkflowShowRequest>(request, [x](const v1::WorkflowShowReply& reply) { x->say_resource(0, workflow_show_json(reply)); });
}

void deploy_workflow(exchange_ptr x) { deploy(x, false); }
void check_workflow(exchange_ptr x) { deploy(x, true); }

void delete_workflow(exchange_ptr x) {
  if (x->refuse_rest() || !x->read_body({})) return;
  v1::WorkflowDeleteRequest request;
  request.set_name(x->part(0));
  request.set_who(x->who());
  x->ask<v1::WorkflowDeleteRequest>(request, [x](const v1::WorkflowDeleteReply&) { x->say(200, workflow_deleted_json(x->part(0))); });
}

}  // namespace fairlead::app::api
