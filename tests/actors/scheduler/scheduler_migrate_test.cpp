// Tasks go on by another version of their workflow, also after a restart.

#include "actors/queries/workflow_queries.hpp"
#include "store/content_hash.hpp"
#include "tests/actors/scheduler/scheduler_world.hpp"

namespace fairlead::testing {
namespace {

class migrate_test : public scheduler_fixture {
 protected:
  migrate_test() {
    add_agent(agent("n1/svc"));
    before.set_name("order");
    after.set_name("order");
    *before.add_steps() = step_of("first", {});
    *before.add_steps() = step_of("last", {"first"});
    *after.add_steps() = step_of("first", {});
    *after.add_steps() = step_of("other", {"first"});
    *after.add_steps() = step_of("last", {"other"});
    deploy(before);
  }

  static v1::StepDefinition step_of(const std::string& name, const std::vector<std::string>& needs) {
    auto out = ::fairlead::testing::step(name, needs);
    out.mutable_undo()->set_none(true);
    return out;
  }

  v1::OperateResult migrate(const std::string& id, const v1::WorkflowDefinition& from, const v1::WorkflowDefinition& to,
                            const std::string& token = {}, bool dry_run = false) {
    v1::OperateRequest request;
    auto& action = *request.mutable_action();
    action.set_verb(v1::OPERATOR_VERB_MIGRATE);
    action.set_who("ann");
    action.set_reason("a step was missing");
    action.set_from_hash(store::definition_hash(from));
    action.set_to_hash(store::definition_hash(to));
    action.set_token(token);
    action.set_dry_run(dry_run);
    request.add_ids(id);
    node->shell.answer(request, next_ticket);
    node->settle();
    return out.operations.at(next_ticket++).results(0);
  }

  std::vector<std::string> performed() const {
    std::vector<std::string> all;
    for (const auto& one : out.performs) all.push_back(one.what.step_path());
    return all;
  }

  v1::WorkflowDefinition before, after;
};

TEST_F(migrate_test, go_on_by_the_other_version_also_after_a_restart) {
  submit(submission("t1", "1", "order"));
  deploy(after);
  const auto tried = migrate("t1", before, after, {}, true);
  EXPECT_EQ(tried.error().code(), v1::ERROR_CODE_OK) << tried.error().sentence();
  EXPECT_EQ(stored("t1")->workflow_hash(), store::definition_hash(before)) << "it was only asked";
  const auto version = stored("t1")->version();
  const auto done = migrate("t1", before, after, "once");
  ASSERT_EQ(done.error().code(), v1::ERROR_CODE_OK) << done.error().sentence();
  EXPECT_FALSE(done.repeated());
  EXPECT_EQ(stored("t1")->version(), version + 1) << "one commit, and none of the dry run";
  EXPECT_EQ(stored("t1")->workflow_hash(), store::definition_hash(after));
  ASSERT_EQ(stored("t1")->steps_size(), 3);
  const auto now = *stored("t1");
  const auto event = now.recent().rbegin();
  EXPECT_EQ(event->kind(), v1::EVENT_KIND_OPERATOR_MIGRATE);
  EXPECT_EQ(event->who(), "ann");
  EXPECT_EQ(event->detail(), "from version " + store::to_hex(store::definition_hash(before)).substr(0, 12) + " to " +
                                 store::to_hex(store::definition_hash(after)).substr(0, 12) + ": a step was missing");
  EXPECT_TRUE(migrate("t1", before, after, "once").repeated());
  EXPECT_TRUE(migrate("t1", before, after).repeated()) << "it goes by that version already";
  EXPECT_EQ(stored("t1")->version(), version + 1);
  restart();
  sweep();
  add_agent(agent("n1/svc"));
  finish_everything();
  EXPECT_EQ(stored("t1")->state(), v1::TASK_STATE_COMPLETED);
  const auto all = performed();
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ((std::vector<std::string>{all.end() - 2, all.end()}), (std::vector<std::string>{"other", "last"}));
}

TEST_F(migrate_test, refuses_what_has_begun_otherwise_and_versions_that_are_not_stored) {
  submit(submission("t1", "1", "order"));
  EXPECT_EQ(migrate("t1", before, after).error().code(), v1::ERROR_CODE_NOT_FOUND) << "it is not deployed";
  deploy(after);
  EXPECT_EQ(migrate("t1", after, before).error().code(), v1::ERROR_CODE_OK) << "it goes by that version already";
  auto third = after;
  third.mutable_steps(2)->set_timeout_ms(77'000);
  deploy(third);
  EXPECT_EQ(migrate("t1", after, third).error().code(), v1::ERROR_CODE_CHANGED);
  auto otherwise = before;
  otherwise.mutable_steps(0)->set_timeout_ms(77'000);
  deploy(otherwise);
  const auto refused = migrate("t1", before, otherwise);
  EXPECT_EQ(refused.error().code(), v1::ERROR_CODE_WRONG_STATE);
  EXPECT_NE(refused.error().sentence().find("step first has begun, and its 'timeout' differs"), std::string::npos)
      << refused.error().sentence();
  EXPECT_EQ(stored("t1")->workflow_hash(), store::definition_hash(before));
}

TEST_F(migrate_test, are_counted_by_version) {
  submit(submission("t1", "1", "order"));
  submit(submission("t2", "1", "order"));
  deploy(after);
  ASSERT_EQ(migrate("t2", before, after).error().code(), v1::ERROR_CODE_OK);
  const auto listed = list_workflows(*store.read());
  ASSERT_EQ(listed.items_size(), 1);
  ASSERT_EQ(listed.items(0).all_size(), 2);
  EXPECT_EQ(listed.items(0).all(0).content_hash(), store::definition_hash(after)) << "the current one is the first";
  EXPECT_EQ(listed.items(0).all(0).live_tasks(), 1u);
  EXPECT_EQ(listed.items(0).all(1).content_hash(), store::definition_hash(before));
  EXPECT_EQ(listed.items(0).all(1).live_tasks(), 1u);
  EXPECT_EQ(listed.items(0).all(1).parked_tasks(), 0u);
}

}  // namespace
}  // namespace fairlead::testing
