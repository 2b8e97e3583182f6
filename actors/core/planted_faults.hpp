#pragma once
// Faults that the simulator and other tests switch on, one at a time, to show that they would be seen. A checker that lets one of these
// pass proves nothing. Never set in production: there the core's pointer to them is null.

namespace fairlead::core {

struct planted_faults {
  bool act_before_commit = false;      // effects leave when decided, not when durable
  bool forget_fence = false;           // an outcome of any attempt counts for the one in progress
  bool accept_after_recovery = false;  // an outcome counts although recovery from its attempt has been decided
  bool reuse_attempt = false;          // another hand-over carries the attempt number of the one before
  bool recover_early = false;          // a lease counts as over long before its end
  bool reuse_key = false;              // an undo carries the key of the perform
  bool skip_needs = false;             // a step starts before the steps that it needs are done
  bool ignore_when = false;            // a step is performed although its `when` gives false
  bool skip_wanted = false;            // a step is skipped although its `when` gives true
  bool same_key_each_round = false;    // the rounds of a step share a key
  bool ignore_schema = false;          // a task is taken although its input does not fit the schema of its workflow
  bool ignore_until = false;           // a step is repeated when `until` gives true, and not when it gives false
  bool repeat_at_once = false;         // the next round does not wait
  bool short_wait = false;             // a step that waits goes on at once
  bool lose_early_signal = false;      // a signal that comes while no step waits is forgotten
  bool keep_taken_signal = false;      // a signal is taken by one step and stays for the next
  bool lose_signal_data = false;       // a step takes a signal without its data
  bool go_on_in_doubt = false;         // a step in doubt is passed over although nobody has said that it may
  bool drop_forgets_undo = false;      // a dropped step that is completed is not undone
  bool join_starts_early = false;      // a step starts when its join lacks one more step
  bool end_before_dropped = false;     // a task ends before its dropped steps are undone
  bool forget_failed_end = false;      // a task completes without a step although its workflow says end: failed
  bool skip_undo = false;              // a completed step is passed over when the task is undone
  bool skip_undo_of_failed = false;    // a step that has failed is passed over although its undo says also_if_failed
  bool undo_failed_anyway = false;     // a step that has failed is undone although its undo does not say also_if_failed
  bool double_undo = false;            // a step that is undone is undone once more
  bool undo_pivot = false;             // a pivot is undone like any other step
  bool wrong_order = false;            // steps are undone in the order in which they were performed
  bool perform_after_undo = false;     // steps start although the task is being undone
  bool pass_over_doubt = false;        // a step in doubt counts as never happened
  bool lose_timer = false;             // the entry in the due index is not written
  bool lose_alert = false;             // a task parks without an alert
  bool speak_after_lease = false;      // an agent goes on after complete_by and reports its work
  bool lose_status_event = false;      // a status event is counted but not written

  bool ack_heartbeat_before_commit = false;  // an agent gets the acknowledgement of a renewal before the renewal is durable
  bool forget_heartbeat_lease = false;       // a renewal is acknowledged but not written
  bool ignore_breaker = false;               // steps are handed over although the breaker of their service is open
  bool ignore_limit = false;                 // more attempts are in progress than a limit allows
  bool ignore_label = false;                 // a step goes to an instance without the labels that it asks for
  bool retry_past_lease = false;             // a try is begun that cannot end before the lease does
  bool new_key_per_try = false;              // tries of one attempt carry keys of their own
  bool starve_low_priority = false;          // the last of the waiting steps goes first
  bool hand_to_drained = false;              // an instance that takes no more work gets more
  bool forget_checkpoint = false;            // the next attempt begins without the checkpoint
  bool keep_expired_key = false;             // a step in doubt is tried again under a key that its service has forgotten

  bool ignore_anchor = false;     // an agent counts its lease from the receipt of the message, not from its sending
  bool down_is_death = false;     // an instance that cannot be reached counts as dead
  bool forget_to_resend = false;  // the attempts of an instance are not sent again when it registers anew
  bool drop_when_away = false;    // an outcome that finds no Scheduler is forgotten
  bool mix_shards = false;        // attempts of different shards with the same numbers are taken for one

