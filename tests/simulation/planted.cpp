#include "tests/simulation/planted.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "tests/simulation/workers.hpp"

namespace fairlead::simulation {

namespace {

constexpr std::uint64_t most_seeds = 20'000;
// Most are seen at the seed where the search begins, and those that never end cost much a seed.
constexpr std::uint64_t first_seeds = 2;
constexpr std::uint64_t most_seeds_at_a_time = 256;

using fault = bool core::planted_faults::*;

struct planted_fault {
  const char* name;
  fault which;
  std::uint64_t near = 1;  // the search begins here: a seed by which it was seen once, so that not all before it are run each time
};

constexpr planted_fault all_faults[] = {
    {"act_before_commit", &core::planted_faults::act_before_commit},
    {"forget_fence", &core::planted_faults::forget_fence, 85},
    {"accept_after_recovery", &core::planted_faults::accept_after_recovery, 52},
    {"reuse_attempt", &core::planted_faults::reuse_attempt},
    {"recover_early", &core::planted_faults::recover_early, 19},
    {"reuse_key", &core::planted_faults::reuse_key},
    {"skip_needs", &core::planted_faults::skip_needs},
    {"ignore_when", &core::planted_faults::ignore_when},
    {"skip_wanted", &core::planted_faults::skip_wanted},
    {"go_on_in_doubt", &core::planted_faults::go_on_in_doubt, 83},
    {"same_key_each_round", &core::planted_faults::same_key_each_round, 7},
    {"ignore_schema", &core::planted_faults::ignore_schema, 3},
    {"ignore_until", &core::planted_faults::ignore_until, 7},
    {"repeat_at_once", &core::planted_faults::repeat_at_once, 7},
    {"short_wait", &core::planted_faults::short_wait, 58},
    {"lose_early_signal", &core::planted_faults::lose_early_signal, 31},
    {"keep_taken_signal", &core::planted_faults::keep_taken_signal, 62},
    {"lose_signal_data", &core::planted_faults::lose_signal_data, 14},
    {"migrate_begun", &core::planted_faults::migrate_begun, 63},
    {"migrate_keeps_order", &core::planted_faults::migrate_keeps_order, 45},
    {"lose_callback", &core::planted_faults::lose_callback, 2},
    {"lose_early_callback", &core::planted_faults::lose_early_callback, 2},
    {"complete_at_acceptance", &core::planted_faults::complete_at_acceptance, 2},
    {"accept_old_callback", &core::planted_faults::accept_old_callback, 771},
    {"keep_key_after_fault", &core::planted_faults::keep_key_after_fault, 44},
    {"forget_callback_end", &core::planted_faults::forget_callback_end, 60},
    {"drop_forgets_undo", &core::planted_faults::drop_forgets_undo, 198},
    {"join_starts_early", &core::planted_faults::join_starts_early, 86},
    {"end_before_dropped", &core::planted_faults::end_before_dropped, 1243},
    {"forget_failed_end", &core::planted_faults::forget_failed_end, 267},
    {"finally_twice", &core::planted_faults::finally_twice},
    {"finally_skipped", &core::planted_faults::finally_skipped, 7},
    {"finally_before_drain", &core::planted_faults::finally_before_drain, 183},
    {"after_failure_of_completed", &core::planted_faults::after_failure_of_completed, 20},
    {"skip_undo", &core::planted_faults::skip_undo},
    {"skip_undo_of_failed", &core::planted_faults::skip_undo_of_failed, 40},
    {"undo_failed_anyway", &core::planted_faults::undo_failed_anyway, 3},
    {"double_undo", &core::planted_faults::double_undo},
    {"undo_pivot", &core::planted_faults::undo_pivot, 3},
    {"wrong_order", &core::planted_faults::wrong_order},
    {"perform_after_undo", &core::planted_faults::perform_after_undo, 19},
    {"pass_over_doubt", &core::planted_faults::pass_over_doubt, 11},
    {"lose_timer", &core::planted_faults::lose_timer},
    {"lose_alert", &core::planted_faults::lose_alert, 4},
    {"speak_after_lease", &core::planted_faults::speak_after_lease, 3},
    {"lose_status_event", &core::planted_faults::lose_status_event},
    {"ack_heartbeat_before_commit", &core::planted_faults::ack_heartbeat_before_commit},
    {"forget_heartbeat_lease", &core::planted_faults::forget_heartbeat_lease},
    {"ignore_breaker", &core::planted_faults::ignore_breaker, 7},
    {"ignore_limit", &core::planted_faults::ignore_limit},
    {"ignore_label", &core::planted_faults::ignore_label, 5},
    {"retry_past_lease", &core::planted_faults::retry_past_lease},
    {"new_key_per_try", &core::planted_faults::new_key_per_try, 7},
    {"starve_low_priority", &core::planted_faults::starve_low_priority, 32},
    {"hand_to_drained", &core::planted_faults::hand_to_drained, 12},
    {"forget_checkpoint", &core::planted_faults::forget_checkpoint, 72},
    {"keep_expired_key", &core::planted_faults::keep_expired_key, 68},
    {"ignore_anchor", &core::planted_faults::ignore_anchor, 10},
    {"down_is_death", &core::planted_faults::down_is_death, 10},
    {"forget_to_resend", &core::planted_faults::forget_to_resend, 10},
    {"drop_when_away", &core::planted_faults::drop_when_away, 8},
    {"mix_shards", &core::planted_faults::mix_shards},
    {"lose_launch", &core::planted_faults::lose_launch},
    {"lose_log", &core::planted_faults::lose_log},
    {"forget_missed", &core::planted_faults::forget_missed, 7},
    {"forget_skip", &core::planted_faults::forget_skip, 7},
    {"launch_past_window", &core::planted_faults::launch_past_window, 7},
    {"launch_superseded", &core::planted_faults::launch_superseded, 7},
    {"ignore_overlap", &core::planted_faults::ignore_overlap, 8},
    {"count_parked_launches", &core::planted_faults::count_parked_launches, 12},
    {"replace_parked", &core::planted_faults::replace_parked, 41},
    {"launch_when_paused", &core::planted_faults::launch_when_paused, 8},
    {"start_when_paused", &core::planted_faults::start_when_paused, 12},
    {"split_launch", &core::planted_faults::split_launch},
    {"backfill_what_waits", &core::planted_faults::backfill_what_waits},
    {"forget_decided", &core::planted_faults::forget_decided, 76},
    {"mend_far_mark", &core::planted_faults::mend_far_mark, 12},
    {"wait_out_rewind", &core::planted_faults::wait_out_rewind, 460},
    {"lose_clock_alert", &core::planted_faults::lose_clock_alert, 12},
    {"keep_clock_alert", &core::planted_faults::keep_clock_alert},
    {"lose_evaluation", &core::planted_faults::lose_evaluation, 10},
    {"lose_slot_wait", &core::planted_faults::lose_slot_wait},
    {"lose_lease", &core::planted_faults::lose_lease},
    {"keep_far_moment", &core::planted_faults::keep_far_moment, 936},
    {"lose_recovery", &core::planted_faults::lose_recovery, 2},
    {"archive_reopened", &core::planted_faults::archive_reopened, 191},
    {"archive_early", &core::planted_faults::archive_early},
    {"keep_deleted_copies", &core::planted_faults::keep_deleted_copies, 23},
    {"delete_alive", &core::planted_faults::delete_alive},
    {"start_early", &core::planted_faults::start_early},
    {"lose_start", &core::planted_faults::lose_start},
    {"move_cursor_first", &core::planted_faults::move_cursor_first},
    {"lose_told", &core::planted_faults::lose_told, 7},
    {"tell_end_early", &core::planted_faults::tell_end_early},
    {"ignore_full", &core::planted_faults::ignore_full, 1'256},
    {"take_unseen", &core::planted_faults::take_unseen, 7},
    {"forget_poll", &core::planted_faults::forget_poll},
    {"forget_poison", &core::planted_faults::forget_poison, 10},
    {"follow_latest", &core::planted_faults::follow_latest, 59},
    {"stop_at_chunk", &core::planted_faults::stop_at_chunk, 191},
    {"offer_for_ever", &core::planted_faults::offer_for_ever},
    {"report_for_ever", &core::planted_faults::report_for_ever},
    {"store_other_output", &core::planted_faults::store_other_output},
    {"read_other_step", &core::planted_faults::read_other_step},
    {"null_for_missing", &core::planted_faults::null_for_missing, 59},
    {"forget_edited_input", &core::planted_faults::forget_edited_input, 16},
    {"forget_settled_output", &core::planted_faults::forget_settled_output, 22},
    {"undo_without_output", &core::planted_faults::undo_without_output},
    {"undo_with_perform_input", &core::planted_faults::undo_with_perform_input},
    {"lose_priority", &core::planted_faults::lose_priority, 4},
    {"lose_label", &core::planted_faults::lose_label},
    {"one_attempt_more", &core::planted_faults::one_attempt_more, 3},
    {"one_attempt_less", &core::planted_faults::one_attempt_less, 13},
    {"half_retry_for", &core::planted_faults::half_retry_for, 265},
    {"double_retry_for", &core::planted_faults::double_retry_for, 3173},
    {"ignore_rule", &core::planted_faults::ignore_rule, 19},
    {"count_rules_together", &core::planted_faults::count_rules_together, 81},
    {"long_backoff", &core::planted_faults::long_backoff},
    {"short_backoff", &core::planted_faults::short_backoff, 3},
    {"ignore_retry_after", &core::planted_faults::ignore_retry_after, 3},
    {"short_cool_off", &core::planted_faults::short_cool_off, 30},
    {"late_recovery", &core::planted_faults::late_recovery, 12},
    {"fail_in_doubt", &core::planted_faults::fail_in_doubt, 29},
    {"repeat_in_doubt", &core::planted_faults::repeat_in_doubt, 10},
    {"start_while_failing", &core::planted_faults::start_while_failing, 265},
    {"forget_abandoned", &core::planted_faults::forget_abandoned, 1'048},
    {"terminate_without_doubt", &core::planted_faults::terminate_without_doubt, 1'036},
    {"keep_task_alert", &core::planted_faults::keep_task_alert, 8},
    {"keep_breaker_alert", &core::planted_faults::keep_breaker_alert},
    {"refuse_awaited", &core::planted_faults::refuse_awaited, 3},
    {"accept_unknown", &core::planted_faults::accept_unknown, 12},
    {"lose_notice", &core::planted_faults::lose_notice},
    {"keep_snapshot", &core::planted_faults::keep_snapshot},
    {"take_old_rows", &core::planted_faults::take_old_rows, 4'885},
    {"renew_too_long", &core::planted_faults::renew_too_long, 4},
    {"renew_from_receipt", &core::planted_faults::renew_from_receipt, 10'253},
    {"obey_old_epoch", &core::planted_faults::obey_old_epoch, 721},
    {"take_old_epoch", &core::planted_faults::take_old_epoch, 16},
    {"window_from_nominal", &core::planted_faults::window_from_nominal, 8},
    {"keep_attempts_on_restore", &core::planted_faults::keep_attempts_on_restore, 285},
    {"keep_numbers_on_restore", &core::planted_faults::keep_numbers_on_restore, 6},
    {"restore_without_doubt", &core::planted_faults::restore_without_doubt, 285},
    {"obey_lost_lineage", &core::planted_faults::obey_lost_lineage, 1'352},
    {"leave_unconfirmed", &core::planted_faults::leave_unconfirmed, 7'095},
    {"strange_clock", &core::planted_faults::strange_clock},
    {"follow_while_leading", &core::planted_faults::follow_while_leading, 348},
    {"keep_lead", &core::planted_faults::keep_lead, 2},
    {"skip_archives", &core::planted_faults::skip_archives, 390},
    {"keep_replica_id", &core::planted_faults::keep_replica_id, 168},
    {"begin_unshown", &core::planted_faults::begin_unshown, 2},
    {"move_without_copy", &core::planted_faults::move_without_copy},
    {"copy_identity", &core::planted_faults::copy_identity, 11},
    {"skip_unknown", &core::planted_faults::skip_unknown, 23'283},
    {"raise_format_early", &core::planted_faults::raise_format_early, 67},
    {"end_at_damage", &core::planted_faults::end_at_damage, 3},
    {"keep_difference", &core::planted_faults::keep_difference, 14},
    {"count_wait_twice", &core::planted_faults::count_wait_twice, 2},
    {"whole_lease_again", &core::planted_faults::whole_lease_again, 28},
    {"confirm_next_answer", &core::planted_faults::confirm_next_answer, 33},
    {"drop_unconfirmed", &core::planted_faults::drop_unconfirmed, 33},
    {"ignore_attempt_of_ticket", &core::planted_faults::ignore_attempt_of_ticket, 33},
    {"accept_unheld", &core::planted_faults::accept_unheld, 70},
    {"ignore_have", &core::planted_faults::ignore_have, 534},
    {"new_incarnation_on_move", &core::planted_faults::new_incarnation_on_move, 2},
    {"take_over_alive", &core::planted_faults::take_over_alive, 23},
    {"reuse_incarnation", &core::planted_faults::reuse_incarnation, 2},
    {"give_back_carried", &core::planted_faults::give_back_carried, 41},
    {"keep_given_back", &core::planted_faults::keep_given_back, 33},
    {"ignore_drain", &core::planted_faults::ignore_drain, 15},
    {"send_though_drained", &core::planted_faults::send_though_drained, 3'538},
    {"leave_holding", &core::planted_faults::leave_holding, 76},
    {"give_back_abandoned", &core::planted_faults::give_back_abandoned, 76},
    {"offer_without_take", &core::planted_faults::offer_without_take, 2},
    {"ignore_most", &core::planted_faults::ignore_most, 33},
    {"answer_beat_early", &core::planted_faults::answer_beat_early, 33},
    {"renew_from_answer", &core::planted_faults::renew_from_answer, 41},
    {"child_with_task_input", &core::planted_faults::child_with_task_input, 4},
    {"child_not_undone", &core::planted_faults::child_not_undone, 61},
    {"child_not_cancelled", &core::planted_faults::child_not_cancelled, 61},
    {"child_parks_alone", &core::planted_faults::child_parks_alone, 4},
    {"child_forgets_restore", &core::planted_faults::child_forgets_restore, 2088},
    {"lose_child_end", &core::planted_faults::lose_child_end, 6},
    {"child_other_output", &core::planted_faults::child_other_output, 13},
    {"child_twice", &core::planted_faults::child_twice, 4},
    {"archive_before_parent", &core::planted_faults::archive_before_parent, 35},
    {"delete_before_parent", &core::planted_faults::delete_before_parent, 48},
    {"end_before_child", &core::planted_faults::end_before_child, 88},
    {"undo_child_alone", &core::planted_faults::undo_child_alone, 48},
    {"item_doubt_as_failed", &core::planted_faults::item_doubt_as_failed},
    {"item_with_other_input", &core::planted_faults::item_with_other_input},
    {"item_outputs_by_end", &core::planted_faults::item_outputs_by_end, 7},
    {"item_twice", &core::planted_faults::item_twice, 410},
    {"item_after_failure", &core::planted_faults::item_after_failure, 1'032},
    {"items_all_at_once", &core::planted_faults::items_all_at_once},
    {"item_not_undone", &core::planted_faults::item_not_undone, 7},
    {"lose_item_end", &core::planted_faults::lose_item_end},
};
/// They show only where several nodes hold the shard.
constexpr fault of_replicas[] = {
    &core::planted_faults::leave_unconfirmed, &core::planted_faults::strange_clock,      &core::planted_faults::follow_while_leading,
    &core::planted_faults::keep_lead,         &core::planted_faults::skip_archives,      &core::planted_faults::keep_replica_id,
    &core::planted_faults::begin_unshown,     &core::planted_faults::move_without_copy,  &core::planted_faults::copy_identity,
    &core::planted_faults::skip_unknown,      &core::planted_faults::raise_format_early, &core::planted_faults::keep_difference,
    &core::planted_faults::end_at_damage};
/// They show only where steps have lists, which few runs have.
constexpr fault of_items[] = {&core::planted_faults::item_doubt_as_failed, &core::planted_faults::item_with_other_input,
                              &core::planted_faults::item_outputs_by_end,  &core::planted_faults::item_twice,
                              &core::planted_faults::item_after_failure,   &core::planted_faults::items_all_at_once,
                              &core::planted_faults::item_not_undone,      &core::planted_faults::lose_item_end};
static_assert(sizeof(core::planted_faults) == std::size(all_faults), "every planted fault is in the list");

/// The first seed from there on by which the checker sees it. `from_seed` 0: from where it was seen once.
bool catch_one(const planted_fault& one, unsigned processes, std::uint64_t from_seed) {
  const auto [name, which, near] = one;
  const auto begin = from_seed == 0 ? near : from_seed;
  options with;
  with.planted.*which = true;
  with.always_replicated = std::find(std::begin(of_replicas), std::end(of_replicas), which) != std::end(of_replicas);
  with.always_items = std::find(std::begin(of_items), std::end(of_items), which) != std::end(of_items);
  std::string otherwise;
  auto seeds = first_seeds;
  for (auto from = begin; from < begin + most_seeds; from += std::exchange(seeds, std::min(2 * seeds, most_seeds_at_a_time))) {
    const auto found = run_seeds(with, from, seeds, false, processes, seeds);
    // What fails without the fault as well shows nothing of it.
    const auto caught = std::find_if(found.failed.begin(), found.failed.end(), [&with](const failed_seed& one) {
      options without;
      without.always_replicated = with.always_replicated;
      without.always_items = with.always_items;
      without.seed = one.seed;
      return one.by_checker && run(without).ok();
    });
    if (caught != found.failed.end()) {
      std::printf("planted %s: caught by %s at seed %llu\n", name, caught->rule.c_str(), static_cast<unsigned long long>(caught->seed));
      std::fflush(stdout);
      return true;
    }
    if (!found.failed.empty() && otherwise.empty())
      otherwise = " (but: " + found.failed.front().rule + ": " + found.failed.front().sentence + ")";
  }
  std::printf("planted %s: NOT CAUGHT in %llu seeds%s\n", name, static_cast<unsigned long long>(most_seeds), otherwise.c_str());
  std::fflush(stdout);
  return false;
}

}  // namespace

void plant(core::planted_faults& in, const std::string& name) {
  std::string known;
  for (const auto& [word, which, near] : all_faults) {
    if (name == word) {
      in.*which = true;
      return;
    }
    known += std::string{" "} + word;
  }
  throw std::invalid_argument{"there is no fault " + name + " to be planted; there are:" + known};
}

int run_planted(unsigned processes, std::uint64_t from) {
  std::size_t caught = 0;
  for (const auto& one : all_faults) caught += catch_one(one, processes, from) ? 1 : 0;
  std::printf("%zu of %zu planted faults caught\n", caught, std::size(all_faults));
  return caught == std::size(all_faults) ? 0 : 1;
}

}  // namespace fairlead::simulation
