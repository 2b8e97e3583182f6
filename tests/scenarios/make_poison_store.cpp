// Turns the deployed version of a workflow into one that this release does not compile, as a release might have stored it that took more.
// With `mend` it is put back as it was.
// Usage: make_poison_store DIRECTORY WORKFLOW poison | mend

#include <iostream>
#include <string>

#include "messages/workflow.pb.h"
#include "store/disk/one_store.hpp"
#include "store/disk/settle.hpp"
#include "store/keys.hpp"
#include "store/lmdb/store.hpp"
#include "store/load.hpp"
#include "store/rows/counters.hpp"

namespace {

constexpr const char* nothing_that_compiles = R"({"v":"${ .input | @a_format_of_a_later_release }"})";

fairlead::status change(const std::string& directory, const std::string& workflow, bool poison) {
  using namespace fairlead::store;
  if (auto settled = settle_store(directory); !settled) return settled;
  env_options options;
  options.directory = directory;
  auto opened = lmdb_store::open(options);
  if (!opened) return opened.failure();
  const auto view = (*opened)->read();
  const auto hash = view->get(table::workflow, keys::workflow(default_namespace, workflow));
  if (!hash) return hash.failure();
  if (!*hash) return fairlead::error{fairlead::v1::ERROR_CODE_NOT_FOUND, "there is no workflow " + workflow, {}};
  const auto key = keys::workflow_version(default_namespace, workflow, std::string{**hash});
  auto version = load<fairlead::v1::DeployedWorkflow>(*view, table::workflow_version, key);
  if (!version) return version.failure();
  if (!*version) return unreadable_value(table::workflow_version, key);
  auto& step = *(*version)->mutable_definition()->mutable_steps(0);
  // What it was before waits in a field that nothing else of this step uses.
  if (poison) step.mutable_undo()->set_with_json(step.with_json());
  step.set_with_json(poison ? nothing_that_compiles : step.undo().with_json());
  if (!poison) step.clear_undo();

  const auto progress = view->get_progress();
  batch out;
  out.sequence = progress.sequence + 1;
  out.epoch = progress.epoch;
  out.put(table::workflow_version, key, (*version)->SerializeAsString());
  auto counters = progress.shard;
  seal_counters(out, counters);
  return (*opened)->commit({out});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[3] : "";
  if (what != "poison" && what != "mend") {
    std::cerr << "usage: make_poison_store DIRECTORY WORKFLOW poison | mend\n";
    return 2;
  }
  const auto done = change(argv[1], argv[2], what == "poison");
  if (!done) std::cerr << done.failure().sentence << '\n';
  return done ? 0 : 1;
}
