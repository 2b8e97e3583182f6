#include "app/crontab/file.hpp"

#include <gtest/gtest.h>

#include "tests/app/problems.hpp"

namespace fairlead::app {
namespace {

crontab_options plain() {
  crontab_options out;
  out.zone_known = [](const std::string& name) { return name == "Europe/Berlin" || name == "Asia/Tokyo"; };
  return out;
}

crontab_options with_users() {
  auto out = plain();
  out.user_column = true;
  return out;
}

crontab read(std::string_view text, const crontab_options& options = plain()) { return read_crontab("tab", text, options); }

/// Of a file that must have exactly one entry and no problem.
crontab_entry only(std::string_view text, const crontab_options& options = plain()) {
  const auto found = read(text, options);
  EXPECT_EQ(shown(found.problems), lines{});
  EXPECT_EQ(found.entries.size(), 1U) << text;
  return found.entries.empty() ? crontab_entry{} : found.entries.front();
}

lines problems_of(std::string_view text, const crontab_options& options = plain()) {
  const auto found = read(text, options);
  EXPECT_TRUE(found.entries.empty());
  return shown(found.problems);
}

lines notices_of(std::string_view text, const crontab_options& options = plain()) {
  const auto found = read(text, options);
  EXPECT_EQ(shown(found.problems), lines{});
  return shown(found.notices);
}

std::string environment_of(const crontab_entry& entry) {
  std::string out;
  for (const auto& [name, value] : entry.environment) out += name + "=" + value + ";";
  return out;
}

TEST(CrontabFile, an_entry_is_five_fields_and_the_rest_of_the_line) {
  const auto entry = only(" \t*/5  0-23/2\t1,15 JAN-mar  mon  /bin/echo  'two  blanks' \n");
  EXPECT_EQ(entry.line, 1);
  EXPECT_EQ(entry.schedule, "*/5 0-23/2 1,15 JAN-mar mon");
  EXPECT_EQ(entry.command, "/bin/echo  'two  blanks' ");
  EXPECT_EQ(entry.text, "*/5  0-23/2\t1,15 JAN-mar  mon  /bin/echo  'two  blanks' ");
  EXPECT_EQ(entry.zone, "UTC");
  EXPECT_EQ(entry.user, "");
  EXPECT_EQ(entry.shell, "/bin/sh");
  EXPECT_FALSE(entry.home);
  EXPECT_FALSE(entry.stdin_text);
  EXPECT_EQ(entry.jitter_ms, 0);
}

TEST(CrontabFile, the_zone_of_those_that_name_none_is_the_callers) {
  auto options = plain();
  options.default_zone = "Asia/Tokyo";
  EXPECT_EQ(only("0 0 * * * a\n", options).zone, "Asia/Tokyo");
}

TEST(CrontabFile, a_macro_stands_for_five_fields) {
  for (const auto* macro : {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}) {
    const auto entry = only(macro + std::string{"  ./job now\n"});
    EXPECT_EQ(entry.schedule, macro);
    EXPECT_EQ(entry.command, "./job now");
  }
}

TEST(CrontabFile, a_macro_without_a_time_is_refused) {
  EXPECT_EQ(problems_of("\n@reboot /bin/true\n"),
            (lines{"2:1: @reboot is not supported: it has no time; start the command with the machine, for example from a systemd unit"}));
  EXPECT_EQ(problems_of("@every 5m /bin/true\n"),
            (lines{"1:1: `@every` is unknown; the names are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly"}));
  EXPECT_EQ(problems_of("@daily\n"), (lines{"1:7: the command is missing"}));
}

TEST(CrontabFile, a_user_stands_between_the_schedule_and_the_command) {
  const auto entry = only("0 4 * * *   www-data\tcd /srv && ./run\n", with_users());
  EXPECT_EQ(entry.user, "www-data");
  EXPECT_EQ(entry.command, "cd /srv && ./run");
  EXPECT_EQ(only("@daily root a b\n", with_users()).user, "root");
  EXPECT_EQ(problems_of("0 4 * * * root\n@daily\n", with_users()),
            (lines{"1:15: the command is missing", "2:7: the user and the command are missing"}));
  EXPECT_EQ(problems_of("0 4 * * * /bin/true now\n", with_users()),
            (lines{"1:11: `/bin/true` is not a valid user name; if this file has no user column, leave out --user-column"}));
}

TEST(CrontabFile, a_forgotten_user_column_is_suspected) {
  EXPECT_EQ(notices_of("0 4 * * * root /bin/true\n"),
            (lines{"1:11: the command begins with `root`; if the file has a user column, as /etc/crontab does, use --user-column"}));
}

TEST(CrontabFile, comments_and_blank_lines_are_no_entries) {
  EXPECT_TRUE(read("# 0 0 * * * a\n\n   \t\n  # b\n").entries.empty());
  EXPECT_EQ(only("0 0 * * * echo # no comment\n").command, "echo # no comment");
}

TEST(CrontabFile, the_comments_directly_above_belong_to_an_entry) {
  EXPECT_EQ(only("# far\n\n## near\n#nearer\n0 0 * * * a\n").comments, (lines{"near", "nearer"}));
  EXPECT_EQ(only("# of the variable\nA=1\n0 0 * * * a\n").comments, lines{});
  EXPECT_EQ(only("# m h  dom mon dow   command\n# minutely, for Kurt\n0 0 * * * a\n").comments, lines{"minutely, for Kurt"});
  const auto two = read("# first\n0 0 * * * a\n1 0 * * * b\n");
  EXPECT_EQ(two.entries[1].comments, lines{});
}

TEST(CrontabFile, variables_are_taken_apart_as_cron_does) {
  const auto value = [](std::string_view line) {
    const auto found = read_crontab_variable(line);
    return found ? found->name + "|" + found->value : std::string{"none"};
  };
  EXPECT_EQ(value("A=b"), "A|b");
  EXPECT_EQ(value("A = b c  "), "A|b c");
  EXPECT_EQ(value("A\t=\tb"), "A|b");
  EXPECT_EQ(value("A=\" b \"  "), "A| b ");
  EXPECT_EQ(value("A=' b \" '"), "A| b \" ");
  EXPECT_EQ(value("'A' = b"), "A|b");
  EXPECT_EQ(value("\"A\"=b"), "A|b");
  EXPECT_EQ(value("A=b # c"), "A|b # c");
  EXPECT_EQ(value("A=b=c"), "A|b=c");
  EXPECT_EQ(value("A=x\"y\""), "A|x\"y\"");
  EXPECT_EQ(value("A=\"\""), "A|");
  EXPECT_EQ(value("A="), "A|");
  EXPECT_EQ(value("A=$HOME/%d"), "A|$HOME/%d");
  EXPECT_EQ(value("A=\"b"), "none");
  EXPECT_EQ(value("A=\"b\" c"), "none");
  EXPECT_EQ(value("A=\"b'"), "none");
  EXPECT_EQ(value("'A=b'"), "none");
  EXPECT_EQ(value("A"), "none");
  EXPECT_EQ(value("0 0 * * * B=c d"), "none");
  EXPECT_EQ(value("* * * * * a"), "none");
}

TEST(CrontabFile, variables_are_in_force_for_the_lines_below) {
  const auto found = read("0 0 * * * a\nB=1\n  A = 2\n1 0 * * * a\nB=3\n2 0 * * * a\n");
  ASSERT_EQ(found.entries.size(), 3U);
  EXPECT_EQ(environment_of(found.entries[0]), "");
  EXPECT_EQ(environment_of(found.entries[1]), "B=1;A=2;");
  EXPECT_EQ(environment_of(found.entries[2]), "B=3;A=2;");
}

TEST(CrontabFile, shell_and_home_are_known_apart) {
  const auto entry = only("SHELL=/bin/bash\nHOME=/srv\n0 0 * * * a\n");
  EXPECT_EQ(entry.shell, "/bin/bash");
  EXPECT_EQ(entry.home, "/srv");
  EXPECT_EQ(environment_of(entry), "SHELL=/bin/bash;HOME=/srv;");
}

TEST(CrontabFile, a_variable_that_cannot_be_is_refused) {
  EXPECT_EQ(problems_of("MY-VAR=1\n=2\n"), (lines{"1:1: `MY-VAR` is not a valid name for a shell variable; use letters, digits and _",
                                                  "2:1: `` is not a valid name for a shell variable; use letters, digits and _"}));
  EXPECT_EQ(problems_of("A = \"b\n"), (lines{"1:5: the value begins with a quote but does not end with the same quote; end the line with "
                                             "the same quote, or put the value in quotes of the other kind"}));
}

TEST(CrontabFile, nothing_behind_the_sign_is_an_empty_value_and_worth_a_word) {
  EXPECT_EQ(notices_of("A=\n"), (lines{"1:1: the value after `=` is empty, and Debian's cron refuses that; A is empty; write A=\"\""}));
  EXPECT_EQ(notices_of("A=\"\"\n"), lines{});
  EXPECT_EQ(environment_of(only("A=\n0 0 * * * a\n")), "A=;");
}

TEST(CrontabFile, logname_cannot_be_set) {
  EXPECT_EQ(environment_of(only("LOGNAME=me\n0 0 * * * a\n")), "");
  EXPECT_EQ(notices_of("LOGNAME=me\n"), (lines{"1:1: cron does not allow LOGNAME to be set; the line is ignored"}));
}

TEST(CrontabFile, cron_tz_moves_the_lines_below) {
  const auto found = read("0 0 * * * a\nCRON_TZ=Europe/Berlin\n1 0 * * * a\nCRON_TZ=\"\"\n2 0 * * * a\n");
  ASSERT_EQ(found.entries.size(), 3U);
  EXPECT_EQ(found.entries[0].zone, "UTC");
  EXPECT_EQ(found.entries[1].zone, "Europe/Berlin");
  EXPECT_EQ(found.entries[2].zone, "UTC");
  EXPECT_EQ(shown(found.problems), lines{});
}

TEST(CrontabFile, lines_below_a_zone_that_does_not_exist_are_refused_until_another_is_named) {
  const auto found = read("CRON_TZ=Europe/Berln\n0 0 * * * a\nCRON_TZ=Asia/Tokyo\n1 0 * * * b\n");
  EXPECT_EQ(shown(found.problems),
            (lines{"1:1: there is no time zone `Europe/Berln`; use a name of the time zone database, such as Europe/Berlin",
                   "2:1: CRON_TZ on line 1 applies to this line and was refused; correct that line"}));
  ASSERT_EQ(found.entries.size(), 1U);
  EXPECT_EQ(found.entries[0].zone, "Asia/Tokyo");
}

TEST(CrontabFile, so_are_those_below_a_shell_without_a_path) {
  EXPECT_EQ(problems_of("SHELL=bash\n0 0 * * * a\n"),
            (lines{"1:1: SHELL must be the absolute path of a program, not `bash`; write SHELL=/bin/bash, for instance",
                   "2:1: SHELL on line 1 applies to this line and was refused; correct that line"}));
}

TEST(CrontabFile, tz_is_handed_on_and_does_not_move_the_schedule) {
  const auto entry = only("TZ=Asia/Tokyo\n0 0 * * * a\n");
  EXPECT_EQ(entry.zone, "UTC");
  EXPECT_EQ(environment_of(entry), "TZ=Asia/Tokyo;");
  EXPECT_EQ(
      notices_of("TZ=Asia/Tokyo\n"),
      (lines{
          "1:1: TZ is passed to the commands below; it does not change their schedules; use CRON_TZ for the time zone of the schedules"}));
}

TEST(CrontabFile, that_nothing_is_mailed_is_said_once) {
  EXPECT_EQ(notices_of("MAILTO=a@example.org\nMAILTO=b@example.org\n"),
            (lines{"1:1: no mail is sent: the output of a command is the output of its task"}));
  EXPECT_EQ(notices_of("MAILTO=\"\"\n"), lines{});
  EXPECT_EQ(environment_of(only("MAILTO=a@example.org\n0 0 * * * a\n")), "MAILTO=a@example.org;");
}

TEST(CrontabFile, random_delay_is_jitter_in_minutes) {
  EXPECT_EQ(only("RANDOM_DELAY=45\n0 0 * * * a\n").jitter_ms, 2'700'000);
  for (const auto* bad : {"5m", "-1", "1441", "\"\"", "99999999999999999999"})
    EXPECT_EQ(read("RANDOM_DELAY=" + std::string{bad} + "\n").problems.size(), 1U) << bad;
  EXPECT_EQ(problems_of("RANDOM_DELAY=5m\n"), (lines{"1:1: RANDOM_DELAY must be a whole number of minutes from 0 to 1440, not `5m`"}));
}

TEST(CrontabFile, a_percent_sign_ends_the_command_and_begins_its_input) {
  const auto made = [](std::string_view written) {
    const auto command = read_crontab_command(written);
    return command.command + "|" + command.stdin_text.value_or("(none)");
  };
  EXPECT_EQ(made("a b"), "a b|(none)");
  EXPECT_EQ(made("a%b"), "a|b\n");
  EXPECT_EQ(made("a %b%c%%d"), "a |b\nc\n\nd\n");
  EXPECT_EQ(made("a%b%"), "a|b\n");
  EXPECT_EQ(made("a%"), "a|");
  EXPECT_EQ(made(R"(date +\%H:\%M)"), "date +%H:%M|(none)");
  EXPECT_EQ(made(R"(a\%b%c\%d\\%e\n)"), "a%b|c%d\\%e\\n\n");
  EXPECT_EQ(made(R"(a\\%b)"), R"(a\|b)"
                              "\n");
  EXPECT_EQ(made(R"(sed s/\(x\)/\\/)"), R"(sed s/\(x\)/\/|(none))");
  EXPECT_EQ(made(R"(a\)"), R"(a\|(none))");
}

TEST(CrontabFile, an_input_by_percent_sign_is_worth_a_word) {
  EXPECT_EQ(notices_of("0 0 * * * date +\\%H%in\n"), (lines{"1:20: the text after this `%` is the standard input of the command; each "
                                                            "further `%` is a newline; write `\\%` for a percent sign"}));
  EXPECT_EQ(problems_of("0 0 * * * %in\n"), lines{"1:11: the command before the `%` is missing"});
}

TEST(CrontabFile, two_backslashes_become_one_and_that_is_said) {
  EXPECT_EQ(notices_of("0 0 * * * echo a\\\\b\n"), (lines{"1:17: `\\\\` becomes `\\`, as with Debian's cron (cronie keeps both)"}));
}

TEST(CrontabFile, a_dash_in_front_is_cronies_and_passed_over) {
  const auto entry = only("-*/5 * * * * a\n");
  EXPECT_EQ(entry.schedule, "*/5 * * * *");
  EXPECT_EQ(entry.text, "-*/5 * * * * a");
  EXPECT_EQ(notices_of("-@daily a\n"),
            lines{"1:1: the `-` in front of the line is ignored: launches are always recorded (cronie would not log the line)"});
  EXPECT_EQ(read("- * * * * a\n").problems.size(), 1U);
}

TEST(CrontabFile, a_line_with_six_fields_is_recognised) {
  const lines expected{
      "1:13: `*` is where the command should begin: this line seems to have six fields, but a crontab line has five; use `fairlead job "
      "add` "
      "for a job with seconds, or remove one field"};
  EXPECT_EQ(problems_of("*/6 * * * * * echo\n"), expected);
  EXPECT_EQ(problems_of("0 5 4 * * */2 echo\n").size(), 1U);
  EXPECT_EQ(problems_of("0 5 4 * * 1-5 echo\n").size(), 1U);
  EXPECT_EQ(problems_of("0 5 4 * * ? echo\n").size(), 1U);
  EXPECT_EQ(problems_of("0 5 4 * * *.sh\n").size(), 1U);  // Debian's cron refuses this as well
  EXPECT_EQ(
      problems_of("*/6 * * * * * root echo\n", with_users()),
      (lines{"1:13: `*` is where the user should begin: this line seems to have six fields, but a crontab line has five; use `fairlead "
             "job add` for a job with seconds, or remove one field"}));
  EXPECT_EQ(only("0 5 4 * * 7z a b.7z c\n").command, "7z a b.7z c");
  EXPECT_EQ(only("0 5 4 * * [ -e x ] && y\n").command, "[ -e x ] && y");
}

TEST(CrontabFile, a_line_of_an_anacrontab_is_recognised) {
  EXPECT_EQ(
      problems_of("@monthly 45 cron.monthly run-parts /etc/cron.monthly\n"),
      lines{"1:10: `45` is where the command should begin: nothing may be between @monthly and it; if this is an anacrontab, remove the "
            "delay and the name"});
  EXPECT_EQ(problems_of("@daily * echo\n"), lines{"1:8: `*` is where the command should begin: nothing may be between @daily and it"});
}

TEST(CrontabFile, a_sentence_is_no_schedule_of_another_scheduler) {
  const auto problems = problems_of("* NB: You'll see it\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().substr(0, 9), "1:3: `NB`") << problems.front();
  EXPECT_EQ(problems.front().find("job add"), std::string::npos) << problems.front();
  EXPECT_EQ(problems_of("* all will follow soon\n").front().find("job add"), std::string::npos);
}

TEST(CrontabFile, a_bad_field_is_named_with_its_place) {
  EXPECT_EQ(problems_of("0 30 * * * a\n").size(), 1U);
  EXPECT_EQ(problems_of("0 30 * * * a\n").front().substr(0, 5), "1:3: ");
  EXPECT_EQ(problems_of("\n   0    30 * * * a\n").front().substr(0, 5), "2:9: ");
  EXPECT_EQ(problems_of("0\t0 1,32 * * a\n").front().substr(0, 5), "1:7: ");
  EXPECT_EQ(problems_of("0 0 * * mon,foo a\n").front().substr(0, 6), "1:13: ");
  EXPECT_EQ(problems_of("ä ö 99 * * a\n").front().substr(0, 5), "1:1: ");
  EXPECT_EQ(problems_of("0 0 30 feb * a\n"), lines{"1:5: no day of any year matches: the line would never run"});
}

TEST(CrontabFile, a_missing_field_is_named) {
  EXPECT_EQ(problems_of("0 0 * *\n"), lines{"1:8: the day of the week is missing: a line has five fields before the command"});
  EXPECT_EQ(problems_of("hello\n"), lines{"1:6: the hour is missing: a line has five fields before the command"});
  EXPECT_EQ(problems_of("0 0 * * *  \n"), lines{"1:12: the command is missing"});
}

TEST(CrontabFile, what_jobs_know_and_cron_does_not_is_refused_by_name) {
  const auto remedy = "; crontabs do not have this, but jobs do: add this job with `fairlead job add`";
  EXPECT_EQ(problems_of("? 0 * * * a\n"), lines{std::string{"1:1: cron does not know `?` in the minute"} + remedy});
  EXPECT_EQ(problems_of("0 0~5 * * * a\n"),
            lines{"1:4: cron does not know `~5` in the hour; in a job, `?` is a value that is derived from the job's name, and `?(0-5)` is "
                  "one from a range: add this job with `fairlead job add`"});
  EXPECT_EQ(problems_of("0 0 L * * a\n"), lines{std::string{"1:5: cron does not know `L` in the day of the month"} + remedy});
  EXPECT_EQ(problems_of("0 0 1,15W * * a\n"), lines{std::string{"1:9: cron does not know `W` in the day of the month"} + remedy});
  EXPECT_EQ(problems_of("0 0 * * fri#2 a\n"), lines{std::string{"1:12: cron does not know `#2` in the day of the week"} + remedy});
  EXPECT_EQ(problems_of("0 0 * * friL a\n"), lines{std::string{"1:9: cron does not know `friL` in the day of the week"} + remedy});
  EXPECT_EQ(problems_of("1,5/20 * * * * a\n"), lines{"1:4: cron does not know `/20` in the minute; put a range or `*` before the step"});
  EXPECT_EQ(only("1,5-59/20 0 * jul wed a\n").schedule, "1,5-59/20 0 * jul wed");
}

TEST(CrontabFile, what_a_crontab_does_not_take_is_not_offered) {
  EXPECT_EQ(problems_of("H * * * * a\n"), lines{"1:1: `H` is not allowed here; expected a minute from 0 to 59 or `*`"});
  EXPECT_EQ(problems_of("$5 * * * * a\n"), lines{"1:1: `$` is not allowed here; expected a minute from 0 to 59 or `*`"});
  EXPECT_EQ(problems_of("0 0 x * * a\n"), lines{"1:5: `x` is not allowed here; expected a day of the month from 1 to 31 or `*`"});
  EXPECT_EQ(problems_of("0 0 1x * * a\n"), lines{"1:6: `x` is not allowed here; expected `-`, `,` or a blank"});
  for (const auto* bad : {"x", "$", "99", "1x", "1-x", "1-2x", "*x", "*/x", "1-2/x", "1-2/2x", ",", "1,", "1,x", "(", "x-y", "1--2"})
    for (int field = 0; field < 5; ++field) {
      std::string line;
      for (int i = 0; i < 5; ++i) line += (i == field ? bad : "*") + std::string{" "};
      const auto found = problems_of(line + "a\n");
      ASSERT_EQ(found.size(), 1U) << line;
      // What stands there is named, whatever it is.
      const auto offered = found[0].substr(std::min(found[0].find("expected"), found[0].size()));
      for (const auto* sign : {"`?`", "`(`", "`L`", "`W`", "`#`"})
        EXPECT_EQ(offered.find(sign), std::string::npos) << line << ": " << found[0];
    }
}

TEST(CrontabFile, every_line_that_is_refused_is_named_and_the_others_are_there) {
  const auto found = read("99 0 * * * a\n0 0 * * * b\n0 0 * *\n1 1 * * * c\n");
  EXPECT_EQ(found.problems.size(), 2U);
  ASSERT_EQ(found.entries.size(), 2U);
  EXPECT_EQ(found.entries[0].command, "b");
  EXPECT_EQ(found.entries[1].line, 4);
}

TEST(CrontabFile, line_ends_of_another_system_are_left_out) {
  const auto found = read("A=1\r\n0 0 * * * a\r\n1 0 * * * b\n\r\n");
  ASSERT_EQ(found.entries.size(), 2U);
  EXPECT_EQ(found.entries[0].command, "a");
  EXPECT_EQ(environment_of(found.entries[0]), "A=1;");
  EXPECT_EQ(shown(found.notices),
            lines{"1:4: the line ends in CR LF; the CR is left out, here and below (cron would make it a part of the command)"});
  EXPECT_EQ(problems_of("0 0 * * * a\r1 0 * * * b\n"),
            lines{"1:12: the line has a carriage return in the middle; end each line with a newline"});
}

TEST(CrontabFile, a_last_line_without_a_newline_is_read) {
  EXPECT_EQ(only("0 0 * * * a").command, "a");
  EXPECT_EQ(notices_of("0 0 * * * a"),
            lines{"1:12: the last line does not end in a newline; the line is read anyway (Debian's cron refuses such a file)"});
}

TEST(CrontabFile, bytes_that_are_no_text_are_refused_with_their_place) {
  using namespace std::string_view_literals;
  EXPECT_EQ(problems_of("0 0 * * * ä\0b\n"sv), lines{"1:12: the line has a byte with the value 0; save the file as UTF-8"});
  EXPECT_EQ(problems_of("0 0 * * * \xe4\n"), lines{"1:11: the line has a byte that is not UTF-8 text; save the file as UTF-8"});
  EXPECT_EQ(problems_of("A=\xff\n"), lines{"1:3: the line has a byte that is not UTF-8 text; save the file as UTF-8"});
  EXPECT_EQ(only("# caf\xe9\n0 0 * * * a\n").comments, lines{"caf\xef\xbf\xbd"});
  EXPECT_EQ(only("0 0 * * * echo 'Grüße, 東京'\n").command, "echo 'Grüße, 東京'");
}

TEST(CrontabFile, a_byte_order_mark_is_passed_over) {
  EXPECT_EQ(only("\xef\xbb\xbf"
                 "0 0 * * * a\n")
                .schedule,
            "0 0 * * *");
  EXPECT_EQ(notices_of("\xef\xbb\xbf\n").size(), 1U);
}

TEST(CrontabFile, a_command_that_debian_would_refuse_for_its_length_is_taken_whole) {
  const std::string longest(998, 'x');
  EXPECT_EQ(notices_of("0 0 * * * " + longest + "\n"), lines{});
  EXPECT_EQ(notices_of("0 0 * * * " + longest + "x\n"),
            lines{"1:11: the command has more than 998 bytes; it is imported anyway (Debian's cron refuses it)"});
  EXPECT_EQ(only("0 0 * * * " + longest + "x\n").command, longest + "x");
}

TEST(CrontabFile, a_file_that_is_too_large_is_refused_as_a_whole) {
  const std::string most(max_crontab_bytes, '\n');
  EXPECT_EQ(problems_of(most), lines{});
  const auto found = read(most + "\n");
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(to_text(found.problems[0]), "tab: the file is larger than 1 MiB");
}

TEST(CrontabFile, any_bytes_give_an_answer) {
  std::uint32_t state = 1;
  using namespace std::string_view_literals;  // the zero byte is one of them
  const auto alphabet = "*/5-,09 \t\n\r%\\\"'=@#AmonCRON_TZ\0\xc3\xa4"sv;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
      state = state * 1'664'525U + 1'013'904'223U;
      text += alphabet[(state >> 16U) % alphabet.size()];
    }
    for (const auto& entry : read(text, round % 2 == 0 ? plain() : with_users()).entries) {
      EXPECT_FALSE(entry.command.empty());
      EXPECT_FALSE(entry.schedule.empty());
    }
  }
}

TEST(crontab_file, a_step_greater_than_its_field_leaves_the_first_value_as_in_debians_cron) {
  const auto read = read_crontab("tab", "*/90 5-20/30 */32 */13 mon-fri/9,6 a\n", {});
  ASSERT_TRUE(read.problems.empty());
  ASSERT_EQ(read.entries.size(), 1U);
  EXPECT_EQ(read.entries[0].schedule, "0 5 1 1 mon,6");
  ASSERT_EQ(read.notices.size(), 5U);
  EXPECT_EQ(read.notices[0].sentence, "the step 90 is greater than the minute; only its first value, 0, is taken, as Debian's cron does");
  EXPECT_EQ(read_crontab("tab", "*/60 * * * * a\n", {}).entries[0].schedule, "*/60 * * * *") << "as long as the field";
  EXPECT_EQ(read_crontab("tab", "*/90 * * 99 * a\n", {}).problems[0].column, 10) << "the place in the line as written";
}

}  // namespace
}  // namespace fairlead::app
