// How a command's end becomes the end of its attempt, with real commands under a real shepherd.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "actors/agent_host/host.hpp"
#include "actors/agents/exec/outcome.hpp"
#include "actors/agents/exec/progress.hpp"
#include "actors/agents/secrets/vault.hpp"
#include "actors/core/text/text.hpp"
#include "tests/actors/agents/exec/exec_test_support.hpp"

namespace fairlead::test {
namespace {

class exec_outcomes : public ::testing::Test {
 protected:
  agents::attempt_result run(agents::exec_agent_config config, std::string input = {}) {
    const auto agent = running(std::move(config));
    return run_one(*agent, a_perform(1, "do", input.empty() ? folder.input() : input));
  }
  agents::attempt_result run(const std::string& script) { return run(one_script(script)); }

  exec_folder folder;
};

TEST_F(exec_outcomes, the_input_arrives_on_stdin_and_what_the_command_prints_is_the_output) {
  EXPECT_EQ(brief(run("cat")), "ok " + folder.input());
  EXPECT_EQ(brief(run("echo; echo ' [1, 2] '")), "ok [1, 2]");
  EXPECT_EQ(brief(run("true")), "ok null");
}

TEST_F(exec_outcomes, text_and_lines_become_json) {
  auto text = one_script("printf 'a \"b\"\\n\\377c\\n\\n'");
  text.calls["do"].output = agents::exec_output::text;
  EXPECT_EQ(brief(run(text)),
            "ok \"a \\\"b\\\"\\n\xef\xbf\xbd"
            "c\"");
  auto lines = one_script("printf 'one\\r\\n\\ntwo'");
  lines.calls["do"].output = agents::exec_output::lines;
  EXPECT_EQ(brief(run(lines)), R"(ok ["one","","two"])");
  auto none = one_script("true");
  none.calls["do"].output = agents::exec_output::lines;
  EXPECT_EQ(brief(run(none)), "ok []");
}

TEST_F(exec_outcomes, a_log_is_the_end_of_what_is_printed_on_both_outputs_in_order) {
  auto config = one_script("echo one; echo two >&2; echo three; exit 3");
  config.max_output_bytes = 4;
  config.calls["do"].output = agents::exec_output::log;
  auto end = run(config);
  EXPECT_EQ(brief(end), "in_doubt exit_3") << "a log has no limit";
  EXPECT_NE(end.fault->message().find("one / two / three"), std::string::npos) << end.fault->message();
  EXPECT_EQ(end.log, "one\ntwo\nthree\n");
  EXPECT_FALSE(end.log_cut);
  config = one_script("i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done");
  config.calls["do"].output = agents::exec_output::log;
  end = run(config);
  EXPECT_EQ(brief(end), "ok null");
  ASSERT_TRUE(end.log);
  EXPECT_EQ(end.log->size(), core::kept_log_bytes);
  EXPECT_EQ(end.log->substr(end.log->size() - 11), "line 29999\n");
  EXPECT_TRUE(end.log_cut);
  EXPECT_FALSE(run("true").log);
}

TEST_F(exec_outcomes, a_log_has_no_secrets_whole_or_cut_in_two) {
  auto vault = std::make_shared<agents::secret_vault>();
  const auto file = folder.path("secret");
  std::ofstream{file} << "a-secret-value";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(vault->add_file("TOKEN", file).ok());
  auto config = one_script("i=0; while [ $i -lt 40000 ]; do echo \"$TOKEN\"; i=$((i+1)); done");
  config.calls["do"].output = agents::exec_output::log;
  config.environment = {{"TOKEN", "$secret{TOKEN}"}};
  config.secrets = vault;
  const auto end = run(config);
  ASSERT_TRUE(end.log);
  EXPECT_TRUE(end.log_cut);
  EXPECT_EQ(end.log->find("value"), std::string::npos);
  EXPECT_NE(end.log->find("[secret TOKEN]"), std::string::npos);
}

TEST_F(exec_outcomes, without_input_stdin_is_empty) {
  auto config = one_script("wc -c");
  config.calls["do"].input = agents::exec_input::none;
  EXPECT_EQ(brief(run(config)), "ok 0");
}

TEST_F(exec_outcomes, exit_codes_mean_what_sysexits_says_and_all_others_leave_doubt) {
  EXPECT_EQ(brief(run("exit 75")), "transient exit_75");
  EXPECT_EQ(brief(run("exit 64")), "permanent exit_64");
  EXPECT_EQ(brief(run("exit 78")), "permanent exit_78");
  EXPECT_EQ(brief(run("exit 1")), "in_doubt exit_1");
  EXPECT_EQ(brief(run("exit 127")), "in_doubt exit_127");
  EXPECT_EQ(brief(run("kill -SEGV $$")), "in_doubt signal_11");
}

TEST_F(exec_outcomes, the_calls_own_exit_codes_come_first) {
  const auto mapped = [](const std::string& script) {
    auto config = one_script(script);
    auto& codes = config.calls["do"].exit_codes;
    codes.success = {{3, 3}};
    codes.transient = {{1, 1}};
    codes.permanent = {{2, 9}};
    codes.in_doubt = {{75, 75}};
    return config;
  };
  EXPECT_EQ(brief(run(mapped("echo 7; exit 3"))), "ok 7");
  EXPECT_EQ(brief(run(mapped("exit 1"))), "transient exit_1");
  EXPECT_EQ(brief(run(mapped("exit 9"))), "permanent exit_9");
  EXPECT_EQ(brief(run(mapped("exit 75"))), "in_doubt exit_75");
  EXPECT_EQ(brief(run(mapped("true"))), "ok null");
}

TEST_F(exec_outcomes, the_last_lines_of_stderr_stand_in_the_message) {
  const auto result = run("echo early >&2; for i in 1 2 3; do printf 'line \\033[31m%s\\n' $i >&2; done; exit 1");
  EXPECT_EQ(result.fault->message(), "/bin/sh ended with exit code 1: line  [31m1 / line  [31m2 / line  [31m3");
}

TEST_F(exec_outcomes, a_command_that_fills_stderr_is_neither_blocked_nor_kept) {
  const auto result = run("yes 'a line of complaint' | head -c 5000000 >&2; echo last >&2; exit 70");
  EXPECT_EQ(brief(result), "permanent exit_70");
  EXPECT_NE(result.fault->message().find("a line of complaint / last"), std::string::npos) << result.fault->message();
  EXPECT_LT(result.fault->message().size(), 500U);
}

TEST_F(exec_outcomes, the_end_of_a_secret_whose_beginning_was_lost_is_not_shown) {
  const agents::secret_vault known;
  agents::exec_ending ending;
  ending.errors = std::string(6'000, 'k') + "\n-----END KEY-----";
  EXPECT_NE(agents::last_words(ending, &known), "");
  ending.errors_cut = true;
  EXPECT_EQ(agents::last_words(ending, &known), "") << "all of it may be what is left of a long secret";
  ending.errors = std::string(agents::longest_secret_spelling, 'k') + "\nno space left";
  EXPECT_EQ(agents::last_words(ending, &known), "no space left");
}

TEST_F(exec_outcomes, output_over_the_cap_ends_the_command_and_leaves_doubt) {
  auto config = one_script("echo $$ > \"$0\"pid; yes");
  config.max_output_bytes = 100'000;
  EXPECT_EQ(brief(run(config)), "in_doubt output_too_large");
  EXPECT_TRUE(exec_folder::gone(folder.processes("pid")));
  auto whole = one_script("head -c 99998 /dev/zero | tr '\\0' 7");
  whole.max_output_bytes = 99'998;
  EXPECT_EQ(brief(run(whole)).size(), 3 + 99'998U);
}

TEST_F(exec_outcomes, output_that_is_not_json_leaves_doubt) {
  EXPECT_EQ(brief(run("echo done")), "in_doubt bad_output");
  EXPECT_EQ(brief(run("echo '{\"a\":1} trailing'")), "in_doubt bad_output");
}

TEST_F(exec_outcomes, a_command_that_cannot_be_started_did_nothing) {
  const auto program = [&](const std::string& path) {
    auto config = one_script("true");
    config.calls["do"].command = {path};
    return run(config);
  };
  EXPECT_EQ(brief(program("/nowhere/to/be/found")), "permanent command_not_found");
  EXPECT_EQ(brief(program("/etc/passwd/x")), "permanent command_not_found");
  EXPECT_EQ(brief(program("/etc/passwd")), "permanent command_not_executable");
  EXPECT_EQ(brief(program("/tmp")), "permanent command_not_executable");
  auto lost = one_script("true");
  lost.directory = "/nowhere";
  EXPECT_EQ(brief(run(lost)), "permanent bad_directory");
}

TEST_F(exec_outcomes, an_argument_is_one_argument_whatever_stands_in_it) {
  agents::exec_agent_config config;
  config.name = "a";
  auto& call = config.calls["do"];
  call.command = {"/usr/bin/printf", "%s|", "--to={target}", "{n}", "{{x}}", "{flag}"};
  call.output = agents::exec_output::text;
  EXPECT_EQ(brief(run(config, R"({"target":"a b; $(id) 'c'\n*","n":-1.50,"flag":true})")),
            R"(ok "--to=a b; $(id) 'c'\n*|-1.50|{x}|true|")");
}

TEST_F(exec_outcomes, secrets_are_taken_anew_for_each_attempt_and_hidden_over_line_breaks) {
  const auto file = folder.path("secret");
  const auto write = [&](const std::string& value) {
    std::ofstream{file, std::ios::trunc} << value;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  };
  write("old-value");
  auto vault = std::make_shared<agents::secret_vault>();
  ASSERT_TRUE(vault->add_file("TOKEN", file).ok());
  auto config = one_script("printf '<%s>' \"$TOKEN\"; printf '%s' \"$TOKEN\" | wc -c");
  config.calls["do"].output = agents::exec_output::lines;
  config.environment = {{"TOKEN", "$secret{TOKEN}"}};
  config.secrets = vault;
  const auto agent = running(config);
  EXPECT_EQ(brief(run_one(*agent, a_perform(1, "do", folder.input()))), R"(ok ["<[secret TOKEN]>9"])");
  write("new line one\nnew line two, which is longer");
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "do", folder.input()))), R"(ok ["<[secret TOKEN]>42"])");
}