  bool lose_launch = false;            // the mark of a job passes a time without a launch
  bool lose_log = false;               // what an attempt has printed is stored as nothing
  bool forget_missed = false;          // nobody is told of times that were missed for good
  bool forget_skip = false;            // a time is skipped but not recorded
  bool launch_past_window = false;     // times outside the catch-up window are launched
  bool launch_superseded = false;      // with catch-up latest all times are launched
  bool ignore_overlap = false;         // a launch starts although an earlier one runs
  bool count_parked_launches = false;  // a parked launch keeps later ones from running although its job does not say so
  bool replace_parked = false;         // a parked launch gives way to a later one
  bool launch_when_paused = false;     // a paused job is launched
  bool start_when_paused = false;      // a waiting launch starts although its job has been paused
  bool split_launch = false;           // a launch's task is in another batch than its record and the mark
  bool backfill_what_waits = false;    // a backfill launches times whose launch is waiting, as if they had been skipped
  bool forget_decided = false;         // after a rewind, times that have their launch are decided again

  bool mend_far_mark = false;     // a mark that is more than a minute ahead of the clock is set back unasked
  bool wait_out_rewind = false;   // a mark that went back by more than a minute passes nothing before the clock is where it had been
  bool lose_clock_alert = false;  // marks are ahead of the clock, and no alert is raised
  bool keep_clock_alert = false;  // that alert stays open when the clock has passed the marks

  bool lose_evaluation = false;  // a step waits for an input that the expression worker was never asked for
  bool lose_slot_wait = false;   // a step that found no instance waits in no queue
  bool lose_lease = false;       // an attempt is handed over without a lease: nothing ends the wait for its outcome
  bool keep_far_moment = false;  // a step waits for a moment that is far away because the clock was set back since
  bool lose_recovery = false;    // a failed step waits for a moment that is not written down

  bool archive_reopened = false;     // a task leaves the store although it was reopened after the archiver chose it
  bool archive_early = false;        // an ended task leaves the store at once
  bool keep_deleted_copies = false;  // what the archives hold of a deleted task stays
  bool delete_alive = false;         // a task is deleted although it has not ended
  bool move_cursor_first = false;    // an alert counts as delivered before it has arrived
  bool lose_told = false;            // of which alerts a target was told is not written
  bool tell_end_early = false;       // a target is told that an alert is resolved that is not
  bool ignore_full = false;          // tasks are taken although the store is nearly full
  bool take_unseen = false;          // a client's acknowledgement erases events that the client has not seen
  bool forget_poll = false;          // a poll for the next event of a task is not answered at its end

  bool start_early = false;  // a task starts before the moment that its submission gave
  bool lose_start = false;   // a task that waits for its start has no wake-up

  bool forget_poison = false;  // a task whose decision has crashed is not parked
  bool follow_latest = false;  // a task goes on with the newest version of its workflow
  bool stop_at_chunk = false;  // the sweep after a start ends with its first chunk

  bool offer_for_ever = false;   // a step that only time can free is looked at again and again without a pause
  bool report_for_ever = false;  // an acknowledged outcome is reported again

  bool store_other_output = false;       // a completed step stores its input as its output
  bool read_other_step = false;          // a step is handed over with the input of the step before it
  bool null_for_missing = false;         // an input that cannot be made is null
  bool forget_edited_input = false;      // an input edited by an operator is confirmed but not stored
  bool forget_settled_output = false;    // the output that an operator gave when settling is not stored
  bool undo_without_output = false;      // an undo does not get the perform's output
  bool undo_with_perform_input = false;  // an undo gets the input of the perform
  bool lose_priority = false;            // tasks are created without their priority
  bool lose_label = false;               // tasks are created without their labels

