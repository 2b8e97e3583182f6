#include "app/crontab/import.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "app/config/config.hpp"
#include "app/files/workflow_file.hpp"
#include "tests/app/agents_of.hpp"
#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

std::vector<crontab_entry> entries_of(const std::string& text, bool users = false) {
  crontab_options options;
  options.user_column = users;
  options.zone_known = [](const std::string&) { return true; };
  const auto found = read_crontab("tab", text, options);
  EXPECT_EQ(shown(found.problems), lines{});
  return found.entries;
}

crontab_jobs made_of(const std::string& text, bool users = false, const crontab_import_options& options = {}) {
  return import_jobs("tab", entries_of(text, users), options);
}

lines names_of(const crontab_jobs& made) {
  lines out;
  for (const auto& job : made.jobs) out.push_back(job.name());
  return out;
}

struct ran {
  int code = -1;
  std::string output;
};

/// As an exec agent starts it: `/bin/sh -c`, few variables, nothing on stdin.
ran run_script(const std::string& script) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const auto child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::array<const char*, 4> arguments{"/bin/sh", "-c", script.c_str(), nullptr};
    std::array<const char*, 4> environment{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC", nullptr};
    execve("/bin/sh", const_cast<char* const*>(arguments.data()), const_cast<char* const*>(environment.data()));
    _exit(127);
  }
  close(ends[1]);
  ran out;
  std::array<char, 4096> buffer{};
  for (auto got = ::read(ends[0], buffer.data(), buffer.size()); got > 0; got = ::read(ends[0], buffer.data(), buffer.size()))
    out.output.append(buffer.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

std::string script_of(const std::string& text, bool users = false, const crontab_import_options& options = {}) {
  const auto made = made_of(text, users, options);
  EXPECT_EQ(made.jobs.size(), 1U);
  EXPECT_EQ(shown(made.problems), lines{});
  return made.jobs.empty() ? "" : nlohmann::json::parse(made.jobs.front().input())["script"].get<std::string>();
}

std::string printed_by(const std::string& text, bool users = false, const crontab_import_options& options = {}) {
  const auto done = run_script(script_of(text, users, options));
  EXPECT_EQ(done.code, 0);
  return done.output;
}

std::string me() { return getpwuid(geteuid())->pw_name; }

TEST(CrontabImport, a_job_does_what_cron_does) {
  const auto made = made_of("# why\nRANDOM_DELAY=2\nCRON_TZ=Europe/Berlin\n# at night\n30 2 * * * /usr/bin/backup --all\n");
  ASSERT_EQ(made.jobs.size(), 1U);
  const auto& job = made.jobs.front();
  EXPECT_EQ(job.schedule(), "30 2 * * *");
  EXPECT_EQ(job.zone(), "Europe/Berlin");
  EXPECT_EQ(job.workflow(), "crontab");
  EXPECT_EQ(job.dst(), v1::DST_POLICY_VIXIE);
  EXPECT_EQ(job.overlap(), v1::OVERLAP_POLICY_ALLOW);
  EXPECT_EQ(job.catch_up(), v1::CATCH_UP_POLICY_NONE);
  EXPECT_EQ(job.jitter_ms(), 120'000);
  EXPECT_EQ(job.notes(), "tab:5: 30 2 * * * /usr/bin/backup --all\n# at night");
  EXPECT_EQ(made.lines, std::vector<int>{5});
}

TEST(CrontabImport, a_name_is_the_same_as_long_as_user_schedule_zone_and_command_are) {
  const auto name = [](const std::string& text, bool users = false) { return made_of(text, users).jobs.front().name(); };
  const auto first = name("0 1 * * * /opt/run x\n");
  EXPECT_EQ(first.substr(0, 12), "crontab/run-");
  EXPECT_EQ(first.size(), 20U);
  EXPECT_EQ(name("A=1\n\n# c\n 0  1 * * * /opt/run x\n"), first);
  EXPECT_NE(name("0 2 * * * /opt/run x\n"), first);
  EXPECT_NE(name("CRON_TZ=Asia/Tokyo\n0 1 * * * /opt/run x\n"), first);
  EXPECT_NE(name("0 1 * * * /opt/run x%y\n"), first);
  EXPECT_NE(name("0 1 * * * root /opt/run x\n", true), name("0 1 * * * other /opt/run x\n", true));
}

TEST(CrontabImport, lines_that_are_the_same_get_numbers) {
  const auto names = names_of(made_of("0 1 * * * a\n0 1 * * * a\n0 1 * * * b\n0 1 * * * a\n"));
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names[1], names[0] + "-2");
  EXPECT_EQ(names[3], names[0] + "-3");
}

TEST(CrontabImport, the_prefix_is_the_callers_and_has_to_fit) {
  crontab_import_options options;
  options.prefix = "mail.example.org/";
  EXPECT_EQ(names_of(made_of("0 1 * * * a\n", false, options)).front().substr(0, 19), "mail.example.org/a-");
  options.prefix = "a b";
  EXPECT_EQ(made_of("0 1 * * * a\n", false, options).problems.size(), 1U);
  options.prefix = "-web/";
  EXPECT_EQ(made_of("0 1 * * * a\n", false, options).problems.size(), 1U) << "no name of a job begins so";
  options.prefix = std::string(65, 'a');
  EXPECT_EQ(made_of("0 1 * * * a\n", false, options).problems.size(), 1U);
}

TEST(CrontabImport, a_command_is_called_after_the_program_that_does_the_work) {
  EXPECT_EQ(crontab_program("/usr/bin/backup --all"), "backup");
  EXPECT_EQ(crontab_program("A=1 B=\"2\" /opt/run"), "run");
  EXPECT_EQ(crontab_program("cd /srv/app && ./manage.py x"), "manage.py");
  EXPECT_EQ(crontab_program("cd /srv/app; ./go; ./other"), "go");
  EXPECT_EQ(crontab_program("cd /srv"), "cd");
  EXPECT_EQ(crontab_program("source ~/.profile && . x && python3 clean.py"), "clean.py");
  EXPECT_EQ(crontab_program("[ -x /bin/a ] && /bin/a"), "a");
  EXPECT_EQ(crontab_program("test -e /x || reboot"), "reboot");
  EXPECT_EQ(crontab_program("if [ -x /usr/bin/m ]; then /usr/bin/m; fi"), "m");
  EXPECT_EQ(crontab_program("sudo -u www-data -n /usr/bin/certbot renew"), "certbot");
  EXPECT_EQ(crontab_program("/usr/bin/nice -n 19 /usr/bin/ionice -c2 -n7 /usr/bin/backintime job"), "backintime");
  EXPECT_EQ(crontab_program("flock -w 15 $HOME/x.lock python3 $HOME/Power.py"), "Power.py");
  EXPECT_EQ(crontab_program("timeout -k 5 1m env A=b run"), "run");
  EXPECT_EQ(crontab_program("/bin/bash -c 'x'"), "bash");
  EXPECT_EQ(crontab_program("python3 -m http.server"), "http.server");
  EXPECT_EQ(crontab_program("php ${EXEC} /x"), "EXEC");
  EXPECT_EQ(crontab_program("$INSTALL/scripts/run_task a"), "run_task");
  EXPECT_EQ(crontab_program("東京"), "command");
  EXPECT_EQ(crontab_program("sudo"), "sudo");
  EXPECT_EQ(crontab_program("nice -n"), "nice");
  EXPECT_EQ(crontab_program("flock -w"), "flock");
  EXPECT_EQ(crontab_program(";"), "command");
  EXPECT_EQ(crontab_program("A=1"), "A-1");
  EXPECT_EQ(crontab_program(std::string(100, 'x')), std::string(40, 'x'));
}

TEST(CrontabImport, each_user_has_a_workflow_and_an_agent) {
  const auto made = made_of("0 1 * * * www-data a\n0 2 * * * root b\n0 3 * * * root c\n", true);
  ASSERT_EQ(made.workflows.size(), 2U);
  EXPECT_EQ(made.workflows[0].definition.name(), "crontab-root");
  EXPECT_EQ(made.workflows[1].definition.name(), "crontab-www-data");
  EXPECT_EQ(made.jobs[0].workflow(), "crontab-www-data");
  EXPECT_EQ(made.jobs[2].workflow(), "crontab-root");
}

TEST(CrontabImport, users_that_are_no_names_of_workflows_get_different_ones) {
  EXPECT_EQ(crontab_agent(""), "crontab");
  EXPECT_EQ(crontab_agent("_apt"), "crontab-_apt");
  EXPECT_EQ(crontab_agent("John.Doe").substr(0, 17), "crontab-john-doe-");
  EXPECT_NE(crontab_agent("John.Doe"), crontab_agent("john.doe"));
  EXPECT_EQ(made_of("0 1 * * * John.Doe a\n", true).workflows.front().definition.name(), crontab_agent("John.Doe"));
}

TEST(CrontabImport, the_workflow_does_a_command_once_and_takes_doubt_for_a_failure) {
  const auto made = made_of("0 1 * * * a\n");
  EXPECT_EQ(shown(made.problems), lines{});
  const auto& step = made.workflows.front().definition.steps(0);
  EXPECT_EQ(step.agent(), "crontab");
  EXPECT_EQ(step.call(), "run");
  EXPECT_EQ(step.in_doubt(), v1::IN_DOUBT_FAIL);
  EXPECT_EQ(made.workflows.front().definition.on_failure(), v1::ON_FAILURE_FAIL);
  EXPECT_EQ(step.retry_for_ms(), 0);
  EXPECT_EQ(step.attempts(), 1U);
  EXPECT_EQ(step.timeout_ms(), 86'400'000);
  EXPECT_TRUE(step.undo().none());
  const auto again = parse_workflow("w", made.workflows.front().source, nullptr);
  EXPECT_EQ(again.definition.SerializeAsString(), made.workflows.front().definition.SerializeAsString());
}

TEST(CrontabImport, the_agents_text_is_a_node_file_that_offers_what_the_workflows_call) {
  const auto made = made_of("0 1 * * * " + me() + " a\n", true);
  const auto node = parse_node_config(
      "node.yaml", "node: { name: n }\nroles: [agent, shard]\nstore: { path: /tmp/x }\n" + crontab_agents_yaml(made.workflows));
  EXPECT_EQ(shown(node.problems), lines{});
  ASSERT_EQ(agents_of<agents::exec_agent_config>(node.config).size(), 1U);
  EXPECT_EQ(agents_of<agents::exec_agent_config>(node.config).front().user, me());
  const auto catalog = catalog_of(node.config);
  EXPECT_EQ(shown(parse_workflow("w", made.workflows.front().source, &catalog).problems), lines{});
  EXPECT_NE(crontab_agents_yaml(made_of("0 1 * * * a\n").workflows).find("\n  crontab:\n"), std::string::npos);
}

TEST(CrontabImport, a_command_comes_to_its_shell_as_it_was_written) {
  EXPECT_EQ(printed_by("0 1 * * * printf '\\%s|' 'a  b' \"c'd\" $((1+2)) 'Grüße' \"`echo x`\"\n"), "a  b|c'd|3|Grüße|x|");
  EXPECT_EQ(printed_by("0 1 * * * x=1; echo ${x}$x '${x}' $${x}\n").substr(0, 8), "11 ${x} ");
  EXPECT_EQ(printed_by("0 1 * * * cat\n"), "");
}

TEST(CrontabImport, its_standard_input_is_what_stands_behind_the_percent_sign) {
  EXPECT_EQ(printed_by("0 1 * * * cat%a 'b' ${c}%%50\\% \\n%\n"), "a 'b' ${c}\n\n50% \\n\n");
  EXPECT_EQ(printed_by("0 1 * * * true%not read\n"), "");
  EXPECT_EQ(run_script(script_of("0 1 * * * exit 3%x\n")).code, 3);
}

TEST(CrontabImport, the_exit_code_is_that_of_the_command) { EXPECT_EQ(run_script(script_of("0 1 * * * exit 75\n")).code, 75); }

TEST(CrontabImport, its_variables_are_those_of_cron_and_of_the_crontab) {
  EXPECT_EQ(printed_by("A=it's $HOME `x` ${y}\nB=\" ü \"\n0 1 * * * echo \"$A|$B|\"\n"), "it's $HOME `x` ${y}| ü |\n");
  EXPECT_EQ(printed_by("0 1 * * * echo $LOGNAME $USER $PATH $SHELL\n"), me() + " " + me() + " /usr/bin:/bin /bin/sh\n");
  EXPECT_EQ(printed_by("PATH=/bin\nUSER=u\nSHELL=/bin/bash\n0 1 * * * echo $USER $PATH $SHELL ${BASH_VERSION:+bash}\n"),
            "u /bin /bin/bash bash\n");
}

TEST(CrontabImport, commands_see_the_clock_of_the_machine_that_the_crontab_is_from) {
  crontab_import_options options;
  options.default_zone = "Asia/Tokyo";
  EXPECT_EQ(printed_by("CRON_TZ=Europe/Berlin\n0 1 * * * date -d @0 +\\%H\n", false, options), "09\n");
  EXPECT_EQ(printed_by("TZ=Asia/Kolkata\n0 1 * * * date -d @0 +\\%H:\\%M\n", false, options), "05:30\n");
}

TEST(CrontabImport, they_begin_at_home) {
  const std::string home = getpwuid(geteuid())->pw_dir;
  EXPECT_EQ(printed_by("0 1 * * * pwd; echo $HOME\n"), home + "\n" + home + "\n");
  EXPECT_EQ(printed_by("0 1 * * * " + me() + " pwd; echo $LOGNAME\n", true), home + "\n" + me() + "\n");
  EXPECT_EQ(printed_by("HOME=/usr/bin\n0 1 * * * pwd\n"), "/usr/bin\n");
  // Debian gives `nobody` a home that does not exist.
  EXPECT_EQ(printed_by("0 1 * * * nobody pwd; echo $HOME\n", true), "/\n/nonexistent\n");
}

TEST(CrontabImport, a_home_of_the_crontab_that_is_not_there_is_a_permanent_fault) {
  const auto done = run_script(script_of("HOME=/not/there\n0 1 * * * echo x\n") + "exit 0");
  EXPECT_EQ(done.code, 78);
  EXPECT_EQ(done.output, "");
}

TEST(CrontabImport, a_script_that_is_longer_than_an_argument_may_be_is_refused) {
  const auto made = made_of("0 1 * * * " + std::string(132'000, 'x') + "\n1 1 * * * a\n");
  ASSERT_EQ(made.problems.size(), 1U);
  EXPECT_EQ(made.problems.front().line, 1);
  EXPECT_EQ(made.lines, std::vector<int>{2});
}

TEST(CrontabImport, long_notes_are_cut) {
  EXPECT_LE(made_of("# " + std::string(9'000, 'x') + "\n1 1 * * * a\n").jobs.front().notes().size(), 2'000U);
}

}  // namespace
}  // namespace fairlead::app