TEST_F(exec_outcomes, no_secret_of_an_input_becomes_an_argument_though_the_agent_may_have_it) {
  auto vault = std::make_shared<agents::secret_vault>();
  ASSERT_TRUE(vault->add_value("TOKEN", "tk-4242-xyz").ok());
  auto config = one_script("touch \"$0\"");
  config.secrets = vault;
  config.settings.input_secrets = {"TOKEN"};
  const auto agent = running(config);
  system_clock time;
  struct : agent_outbox {
    void outcomes(v1::OutcomeBatch what) override { sent = std::move(what); }
    void heartbeats(v1::HeartbeatBatch) override {}
    void refused(v1::OutcomeBatch) override {}
    void finish_later(agents::attempt_key, agents::attempt_result) override {}
    void progress_later(agents::attempt_key) override {}
    v1::OutcomeBatch sent;
  } out;
  agent_host host{{"svc", "n/svc", 1, "exec", config.settings, vault}, *agent, time, out};
  v1::PerformBatch batch;
  batch.set_epoch(1);
  *batch.add_items() = a_perform(1, "do", R"({"at":"$secret{TOKEN}"})");
  host.perform(std::move(batch));
  host.flush();
  ASSERT_EQ(out.sent.items_size(), 1);
  EXPECT_EQ(out.sent.items(0).fault().code(), "secret_not_allowed");
}