  bool one_attempt_more = false;      // than the workflow allows
  bool one_attempt_less = false;      // than the workflow allows
  bool half_retry_for = false;        // a step gives up after half the time that its workflow says
  bool double_retry_for = false;      // a step gives up after twice the time that its workflow says
  bool ignore_rule = false;           // a fault that has a rule counts for what the step says for all faults
  bool count_rules_together = false;  // every bad end counts for each rule
  bool long_backoff = false;          // a pause is three times as long as the workflow says
  bool short_backoff = false;         // a pause is a quarter as long
  bool ignore_retry_after = false;    // the pause that a service asked for is ignored
  bool short_cool_off = false;        // the cool-off is half as long
  bool late_recovery = false;         // a due attempt waits for twenty seconds more

  bool fail_in_doubt = false;        // a task fails although a step is in doubt and nobody said that it may
  bool repeat_in_doubt = false;      // a step is performed again although its workflow says that it is to stay in doubt
  bool start_while_failing = false;  // steps start although the task is to fail
  bool forget_abandoned = false;     // the lease of an attempt that `terminate --now` abandons is forgotten: its step is undone meanwhile
  bool terminate_without_doubt = false;  // what `terminate --now` abandons counts as failed, and not as in doubt
  bool keep_task_alert = false;          // the alert of a task that goes on stays open
  bool keep_breaker_alert = false;       // the alert of a closed breaker stays open
  bool refuse_awaited = false;           // an outcome that a step waits for is refused
  bool accept_unknown = false;           // an outcome that no step waits for is acknowledged as accepted

  bool migrate_begun = false;        // a task goes on by another version though steps that have begun differ there
  bool migrate_keeps_order = false;  // a task goes on by another version with its steps as the earlier one has them

  bool lose_callback = false;           // a callback is acknowledged and changes nothing
  bool lose_early_callback = false;     // one that comes while the attempt is in progress is acknowledged and forgotten
  bool complete_at_acceptance = false;  // the agent's answer completes a step that awaits a callback
  bool accept_old_callback = false;     // a callback counts whichever key it is of
  bool keep_key_after_fault = false;    // after a callback with a fault the next attempt uses the same key
  bool forget_callback_end = false;     // a step waits for its callback for ever

  bool finally_twice = false;               // a step of the end that has completed is performed again when its task is undone
  bool finally_skipped = false;             // a task is undone or fails without its steps of the end
  bool finally_before_drain = false;        // steps of the end begin while attempts of other steps are in progress
  bool after_failure_of_completed = false;  // a task that completes performs its after_failure steps

  bool lose_notice = false;         // no notice is sent when a task has ended
  bool keep_snapshot = false;       // reads may be older than answers already given
  bool take_old_rows = false;       // rows that a courier meant for an earlier Scheduler are erased again
  bool renew_too_long = false;      // a renewal counts from the end of the previous lease
  bool renew_from_receipt = false;  // an agent counts a renewal from the receipt of its acknowledgement
  bool obey_old_epoch = false;      // an agent begins attempts that an earlier Scheduler hands over
  bool take_old_epoch = false;      // a store accepts writes of an earlier Scheduler

  bool window_from_nominal = false;  // the start window of a caught-up launch ends as if the launch had been on time

  bool keep_attempts_on_restore = false;  // attempts of a restored shard go on from the numbers of its backup
  bool keep_numbers_on_restore = false;   // numbers of tasks and alerts go on from those of the backup
  bool restore_without_doubt = false;     // a step that was not completed counts as not performed since the backup
  bool obey_lost_lineage = false;         // an agent goes on with attempts of an earlier lineage
  bool leave_unconfirmed = false;         // what a Scheduler says without a commit leaves although another node may lead
  bool strange_clock = false;             // a shard is led by the wall clock of whichever node leads it
  bool follow_while_leading = false;      // the clock of a former leader's Scheduler follows its successor
  bool keep_lead = false;                 // a node that is drained goes on leading
  bool skip_archives = false;             // a copy of the state comes without the archives
  bool keep_replica_id = false;           // a store that is made in place of a lost one votes as the lost one would
  bool begin_unshown = false;             // a Scheduler begins where the shard is led before it sees what former leaders have left
  bool move_without_copy = false;         // a replica that follows erases what moves to an archive, and does not keep it there
  bool copy_identity = false;             // a copy of the state brings the identity of the replica that it comes from
  bool skip_unknown = false;              // a replica leaves out what a later release has written
  bool end_at_damage = false;             // a node that meets damage ends, and does not ask whether the others go on without it
  bool keep_difference = false;           // a node whose state is not that of the others goes on
  bool raise_format_early = false;        // a shard is written in a format that not all its nodes know

