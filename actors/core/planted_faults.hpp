#pragma once
// Faults that the simulator and other tests switch on, one at a time, to show that they would be seen. A checker that lets one of these
// pass proves nothing. Never set in production: there the core's pointer to them is null.

namespace fairlead::core {

struct planted_faults {
  bool act_before_commit = false;      // effects leave when decided, not when durable
  bool forget_fence = false;           // an outcome of any attempt counts for the one that is out
  bool accept_after_recovery = false;  // an outcome counts though recovery from its attempt has been decided
  bool reuse_attempt = false;          // another hand-over carries the number of the one before
  bool recover_early = false;          // a lease is taken for over long before it is
  bool reuse_key = false;              // an undo carries the key of the perform
  bool skip_needs = false;             // a step starts before what it needs is done
  bool skip_undo = false;              // a completed step is passed over when the task is undone
  bool double_undo = false;            // a step that is undone is undone once more
  bool undo_pivot = false;             // a pivot is undone like any other step
  bool wrong_order = false;            // steps are undone in the order in which they were performed
  bool perform_after_undo = false;     // the task is not drained: steps start though it is being undone
  bool pass_over_doubt = false;        // a step in doubt counts as one that never happened
  bool lose_timer = false;             // the entry in the due index is not written
  bool lose_alert = false;             // a task parks without an alert
  bool speak_after_lease = false;      // an agent goes on after complete_by and reports what it has done
  bool lose_status_event = false;      // a status event is counted and not written

  bool ack_heartbeat_before_commit = false;  // an agent is told that its lease is renewed before that is durable
  bool forget_heartbeat_lease = false;       // a renewal is acknowledged and not written
  bool ignore_breaker = false;               // steps are handed over though the breaker of their service is open
  bool ignore_limit = false;                 // more attempts are out than a limit allows
  bool ignore_label = false;                 // a step goes to an instance without the labels that it asks for
  bool retry_past_lease = false;             // a try is begun that cannot end before the lease does
  bool new_key_per_try = false;              // tries of one attempt carry keys of their own
  bool starve_low_priority = false;          // of those that wait the last goes first
  bool hand_to_drained = false;              // an instance that takes no more gets more
  bool forget_checkpoint = false;            // the next attempt begins from nothing
  bool keep_expired_key = false;             // a step in doubt is tried again under a key that its service has forgotten

  bool ignore_anchor = false;     // an agent counts its lease from when the message came in, not from when it left
  bool down_is_death = false;     // an instance that cannot be reached is taken for one that has died
  bool forget_to_resend = false;  // what an instance holds is not sent to it again when it registers anew
  bool drop_when_away = false;    // an outcome that finds no Scheduler is forgotten
  bool mix_shards = false;        // attempts of different shards that look alike are taken for one

  bool lose_launch = false;          // the mark of a job passes a time without a launch
  bool forget_skip = false;          // a time is skipped and not recorded
  bool launch_past_window = false;   // times outside the catch-up window are launched
  bool launch_superseded = false;    // with catch-up latest all are launched
  bool ignore_overlap = false;       // a launch starts though an earlier one runs
  bool launch_when_paused = false;   // a paused job is launched
  bool start_when_paused = false;    // what waits starts though its job has been paused
  bool split_launch = false;         // a launch's task is in another batch than its record and the mark
  bool backfill_what_waits = false;  // a backfill launches times whose launch waits, as if they had been skipped
  bool forget_decided = false;       // after a rewind times that have their launch are decided again

  bool mend_far_mark = false;     // a mark that is more than a minute ahead of the clock is set back unasked
  bool wait_out_rewind = false;   // a mark that went back by more than a minute passes nothing before the clock is where it had been
  bool lose_clock_alert = false;  // marks are ahead of the clock, and nobody is told
  bool keep_clock_alert = false;  // people are told so still when the clock has passed them

  bool lose_evaluation = false;  // an input is waited for, and the expression worker was never asked for it
  bool lose_slot_wait = false;   // a step that found no instance is in no queue for one
  bool lose_lease = false;       // an attempt is handed over without a lease, so that nothing ends the wait for its outcome
  bool keep_far_moment = false;  // a moment that a clock has put far away before it was set back is waited for
  bool lose_recovery = false;    // a step that has failed waits for a moment that is not written down

  bool archive_reopened = false;   // a task is taken out of the store though it has been brought back to life since it was copied
  bool archive_early = false;      // an ended task leaves the store at once
  bool move_cursor_first = false;  // an alert counts as delivered before it has arrived
  bool ignore_full = false;        // tasks are taken though the store is all but full
  bool take_unseen = false;        // a client's acknowledgement takes what it has not seen off the outbox
  bool forget_poll = false;        // who waits for the next event of a task is not answered when its time is over

  bool forget_poison = false;  // a task whose decision has crashed is not parked
  bool follow_latest = false;  // a task goes on by the newest version of its workflow
  bool stop_at_chunk = false;  // the sweep after a start ends with its first chunk

  bool offer_for_ever = false;   // what only time lets go is looked at again at once, and again
  bool report_for_ever = false;  // an outcome that was acknowledged is reported again

  bool store_other_output = false;       // a step that completes keeps what it was asked as what it gave
  bool read_other_step = false;          // a step is handed over with the input of the one before it
  bool null_for_missing = false;         // an input that cannot be made is null
  bool forget_edited_input = false;      // an operator's other input is confirmed and not kept
  bool forget_settled_output = false;    // what an operator says that a step gave is not kept
  bool undo_without_output = false;      // an undo is not told what the perform gave
  bool undo_with_perform_input = false;  // an undo gets the input of the perform
  bool lose_priority = false;            // tasks are created without their priority
  bool lose_label = false;               // and without their labels

  bool one_attempt_more = false;    // than the workflow allows
  bool one_attempt_less = false;    // than it says
  bool long_backoff = false;        // a pause is three times as long as the workflow says
  bool short_backoff = false;       // or a quarter of it
  bool ignore_retry_after = false;  // a service that asks to be left alone is not
  bool short_cool_off = false;      // the long wait is half as long
  bool late_recovery = false;       // an attempt whose time has come waits for twenty seconds more

  bool keep_task_alert = false;     // a task goes on, and its alert stays
  bool keep_breaker_alert = false;  // a breaker is closed, and its alert stays
  bool refuse_awaited = false;      // an outcome that a step waits for is refused
  bool accept_unknown = false;      // an outcome that nobody waits for is said to be taken

  bool lose_notice = false;         // nobody is told that a task has ended
  bool keep_snapshot = false;       // what is read may be older than what was told
  bool take_old_rows = false;       // rows that a courier meant for an earlier Scheduler are taken off once more
  bool renew_too_long = false;      // a renewal counts from the end of the lease before
  bool renew_from_receipt = false;  // an agent counts its renewal from when it hears of it
  bool obey_old_epoch = false;      // an agent begins what an earlier Scheduler hands over
  bool take_old_epoch = false;      // a store takes what an earlier Scheduler writes

  bool window_from_nominal = false;  // the start window of a launch that is caught up ends where that of one on time would

  bool keep_attempts_on_restore = false;  // attempts of a restored shard go on from the numbers of its backup
  bool keep_numbers_on_restore = false;   // and so do those of its tasks and alerts
  bool restore_without_doubt = false;     // a step that was not completed counts as one that has not been performed since
  bool obey_lost_lineage = false;         // an agent goes on with what an earlier lineage has handed over
};

}  // namespace fairlead::core
