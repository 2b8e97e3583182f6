#include "store/keys.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "store/content_hash.hpp"

namespace fairlead::store {
namespace {

const std::string hash16 = "0123456789abcdef";

TEST(keys, have_the_bytes_that_are_documented) {
  EXPECT_EQ(to_hex(keys::meta("boot")),
            "00000000"
            "626f6f74");
  EXPECT_EQ(to_hex(keys::task(1, 0x0102)),
            "00000001"
            "0000000000000102");
  EXPECT_EQ(to_hex(keys::task_id(1, "o-1")),
            "00000001"
            "6f2d31");
  EXPECT_EQ(to_hex(keys::due(1, 1'700'000'000'000, 5)),
            "00000001"
            "0000018bcfe56800"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::pending(1, 7, 5)),
            "00000001"
            "0000000000000007"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::held(1, held_why::parked, 5)),
            "00000001"
            "6b"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::held(1, held_why::paused, 5)),
            "00000001"
            "70"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::finished(1, 3, 9, 5)),
            "00000001"
            "03"
            "0000000000000009"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::by_workflow(1, "ab", 5)),
            "00000001"
            "6162"
            "00"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::by_label(1, "k", "vv", 5)),
            "00000001"
            "6b"
            "00"
            "7676"
            "00"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::history(1, 5, 25)),
            "00000001"
            "0000000000000005"
            "00000019");
  EXPECT_EQ(to_hex(keys::payload(1, 5, 2)),
            "00000001"
            "0000000000000005"
            "00000002");
  EXPECT_EQ(to_hex(keys::workflow(1, "ab")),
            "00000001"
            "6162");
  EXPECT_EQ(to_hex(keys::workflow_version(1, "ab", hash16)),
            "00000001"
            "6162"
            "00" +
                to_hex(hash16));
  EXPECT_EQ(to_hex(keys::alert(1, 5)),
            "00000001"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::outbox(1, hash16, 5)), "00000001" + to_hex(hash16) + "0000000000000005");
  EXPECT_EQ(to_hex(keys::reply_address(1, hash16)), "00000001" + to_hex(hash16));
  EXPECT_EQ(to_hex(keys::unresolved_alert(1, 5)),
            "00000001"
            "0000000000000005");
  EXPECT_EQ(to_hex(keys::job(1, "ab")),
            "00000001"
            "6162");
  EXPECT_EQ(to_hex(keys::job_due(1, 1'700'000'000'000, 7, "ab")),
            "00000001"
            "0000018bcfe56800"
            "00000007"
            "6162");
  EXPECT_EQ(to_hex(keys::launch(1, "ab", 1'700'000'000'000)),
            "00000001"
            "6162"
            "00"
            "0000018bcfe56800");
  EXPECT_EQ(to_hex(keys::launch_ready(1, ready_for::room, 7, 1'700'000'000'000, "ab")),
            "00000001"
            "72"
            "00000007"
            "0000018bcfe56800"
            "6162");
  EXPECT_EQ(to_hex(keys::launch_ready(1, ready_for::agents, 7, 9, "ab")),
            "00000001"
            "61"
            "00000007"
            "0000000000000009"
            "6162");
}

TEST(keys, of_an_address_that_is_no_hash_are_a_bug) {
  EXPECT_THROW(keys::outbox(1, "short", 5), std::logic_error);
  EXPECT_THROW(keys::reply_address(1, hash16 + "x"), std::logic_error);
}

TEST(keys, of_one_outbox_stand_together_in_the_order_of_their_positions) {
  const auto prefix = keys::outbox_prefix(1, hash16);
  EXPECT_LT(std::string_view(prefix), std::string_view(keys::outbox(1, hash16, 0)));
  EXPECT_LT(std::string_view(keys::outbox(1, hash16, 255)), std::string_view(keys::outbox(1, hash16, 256)));
  const auto bound = keys::after(prefix);
  EXPECT_LT(std::string_view(keys::outbox(1, hash16, std::numeric_limits<std::uint64_t>::max())), bound);
  EXPECT_GE(std::string_view(keys::outbox(1, "0123456789abcdeg", 0)), bound);
}

