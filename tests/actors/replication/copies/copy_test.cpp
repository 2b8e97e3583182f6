// A replica that was away for longer than entries are kept gets a copy of the state.

#include <gtest/gtest.h>

#include "store/keys.hpp"
#include "store/meta_rows.hpp"
#include "tests/actors/replication/copies/copy_world.hpp"

namespace fairlead {
namespace {

struct copy_test : testing::copy_world {
  struct copied {
    std::unique_ptr<store::tables_copy> what;
    raft::base behind;
  };
  copied make() {
    auto what = std::move(three.at(leader).tables.copy()).value();
    const auto row = what->read_tables()->get(store::table::meta, store::keys::meta(store::meta::applied_row));
    const auto at = store::meta::decode_applied(**row);
    const auto behind = three.it(leader).keep_for_copy({away, at->index, 0, what->bytes()});
    EXPECT_TRUE(behind);
    copied out;
    out.what = std::move(what);
    out.behind = behind.value_or(raft::base{});
    return out;
  }
  std::unique_ptr<store::incoming_copy> bring(const store::tables_copy& what) {
    auto out = std::move(three.at(away).tables.receive(what.bytes())).value();
    while (out->bytes() < what.bytes()) EXPECT_TRUE(out->write(*what.read(out->bytes(), 256 << 10)).ok());
    return out;
  }
  status install(const copied& of) {
    const auto incoming = bring(*of.what);
    const store::log_base base{of.behind.index, of.behind.term, of.behind.stamp_ms, *raft::encode(of.behind.who)};
    if (auto checked = three.store_of(away).check_copy(*incoming, base); !checked) return checked;
    return three.it(away).install(*incoming, of.behind);
  }
};

TEST_F(copy_test, a_replica_that_gets_one_follows_again_and_may_lead) {
  fall_behind();
  const auto of = make();
  work(10);
  ASSERT_TRUE(install(of).ok());
  expect_whole();
  EXPECT_TRUE(three.it(leader).transfer(away).ok());
  three.run();
  EXPECT_EQ(three.elect(), away);
  three.kill(leader);
  leader = away;
  work(5);
}

TEST_F(copy_test, what_was_installed_is_there_after_a_start) {
  fall_behind();
  ASSERT_TRUE(install(make()).ok());
  const auto term = three.it(away).view().term;
  three.kill(away);
  three.start(away);
  EXPECT_EQ(three.it(away).view().term, term);
  expect_whole();
  work(3);
  three.kill(away);
  three.start(away);
  expect_whole();
}

TEST_F(copy_test, whenever_the_process_ends_the_old_state_is_there_or_the_new_one) {
  for (const auto* where : {"install.before", "install.after", "install.noted"}) {
    SCOPED_TRACE(where);
    fall_behind();
    const auto of = make();
    const auto before = three.it(away).view();
    ASSERT_TRUE(store::set_failpoints(std::string{where} + "=error").ok());
    EXPECT_FALSE(install(of).ok());
    ASSERT_TRUE(store::set_failpoints("").ok());
    three.kill(away);
    three.start(away);
    const auto after = three.it(away).view();
    EXPECT_EQ(after.term, before.term);
    if (std::string{where} == "install.before") {
      EXPECT_EQ(after.last_index, before.last_index);
      ASSERT_TRUE(install(of).ok());
    } else {
      EXPECT_EQ(after.last_index, of.behind.index);
    }
    expect_whole();
    three.kill(away);
    three.start(away);
    expect_whole();
  }
}

TEST_F(copy_test, of_a_replica_whose_own_log_was_longer_is_there_after_each_start) {
  for (const auto* where : {"", "install.after", "install.noted"}) {
    SCOPED_TRACE(where);
    three.it(leader).end_copy();
    away = leader;
    // A tail that the others never get.
    three.cut_off(away);
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(three.propose(away, "tail", "of a former leader"));
    three.run();
    three.kill(away);
    three.heal();
    leader = three.elect();
    ASSERT_NE(leader, 0U);
    ASSERT_NE(leader, away);
    work(90);
    // A start begins a segment, which says how far the log went.
    for (int i = 0; i < 2; ++i) {
      three.start(away);
      three.pass(2 * replica_world::election_ms);
      if (i == 0) three.kill(away);
    }
    ASSERT_EQ(three.elect(), leader);
    ASSERT_TRUE(needs_a_copy());
    const auto of = make();
    ASSERT_TRUE(store::set_failpoints(*where == '\0' ? std::string{} : std::string{where} + "=error").ok());
    EXPECT_EQ(install(of).ok(), *where == '\0');
    ASSERT_TRUE(store::set_failpoints("").ok());
    for (int i = 0; i < 3; ++i) {
      three.kill(away);
      three.start(away);
      expect_whole();
      work(3);
    }
    // So many that the segments from before are gone.
    work(120);
    three.kill(away);
    three.start(away);
    expect_whole();
  }
}

TEST_F(copy_test, one_that_is_not_needed_or_is_damaged_changes_nothing) {
  fall_behind();
  const auto of = make();
  const auto before = three.rows(away);

  auto cut = std::move(three.at(away).tables.receive(of.what->bytes())).value();
  ASSERT_TRUE(cut->write(of.what->read(0, of.what->bytes() - 1)->substr(1)).ok());
  EXPECT_FALSE(cut->open().ok());

  auto other_end = of.behind;
  other_end.index += 1;
  const auto incoming = bring(*of.what);
  EXPECT_EQ(three.store_of(away).check_copy(*incoming, {other_end.index, 1, 0, {}}).failure().code, v1::ERROR_CODE_WRONG_STATE);
  EXPECT_EQ(three.rows(away), before);

  ASSERT_TRUE(install(of).ok());
  expect_whole();
  EXPECT_EQ(install(of).failure().code, v1::ERROR_CODE_WRONG_STATE);
  expect_whole();
}

}  // namespace
}  // namespace fairlead
