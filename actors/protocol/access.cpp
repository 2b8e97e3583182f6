#include "actors/protocol/access.hpp"

#include <algorithm>

namespace fairlead {

namespace {

constexpr std::size_t longest_name = 64;

}  // namespace

const std::vector<right_word>& right_words() {
  static const std::vector<right_word> all{
      {right::look, "look", "look at workflows, jobs, agents, alerts and nodes"},
      {right::see_own_tasks, "see_own_tasks", "look at its own tasks or those of others"},
      {right::see_tasks, "see_tasks", "look at everybody's tasks"},
      {right::payloads, "payloads", "read inputs and outputs of everybody's tasks"},
      {right::submit, "submit", "submit tasks"},
      {right::act, "act", "act on tasks, jobs, alerts and agents"},
      {right::deploy, "deploy", "change and delete workflows and jobs"},
      {right::administer, "administer", "act on nodes or read the audit"},
      {right::webhooks, "webhooks", "have status events sent to a URL"},
      {right::work, "work", "take and report attempts as a worker of its agents"},
      {right::vouch, "vouch", "vouch for the death of a worker that was heard lately"},
  };
  return all;
}

const std::vector<role>& roles() {
  static const std::vector<role> all{
      {"viewer", {right::look, right::see_own_tasks, right::see_tasks}},
      {"client", {right::submit, right::see_own_tasks}},
      {"operator", {right::look, right::see_own_tasks, right::see_tasks, right::act}},
      {"admin", right_set::all()},
      {"payloads", {right::payloads}},
      {"deploy", {right::look, right::deploy}},
      {"webhooks", {right::webhooks}},
      {"agent", {right::work}},
      {"vouch", {right::vouch}},
  };
  return all;
}

std::string role_words() {
  std::string out;
  for (const auto& one : roles()) (out += out.empty() ? "" : ", ") += one.word;
  return out;
}

const role* find_role(std::string_view word) {
  const auto& all = roles();
  const auto found = std::find_if(all.begin(), all.end(), [&](const role& one) { return one.word == word; });
  return found == all.end() ? nullptr : &*found;
}

bool is_principal_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@-") == std::string_view::npos;
}

bool is_namespace_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::string_view{"._-"}.find(name.front()) == std::string_view::npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == std::string_view::npos;
}

}  // namespace fairlead