TEST(keys, table_numbers_and_names_are_for_ever) {
  const char* names[] = {"meta",
                         "task",
                         "task_id",
                         "due",
                         "pending",
                         "held",
                         "finished",
                         "by_workflow",
                         "by_label",
                         "history",
                         "payload",
                         "workflow",
                         "workflow_version",
                         "alert",
                         "outbox",
                         "reply_address",
                         "unresolved_alert",
                         "service",
                         "job",
                         "job_due",
                         "launch",
                         "launch_ready"};
  static_assert(std::size(names) == table_count);
  for (int i = 0; i < table_count; ++i) EXPECT_STREQ(table_name(static_cast<table>(i)), names[i]);
}

TEST(keys, sort_as_their_numbers_do) {
  EXPECT_LT(std::string_view(keys::due(1, 255, 9)), std::string_view(keys::due(1, 256, 1)));
  EXPECT_LT(std::string_view(keys::due(1, 256, 1)), std::string_view(keys::due(1, 256, 2)));
  EXPECT_LT(std::string_view(keys::task(1, std::numeric_limits<std::uint64_t>::max())), std::string_view(keys::task(2, 0)));
}

TEST(keys, of_jobs_sort_by_time_then_by_priority_then_by_name) {
  const auto due = [](std::int64_t at, std::int32_t priority, const char* name) {
    return keys::job_due(1, at, launch_order(priority), name);
  };
  EXPECT_LT(due(255, -9, "b"), due(256, 9, "a"));
  EXPECT_LT(due(256, 1, "b"), due(256, 0, "a"));
  EXPECT_LT(due(256, 0, "b"), due(256, -1, "a"));
  EXPECT_LT(due(256, 0, "a"), due(256, 0, "b"));
  const auto ready = [](std::int32_t priority, std::int64_t nominal, const char* name) {
    return keys::launch_ready(1, ready_for::room, launch_order(priority), nominal, name);
  };
  EXPECT_LT(ready(1, 256, "b"), ready(0, 255, "a"));
  EXPECT_LT(ready(0, 255, "b"), ready(0, 256, "a"));
  const auto prefix = keys::launch_ready_prefix(1, ready_for::agents);
  const auto one = keys::launch_ready(1, ready_for::agents, 0, 0, "a");
  EXPECT_LT(std::string_view(prefix), one);
  EXPECT_LT(one, keys::after(prefix));
  EXPECT_GE(ready(std::numeric_limits<std::int32_t>::max(), 0, "a"), keys::after(prefix));
}

TEST(keys, launch_order_puts_the_highest_priority_first_to_both_ends) {
  const auto lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(launch_order(highest), 0u);
  EXPECT_LT(launch_order(1), launch_order(0));
  EXPECT_LT(launch_order(0), launch_order(-1));
  EXPECT_EQ(launch_order(lowest), std::numeric_limits<std::uint32_t>::max());
}

TEST(keys, of_one_jobs_launches_stand_together_in_the_order_of_their_times) {
  const auto prefix = keys::launch_prefix(1, "ab");
  EXPECT_LT(prefix, keys::launch(1, "ab", 0));
  EXPECT_LT(keys::launch(1, "ab", 255), keys::launch(1, "ab", 256));
  EXPECT_LT(keys::launch(1, "ab", std::numeric_limits<std::int64_t>::max()), keys::after(prefix));
  EXPECT_GE(keys::launch(1, "ab!", 0), keys::after(prefix));
}

