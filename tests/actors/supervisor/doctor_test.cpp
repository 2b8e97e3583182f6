#include "actors/supervisor/doctor.hpp"

#include "tests/actors/supervisor/wake_up_world.hpp"

namespace fairlead::testing {
namespace {

using texts = std::vector<std::string>;

class doctor_test : public wake_up_world {
 protected:
  void look(bool repair = false) {
    v1::DoctorRequest request;
    request.set_repair(repair);
    found = examine(store, request);
    EXPECT_EQ(found.reply.error().code(), v1::ERROR_CODE_OK) << found.reply.error().sentence();
  }

  texts sentences() const {
    texts out;
    for (const auto& one : found.reply.findings()) out.push_back(one.task_id() + ": " + one.sentence());
    return out;
  }

  diagnosis found;
};

TEST_F(doctor_test, counts_the_live_tasks_and_names_the_one_that_stands_longest) {
  create(1);
  create(2, [](v1::TaskRecord& task) { store::testing::add_event(task, v1::EVENT_KIND_STEP_STARTED, 3'000); });
  create(3, [](v1::TaskRecord& task) {
    task.mutable_steps(0)->clear_complete_by_unix_ms();
    store::testing::park(task, 500);
  });
  create(4, [](v1::TaskRecord& task) { task = store::testing::pending_order_task(4, "t4"); });
  look();
  EXPECT_EQ(found.reply.looked_at(), 2u);
  EXPECT_EQ(found.reply.found(), 0u);
  EXPECT_EQ(found.reply.stalest_task(), "t1");
  EXPECT_EQ(found.reply.stalest_since_unix_ms(), 1'000);
}

TEST_F(doctor_test, sees_what_the_counters_do_not_show) {
  create(1);
  create(2, [](v1::TaskRecord& task) { task.set_due_unix_ms(0); });
  lose_entry(1);
  add_entry(1, 9'000);
  look();
  EXPECT_EQ(sentences(), (texts{"t1: the entry of the task in the due index is missing", "t2: the task needs a wake-up but has none",
                                "t1: the due index has an entry that does not match the task's row"}));
  EXPECT_FALSE(found.reply.findings(0).repaired());
  EXPECT_TRUE(found.repairs.items().empty());
}

TEST_F(doctor_test, asks_for_the_repair_of_each_task_once) {
  create(1);
  create(2, [](v1::TaskRecord& task) { task.set_due_unix_ms(0); });
  lose_entry(1);
  add_entry(1, 9'000);
  look(true);
  ASSERT_EQ(found.repairs.items_size(), 2);
  EXPECT_EQ(found.repairs.items(0).task_number(), 1u);
  EXPECT_EQ(found.repairs.items(1).task_number(), 2u);
  for (const auto& item : found.repairs.items()) {
    EXPECT_TRUE(item.repair());
    EXPECT_EQ(item.step(), 0u);
  }
  EXPECT_TRUE(found.reply.findings(0).repaired());
}

TEST_F(doctor_test, names_a_running_step_without_a_lease_and_does_not_claim_to_cure_it) {
  create(1, [](v1::TaskRecord& task) { task.mutable_steps(0)->clear_complete_by_unix_ms(); });
  look(true);
  ASSERT_EQ(found.reply.findings_size(), 1);
  EXPECT_NE(found.reply.findings(0).sentence().find("step reserve"), std::string::npos) << found.reply.findings(0).sentence();
  EXPECT_FALSE(found.reply.findings(0).repaired());
  EXPECT_TRUE(found.repairs.items().empty());
}

TEST_F(doctor_test, tells_a_hundred_of_many_and_how_many_there_are_and_repairs_them_all) {
  for (std::uint64_t i = 1; i <= 2'100; ++i) create(i);
  for (std::uint64_t i = 1; i <= 2'100; i += 10) lose_entry(i);
  look(true);
  EXPECT_EQ(found.reply.looked_at(), 2'100u);
  EXPECT_EQ(found.reply.found(), 210u);
  EXPECT_EQ(found.reply.findings_size(), 100);
  EXPECT_EQ(found.repairs.items_size(), 210);
}

TEST_F(doctor_test, says_which_row_it_could_not_read) {
  create(1);
  store.damage(store::table::task, store::keys::task(store::default_namespace, 1));
  EXPECT_EQ(examine(store, {}).reply.error().code(), v1::ERROR_CODE_CORRUPT);
}

}  // namespace
}  // namespace fairlead::testing
