#include "store/rows/worker_rows.hpp"

#include <map>

#include "store/keys.hpp"
#include "store/memory/memory_store.hpp"
#include "store/meta_rows.hpp"
#include "tests/store/fixture.hpp"

namespace fairlead::store {
namespace {

using namespace testing;

struct worker_rows : ::testing::Test {
  memory_store it;
  test_shard shard{it};

  template <class Write>
  void write(Write&& write) {
    auto one = shard.next();
    write(one);
    shard.expect_committed(std::move(one));
  }

  static v1::WorkerRecord given(std::uint64_t incarnation) {
    v1::WorkerRecord out;
    out.set_agent("payment");
    out.set_incarnation(incarnation);
    return out;
  }

  std::map<std::string, std::uint64_t> kept() {
    std::map<std::string, std::uint64_t> out;
    const auto done = for_each_worker(*it.read(), [&](std::string_view instance, const v1::WorkerRecord& record) {
      out.emplace(instance, record.incarnation());
      return true;
    });
    EXPECT_TRUE(done.ok()) << done.failure().sentence;
    return out;
  }
};

TEST_F(worker_rows, are_read_back_by_instance) {
  const auto longest = std::string(256, 'i');
  write([&](batch& one) {
    put_worker(one, "w/1", given(1));
    put_worker(one, "w/2", given(2));
    put_worker(one, longest, given(3));
    put_worker(one, "w/2", given(4));
  });
  EXPECT_EQ(kept(), (std::map<std::string, std::uint64_t>{{"w/1", 1}, {"w/2", 4}, {longest, 3}}));
  write([](batch& one) { erase_worker(one, "w/1"); });
  EXPECT_EQ(kept().count("w/1"), 0U);
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(worker_rows, have_a_key_beside_them) {
  const auto none = load_work_key(*it.read());
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none);
  v1::WorkKey key;
  key.set_key(std::string(32, '\0'));
  key.mutable_lineage()->set_bits(7);
  write([&](batch& one) { put_work_key(one, key); });
  const auto known = load_work_key(*it.read());
  ASSERT_TRUE(known.ok() && *known);
  EXPECT_EQ((*known)->key(), key.key());
  EXPECT_EQ((*known)->lineage().bits(), 7U);
  EXPECT_TRUE(kept().empty());
}

TEST_F(worker_rows, are_found_to_be_unsound) {
  const auto worker = keys::meta(std::string{meta::worker_rows} + "w/1"), key = keys::meta(meta::work_key_row);
  EXPECT_FALSE(unsound_worker_row(worker, given(1).SerializeAsString()));
  EXPECT_TRUE(unsound_worker_row(worker, given(0).SerializeAsString()));
  EXPECT_TRUE(unsound_worker_row(worker, "\xff"));
  EXPECT_TRUE(unsound_worker_row(keys::meta(meta::worker_rows), given(1).SerializeAsString())) << "of no instance";
  EXPECT_TRUE(unsound_worker_row(key, ""));
  EXPECT_TRUE(unsound_worker_row(key, "\xff"));
  EXPECT_FALSE(unsound_worker_row(keys::meta(meta::boot_row), "\xff")) << "a row of another kind";
  write([&](batch& one) {
    one.put(table::meta, worker, "\xff");
    one.put(table::meta, key, "\xff");
  });
  EXPECT_FALSE(for_each_worker(*it.read(), [](std::string_view, const v1::WorkerRecord&) { return true; }).ok());
  EXPECT_FALSE(load_work_key(*it.read()).ok());
}

}  // namespace
}  // namespace fairlead::store