TEST_F(exec_outcomes, input_that_does_not_fit_the_arguments_starts_nothing) {
  auto config = one_script("touch \"$0\"ran");
  EXPECT_EQ(brief(run(config, R"({"other":1})")), "permanent bad_arguments");
  EXPECT_EQ(brief(run(config, R"({"at":{}})")), "permanent bad_arguments");
  EXPECT_EQ(brief(run(config, R"({"at":"x\u0000y"})")), "permanent bad_arguments");
  EXPECT_EQ(brief(run(config, R"({"at":"--help"})")), "permanent bad_arguments");
  EXPECT_EQ(brief(run(config, R"({"at":"a$secret{TOKEN}"})")), "permanent secret_not_allowed");
  EXPECT_FALSE(std::filesystem::exists(folder.path("ran")));
  auto careful = one_script("true");
  careful.calls["do"].command.insert(careful.calls["do"].command.end() - 1, "--");
  EXPECT_EQ(brief(run(careful, R"({"at":"--help"})")), "ok null") << "after -- nothing is an option";
}

TEST_F(exec_outcomes, the_environment_is_what_the_configuration_says_and_nothing_of_the_nodes) {
  setenv("FAIRLEAD_TEST_CANARY", "sings", 1);
  auto config = one_script("env | sort | grep -v ^PWD= | grep -v ^_=");
  config.environment = {{"COLOR", "blue"}, {"TZ", "Europe/Berlin"}};
  config.calls["do"].output = agents::exec_output::lines;
  auto what = a_perform(7, "do", folder.input());
  what.set_direction(v1::DIRECTION_UNDO);
  what.set_perform_key("k1");
  what.set_in_doubt(true);
  what.set_try_number(2);
  what.set_checkpoint(R"({"row":5})");
  const auto agent = running(config);
  const auto result = run_one(*agent, what);
  EXPECT_EQ(brief(result),
            "ok [\"COLOR=blue\",\"FAIRLEAD_ATTEMPT=3\",\"FAIRLEAD_CALL=do\",\"FAIRLEAD_CHECKPOINT={\\\"row\\\":5}\","
            "\"FAIRLEAD_COMPLETE_BY=" +
                std::to_string(what.complete_by_unix_ms()) +
                "\",\"FAIRLEAD_DIRECTION=undo\",\"FAIRLEAD_IN_DOUBT=true\",\"FAIRLEAD_KEY=order-7/charge/perform/1\","
                "\"FAIRLEAD_PERFORM_KEY=k1\",\"FAIRLEAD_PROGRESS_FD=3\",\"FAIRLEAD_STEP=charge\",\"FAIRLEAD_TASK=order-7\","
                "\"FAIRLEAD_TRY=2\",\"LANG=C.UTF-8\",\"PATH=/usr/local/bin:/usr/bin:/bin\",\"TZ=Europe/Berlin\"]");
  unsetenv("FAIRLEAD_TEST_CANARY");
}