  bool count_wait_twice = false;   // the lease of an attempt that a worker takes counts from when its take had come, and the wait is added
  bool whole_lease_again = false;  // an attempt is sent to a worker with the lease that it had when it came from its shard
  bool confirm_next_answer = false;       // a take confirms one answer more than the worker says
  bool drop_unconfirmed = false;          // attempts of an answer to a worker that was lost are not sent again
  bool ignore_attempt_of_ticket = false;  // a worker's outcome counts for whichever attempt of the step the worker holds
  bool accept_unheld = false;             // a worker's outcome of an attempt that its host does not have is said to be taken
  bool ignore_have = false;               // what a worker says that it holds is sent to it again
  bool new_incarnation_on_move = false;   // a worker that goes on at another node counts as another process
  bool take_over_alive = false;           // a worker that was heard lately is taken over though nobody vouches for its death
  bool reuse_incarnation = false;         // the process after one that has died gets the incarnation of that one
  bool give_back_carried = false;         // an attempt is given back that an answer has carried
  bool keep_given_back = false;           // an attempt is given back, and sent to the worker with the next answer all the same
  bool ignore_drain = false;              // a worker's drain is confirmed, and it is offered attempts as before
  bool send_though_drained = false;       // what was on its way to a worker when it drained is sent to it
  bool leave_holding = false;             // a worker's session ends at its word though it holds attempts
  bool give_back_abandoned = false;       // what a worker abandons is given back
  bool offer_without_take = false;        // shards may send to a worker that has not asked for attempts
  bool ignore_most = false;               // an answer has more attempts than the worker asked for
  bool answer_beat_early = false;         // a worker's heartbeat is answered when it has been sent, not when it is durable
  bool renew_from_answer = false;         // a worker's renewal counts from when its shard has answered
  bool child_with_task_input = false;     // a child gets the input of its parent
  bool child_not_undone = false;          // a step counts as undone, and its child stands
  bool child_not_cancelled = false;       // a child goes on although its parent is undone
  bool child_parks_alone = false;         // a task goes on beside a child that is parked
  bool child_forgets_restore = false;     // a child that may have begun before a restore counts as new
  bool lose_child_end = false;            // a parent is not told that its child has ended
  bool child_other_output = false;        // a step gets the input of its child as its output
  bool child_twice = false;               // a step has two children at a time
  bool archive_before_parent = false;     // a child leaves the store while its parent is there
  bool delete_before_parent = false;      // the same of a child that is deleted
  bool end_before_child = false;          // a task fails while a child of it lives
  bool undo_child_alone = false;          // a completed child is undone although its parent goes on with it
  bool item_doubt_as_failed = false;      // an item that waits for an operator counts as failed
  bool item_with_other_input = false;     // an item is given what was computed for another one
  bool item_outputs_by_end = false;       // outputs of items are not in the order of the list
  bool item_twice = false;                // a completed item begins again with those that have failed
  bool item_after_failure = false;        // items begin after one has failed
  bool items_all_at_once = false;         // more items are in progress than `at_once` says
  bool item_not_undone = false;           // the undo of a step leaves its first item as it is
  bool lose_item_end = false;             // a step is not told that an item has ended
};

}  // namespace fairlead::core