TEST(keys, decode_to_what_was_encoded) {
  EXPECT_EQ(keys::decode_meta(keys::meta("boot")), "boot");
  EXPECT_EQ(keys::decode_task(keys::task(1, 77))->number, 77u);
  EXPECT_EQ(keys::decode_task_id(keys::task_id(1, "o-1"))->name, "o-1");
  EXPECT_EQ(keys::decode_due(keys::due(1, 1'234, 5))->due_unix_ms, 1'234);
  EXPECT_EQ(keys::decode_pending(keys::pending(1, 99, 5))->order, 99u);
  EXPECT_EQ(keys::decode_held(keys::held(1, held_why::paused, 5))->why, held_why::paused);
  const auto finished = *keys::decode_finished(keys::finished(1, 3, 9, 5));
  EXPECT_EQ(finished.state, 3);
  EXPECT_EQ(finished.finished_at_unix_ms, 9);
  EXPECT_EQ(finished.number, 5u);
  const auto by_workflow_bytes = keys::by_workflow(1, "order", 5);
  EXPECT_EQ(keys::decode_by_workflow(by_workflow_bytes)->workflow, "order");
  const auto label_bytes = keys::by_label(1, "shop", "", 5);
  const auto label = *keys::decode_by_label(label_bytes);
  EXPECT_EQ(label.key, "shop");
  EXPECT_EQ(label.value, "");
  EXPECT_EQ(label.number, 5u);
  EXPECT_EQ(keys::decode_history(keys::history(1, 5, 25))->chunk, 25u);
  EXPECT_EQ(keys::decode_payload(keys::payload(1, 5, 2))->slot, 2u);
  const auto version_bytes = keys::workflow_version(1, "order", hash16);
  EXPECT_EQ(keys::decode_workflow_version(version_bytes)->name, "order");
  EXPECT_EQ(keys::decode_workflow_version(version_bytes)->hash, hash16);
  EXPECT_EQ(keys::decode_alert(keys::alert(1, 8))->number, 8u);
  EXPECT_EQ(keys::decode_unresolved_alert(keys::unresolved_alert(1, 8))->number, 8u);
  const auto service_bytes = keys::service(1, "payment");
  EXPECT_EQ(keys::decode_service(service_bytes)->name, "payment");
  const auto outbox_bytes = keys::outbox(1, hash16, 9);
  EXPECT_EQ(keys::decode_outbox(outbox_bytes)->address, hash16);
  EXPECT_EQ(keys::decode_outbox(outbox_bytes)->position, 9u);
  const auto address_bytes = keys::reply_address(1, hash16);
  EXPECT_EQ(keys::decode_reply_address(address_bytes)->address, hash16);
  const auto job_bytes = keys::job(1, "nightly");
  EXPECT_EQ(keys::decode_job(job_bytes)->name, "nightly");
  const auto due_bytes = keys::job_due(1, 1'234, 7, "nightly");
  const auto due = *keys::decode_job_due(due_bytes);
  EXPECT_EQ(due.due_unix_ms, 1'234);
  EXPECT_EQ(due.order, 7u);
  EXPECT_EQ(due.name, "nightly");
  const auto launch_bytes = keys::launch(1, "nightly", 1'234);
  EXPECT_EQ(keys::decode_launch(launch_bytes)->job, "nightly");
  EXPECT_EQ(keys::decode_launch(launch_bytes)->nominal_unix_ms, 1'234);
  const auto ready_bytes = keys::launch_ready(1, ready_for::agents, 7, 1'234, "nightly");
  const auto ready = *keys::decode_launch_ready(ready_bytes);
  EXPECT_EQ(ready.what, ready_for::agents);
  EXPECT_EQ(ready.order, 7u);
  EXPECT_EQ(ready.nominal_unix_ms, 1'234);
  EXPECT_EQ(ready.job, "nightly");
}

std::string encoded_again(table where, std::string_view key) {
  switch (where) {
    case table::meta: return keys::meta(*keys::decode_meta(key));
    case table::task: {
      auto k = *keys::decode_task(key);
      return keys::task(k.ns, k.number).str();
    }
    case table::task_id: {
      auto k = *keys::decode_task_id(key);
      return keys::task_id(k.ns, k.name);
    }
    case table::due: {
      auto k = *keys::decode_due(key);
      return keys::due(k.ns, k.due_unix_ms, k.number).str();
    }
    case table::pending: {
      auto k = *keys::decode_pending(key);
      return keys::pending(k.ns, k.order, k.number).str();
    }
    case table::held: {
      auto k = *keys::decode_held(key);
      return keys::held(k.ns, k.why, k.number).str();
    }
    case table::finished: {
      auto k = *keys::decode_finished(key);
      return keys::finished(k.ns, k.state, k.finished_at_unix_ms, k.number).str();
    }
    case table::by_workflow: {
      auto k = *keys::decode_by_workflow(key);
      return keys::by_workflow(k.ns, k.workflow, k.number);
    }
    case table::by_label: {
      auto k = *keys::decode_by_label(key);
      return keys::by_label(k.ns, k.key, k.value, k.number);
    }
    case table::history: {
      auto k = *keys::decode_history(key);
      return keys::history(k.ns, k.number, k.chunk).str();
    }
    case table::payload: {
      auto k = *keys::decode_payload(key);
      return keys::payload(k.ns, k.number, k.slot).str();
    }
    case table::workflow: {
      auto k = *keys::decode_workflow(key);
      return keys::workflow(k.ns, k.name);
    }
    case table::workflow_version: {
      auto k = *keys::decode_workflow_version(key);
      return keys::workflow_version(k.ns, k.name, k.hash);
    }
    case table::service: {
      auto k = *keys::decode_service(key);
      return keys::service(k.ns, k.name);
    }
    case table::alert: {
      auto k = *keys::decode_alert(key);
      return keys::alert(k.ns, k.number).str();
    }
    case table::outbox: {
      auto k = *keys::decode_outbox(key);
      return keys::outbox(k.ns, k.address, k.position).str();
    }
    case table::reply_address: {
      auto k = *keys::decode_reply_address(key);
      return keys::reply_address(k.ns, k.address).str();
    }
    case table::unresolved_alert: {
      auto k = *keys::decode_unresolved_alert(key);
      return keys::unresolved_alert(k.ns, k.number).str();
    }
    case table::job: {
      auto k = *keys::decode_job(key);
      return keys::job(k.ns, k.name);
    }
    case table::job_due: {
      auto k = *keys::decode_job_due(key);
      return keys::job_due(k.ns, k.due_unix_ms, k.order, k.name);
    }
    case table::launch: {
      auto k = *keys::decode_launch(key);
      return keys::launch(k.ns, k.job, k.nominal_unix_ms);
    }
    case table::launch_ready: {
      auto k = *keys::decode_launch_ready(key);
      return keys::launch_ready(k.ns, k.what, k.order, k.nominal_unix_ms, k.job);
    }
  }
  return {};
}

TEST(keys, any_bytes_decode_to_nothing_or_to_what_encodes_to_them_again) {
  std::mt19937_64 random(20'261);
  int decoded[table_count] = {};
  for (int round = 0; round < 20'000; ++round) {
    std::string key(random() % 40, '\0');
    for (auto& byte : key) byte = random() % 3 == 0 ? '\0' : static_cast<char>("akpr\x01\xff"[random() % 6]);
    for (int i = 0; i < table_count; ++i) {
      const auto where = static_cast<table>(i);
      EXPECT_FALSE(keys::describe(where, key).empty());
      if (!keys::decodes(where, key)) continue;
      ++decoded[i];
      EXPECT_EQ(encoded_again(where, key), key) << table_name(where) << " " << to_hex(key);
    }
  }
  for (int i = 0; i < table_count; ++i) EXPECT_GT(decoded[i], 15) << table_name(static_cast<table>(i));
}

TEST(keys, of_jobs_that_are_cut_hold_a_zero_in_the_name_or_wait_for_nothing_known_are_none) {
  const auto launch = keys::launch(1, "ab", 5), due = keys::job_due(1, 5, 7, "ab"),
             ready = keys::launch_ready(1, ready_for::room, 7, 5, "ab");
  for (std::size_t size = 0; size < launch.size(); ++size) EXPECT_FALSE(keys::decodes(table::launch, launch.substr(0, size))) << size;
  for (std::size_t size = 0; size <= due.size() - 2; ++size) EXPECT_FALSE(keys::decodes(table::job_due, due.substr(0, size))) << size;
  for (std::size_t size = 0; size <= ready.size() - 2; ++size)
    EXPECT_FALSE(keys::decodes(table::launch_ready, ready.substr(0, size))) << size;
  const std::string zero("a\0b", 3);
  EXPECT_FALSE(keys::decodes(table::job, keys::job(1, zero)));
  EXPECT_FALSE(keys::decodes(table::job_due, keys::job_due(1, 5, 7, zero)));
  EXPECT_FALSE(keys::decodes(table::launch, keys::launch(1, zero, 5)));
  EXPECT_FALSE(keys::decodes(table::launch_ready, keys::launch_ready(1, ready_for::room, 7, 5, zero)));
  EXPECT_FALSE(keys::decodes(table::launch_ready, keys::launch_ready(1, static_cast<ready_for>('x'), 7, 5, "ab")));
}

TEST(keys, after_is_the_bound_of_a_prefix_scan) {
  EXPECT_EQ(keys::after("ab"), "ac");
  EXPECT_EQ(keys::after(std::string("a\xff\xff")), "b");
  EXPECT_EQ(keys::after(std::string("\xff\xff")), "");
  const auto prefix = keys::by_workflow_prefix(1, "order");
  const auto key = keys::by_workflow(1, "order", std::numeric_limits<std::uint64_t>::max());
  EXPECT_LT(prefix, key);
  EXPECT_LT(key, keys::after(prefix));
  EXPECT_GE(keys::by_workflow(1, "order2", 0), keys::after(prefix));
}

TEST(keys, pending_order_puts_higher_priority_and_older_tasks_first_and_saturates) {
  EXPECT_LT(pending_order(1'000, 0), pending_order(1'001, 0));
  EXPECT_LT(pending_order(60'000, 1), pending_order(1, 0));
  EXPECT_LT(pending_order(0, 0), pending_order(60'001, 1));
  EXPECT_LT(pending_order(0, 1), pending_order(0, -1));
  const auto max = std::numeric_limits<std::int64_t>::max();
  const auto min = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(pending_order(max, -5), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(pending_order(min, 5), 0u);
}

TEST(keys, are_described_for_people) {
  EXPECT_EQ(keys::describe(table::task, keys::task(1, 42)), "task 42");
  EXPECT_EQ(keys::describe(table::due, keys::due(1, 17, 42)), "due 17 of task 42");
  EXPECT_EQ(keys::describe(table::by_label, keys::by_label(1, "shop", "berlin", 42)), "by_label `shop=berlin` of task 42");
  EXPECT_EQ(keys::describe(table::alert, keys::alert(1, 42)), "alert 42");
  EXPECT_EQ(keys::describe(table::outbox, keys::outbox(1, hash16, 42)), "outbox event 42 for address " + to_hex(hash16));
  EXPECT_EQ(keys::describe(table::reply_address, keys::reply_address(1, hash16)), "reply_address " + to_hex(hash16));
  EXPECT_EQ(keys::describe(table::job, keys::job(1, "nightly")), "job `nightly`");
  EXPECT_EQ(keys::describe(table::job_due, keys::job_due(1, 17, 7, "nightly")), "job_due 17 of job `nightly`");
  EXPECT_EQ(keys::describe(table::launch, keys::launch(1, "nightly", 17)), "launch 17 of job `nightly`");
  EXPECT_EQ(keys::describe(table::launch_ready, keys::launch_ready(1, ready_for::room, 7, 17, "nightly")),
            "launch_ready for room, 17 of job `nightly`");
  EXPECT_EQ(keys::describe(table::launch_ready, keys::launch_ready(1, ready_for::agents, 7, 17, "nightly")),
            "launch_ready for agents, 17 of job `nightly`");
  EXPECT_EQ(keys::describe(table::task, "ab"), "task 0x6162");
}

}  // namespace
}  // namespace fairlead::store