TEST_F(exec_outcomes, a_command_is_told_where_its_callback_goes) {
  auto config = one_script("echo \"${FAIRLEAD_CALLBACK_URL-none}\"");
  config.calls["do"].output = agents::exec_output::log;
  const auto agent = running(config);
  auto what = a_perform(1, "do", folder.input());
  EXPECT_EQ(run_one(*agent, what).log, "none\n");
  what.set_callback_url("http://h/v1/callbacks/AbC-_9");
  EXPECT_EQ(run_one(*agent, what).log, "http://h/v1/callbacks/AbC-_9\n");
}

TEST_F(exec_outcomes, what_a_command_prints_is_dropped_when_the_output_comes_with_a_callback) {
  const auto agent = running(one_script("echo queued as 17"));
  auto what = a_perform(1, "do", folder.input());
  EXPECT_EQ(brief(run_one(*agent, what)), "in_doubt bad_output");
  what.set_callback_url("http://h/v1/callbacks/AbC-_9");
  EXPECT_EQ(brief(run_one(*agent, what)), "ok null");
}

TEST_F(exec_outcomes, a_command_has_its_four_descriptors_and_no_other) {
  auto config = one_script("cd /proc/self/fd && echo *");
  config.calls["do"].command = {"/bin/ls", "/proc/self/fd"};
  config.calls["do"].output = agents::exec_output::lines;
  EXPECT_EQ(brief(run(config)), R"(ok ["0","1","2","3","4"])") << "the last one is that of the folder it reads";
}

TEST_F(exec_outcomes, limits_hold) {
  auto config = one_script("ulimit -v; ulimit -t; ulimit -n; ulimit -f; ulimit -c");
  config.process = {512ULL << 20, 60, 64, 0, 1 << 20};
  config.calls["do"].output = agents::exec_output::lines;
  EXPECT_EQ(brief(run(config)), R"(ok ["524288","60","64","2048","0"])");
  auto busy = one_script("while :; do :; done");
  busy.process.cpu_seconds = 1;
  EXPECT_EQ(brief(run(busy)), "in_doubt signal_24");
}

TEST_F(exec_outcomes, a_command_runs_as_its_own_user) {
  auto config = one_script("id -u; id -g; id -G; echo seen > /dev/stderr; exit 0");
  config.calls["do"].output = agents::exec_output::lines;
  config.user = "54321";
  if (geteuid() != 0) {
    EXPECT_FALSE(agents::make_exec_backend(config, with_shepherd()).ok());
    GTEST_SKIP() << "needs root";
  }
  EXPECT_EQ(brief(run(config)), R"(ok ["54321","54321","54321"])");
  config.group = "54322";
  EXPECT_EQ(brief(run(config)), R"(ok ["54321","54322","54322"])");
  config.user = "nobody-of-this-name";
  const auto made = agents::make_exec_backend(config, with_shepherd());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().sentence, "agent backup: this machine has no user 'nobody-of-this-name'");
}

TEST_F(exec_outcomes, a_signal_means_what_the_call_says) {
  auto config = one_script("kill -9 $$");
  EXPECT_EQ(brief(run(config)), "in_doubt signal_9");
  config.calls["do"].exit_codes.signals = agents::exec_meaning::permanent;
  EXPECT_EQ(brief(run(config)), "permanent signal_9");
  config.calls["do"].exit_codes.signals = agents::exec_meaning::transient;
  EXPECT_EQ(brief(run(config)), "transient signal_9");
}

TEST_F(exec_outcomes, a_lookup_runs_its_own_command_and_its_exit_code_is_the_verdict) {
  auto config = one_script("touch \"$0\"performed");
  const auto ask = [&](const std::string& script) {
    auto& lookup = config.calls["do"].lookup.emplace();
    lookup.command = {"/bin/sh", "-c", script};
    const auto agent = running(config);
    EXPECT_EQ(agent->lookups(), std::vector<std::string>{"do"});
    auto what = a_perform(1, "do", folder.input());
    what.set_direction(v1::DIRECTION_LOOKUP);
    what.set_perform_key("the-key");
    return run_one(*agent, what);
  };
  const auto done = ask("echo \"\\\"$FAIRLEAD_PERFORM_KEY\\\"\"");
  EXPECT_EQ(brief(done), R"(ok "the-key")");
  EXPECT_EQ(done.verdict, v1::LOOKUP_VERDICT_DONE);
  EXPECT_EQ(ask("exit 3").verdict, v1::LOOKUP_VERDICT_NEVER_HAPPENED);
  EXPECT_EQ(ask("exit 4").verdict, v1::LOOKUP_VERDICT_UNKNOWN);
  EXPECT_EQ(brief(ask("exit 1")), "transient exit_1");
  EXPECT_EQ(brief(ask("kill -9 $$")), "transient signal_9");
  EXPECT_EQ(brief(ask("echo what")), "permanent bad_output");
  EXPECT_EQ(folder.content("performed"), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path("performed")));
}

TEST_F(exec_outcomes, a_call_that_cannot_be_looked_up_is_not_carried_out_instead) {
  const auto agent = running(one_script("touch \"$0\"performed"));
  auto what = a_perform(1, "do", folder.input());
  what.set_direction(v1::DIRECTION_LOOKUP);
  EXPECT_EQ(run_one(*agent, what).verdict, v1::LOOKUP_VERDICT_UNKNOWN);
  EXPECT_EQ(brief(run_one(*agent, a_perform(2, "other"))), "permanent unknown_call");
  EXPECT_FALSE(std::filesystem::exists(folder.path("performed")));
}

TEST_F(exec_outcomes, progress_reaches_the_sink_while_the_command_runs) {
  const auto agent =
      running(one_script("echo '{\"percent\":40,\"note\":\"half\",\"checkpoint\":{\"row\": 5}}' >&3; echo nonsense >&3; "
                         "while [ ! -e \"$0\"go ]; do sleep 0.01; done; exit 75"));
  std::mutex guard;
  std::vector<agents::attempt_progress> seen;
  agent->report_progress_to([&](const agents::attempt_key& key, agents::attempt_progress said) {
    const std::lock_guard lock{guard};
    EXPECT_EQ(key.task_number, 1U);
    seen.push_back(std::move(said));
  });
  inbox box;
  agent->start(a_perform(1, "do", folder.input()), box.taker());
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock{guard};
    return !seen.empty();
  }));
  EXPECT_EQ(box.total(), 0U);
  EXPECT_EQ(seen[0].percent, 40U);
  EXPECT_EQ(seen[0].note, "half");
  EXPECT_EQ(seen[0].checkpoint, R"({"row":5})");
  std::ofstream{folder.path("go")};
  ASSERT_TRUE(box.wait_for(1));
  EXPECT_EQ(box.of(1).fault->message(), "/bin/sh ended with exit code 75 (1 of its progress lines could not be read)");
}

TEST(exec_progress, whole_lines_count_and_broken_ones_do_not) {
  agents::progress_lines lines;
  EXPECT_FALSE(lines.take(R"({"percent":1)").has_value());
  auto said = lines.take("2.9}\n{\"note\":\"n\"}\n\n");
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->percent, 12U);
  EXPECT_EQ(said->note, "n");
  EXPECT_FALSE(lines.take("[1]\n{\"percent\":101}\n{\"percent\":-1}\n{\"note\":5}\n{}\n\x01\n").has_value());
  EXPECT_EQ(lines.broken(), 6U);
  EXPECT_FALSE(lines.take("{\"note\":\"" + std::string(100'000, 'x')).has_value());
  EXPECT_FALSE(lines.take("\"}\n").has_value());
  EXPECT_EQ(lines.broken(), 7U);
  EXPECT_TRUE(lines.take("{\"percent\":100}\n").has_value());
}

TEST(exec_configuration, what_cannot_work_is_refused_by_name) {
  const auto refused = [](auto change) {
    agents::exec_agent_config config;
    config.name = "a";
    config.calls["do"].command = {"/bin/true"};
    change(config);
    const auto checked = agents::check_exec_agent(config);
    return checked.ok() ? std::string{} : checked.failure().sentence;
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_EQ(refused([](auto& c) { c.calls.clear(); }), "agent a has no calls");
  EXPECT_EQ(refused([](auto& c) { c.calls["do"].command.clear(); }), "agent a, call do: command is empty");
  EXPECT_EQ(refused([](auto& c) { c.calls["do"].command = {"true"}; }),
            "agent a, call do: command does not begin with the absolute path of a program");
  EXPECT_EQ(refused([](auto& c) { c.calls["do"].command = {"/bin/{x}"}; }),
            "agent a, call do: command does not begin with the absolute path of a program");
  EXPECT_NE(refused([](auto& c) { c.calls["do"].command = {"/bin/true", "$secret{A}"}; }), "");
  EXPECT_NE(refused([](auto& c) { c.calls["do"].command = {"/bin/true", "{x"}; }), "");
  EXPECT_NE(refused([](auto& c) { c.environment = {{"FAIRLEAD_KEY", "x"}}; }), "");
  EXPECT_NE(refused([](auto& c) { c.directory = "here"; }), "");
  EXPECT_NE(refused([](auto& c) { c.concurrency = 0; }), "");
  agents::exit_range range;
  for (const auto* bad : {"", "256", "-1", "5-3", "a", "1-", "1-2-3", " 1"}) EXPECT_FALSE(agents::parse_exit_range(bad, range)) << bad;
  EXPECT_TRUE(agents::parse_exit_range("64-78", range));
  EXPECT_EQ(range.last, 78);
}

}  // namespace
}  // namespace fairlead::test
