#include "actors/core/expression/check.hpp"

#include <gtest/gtest.h>

#include "actors/core/expression/together.hpp"

namespace fairlead::core {
namespace {

std::string refusal(std::string_view expression) {
  const auto checked = check_expression(expression);
  return checked.ok() ? "allowed" : checked.failure().sentence;
}

TEST(checked_subset, refuses_names_that_reach_outside_with_their_position) {
  for (const auto* name : {"env",
                           "now",
                           "input",
                           "inputs",
                           "debug",
                           "stderr",
                           "halt",
                           "halt_error",
                           "input_line_number",
                           "input_filename",
                           "get_search_list",
                           "import",
                           "include",
                           "modulemeta",
                           "localtime",
                           "strflocaltime",
                           "get_jq_origin",
                           "get_prog_origin",
                           "builtins",
                           "_modify",
                           "__must",
                           "__loc__"}) {
    const auto alone = refusal(name);
    EXPECT_EQ(alone.rfind("`" + std::string(name) + "` is not allowed: ", 0), 0U) << alone;
    EXPECT_NE(alone.find(", at character 1"), std::string::npos) << alone;
    const auto hidden = refusal("\"é\\(1 | " + std::string(name) + ")\"");
    EXPECT_NE(hidden.find("`" + std::string(name) + "` is not allowed"), std::string::npos) << hidden;
    EXPECT_NE(hidden.find(", at character 9"), std::string::npos) << hidden;
    EXPECT_NE(refusal("def " + std::string(name) + ": 1; 2"), "allowed") << name;
  }
  for (const auto* name : {"$ENV", "$__prog_args", "$__loc__", "$ENV.PATH", "{$ENV}"}) {
    EXPECT_NE(refusal(name).find("is not allowed"), std::string::npos) << name;
  }
}

TEST(checked_subset, refuses_what_it_does_not_know) {
  struct row {
    const char* expression;
    const char* part;
  } rows[] = {
      {"", "it is empty"},
      {"nosuch", "`nosuch` is not a function"},
      {".steps.ship-it", "`it` is not a function"},
      {"1 # comment", "comments are not allowed in expressions, at character 3"},
      {"a::b", "modules are not allowed"},
      {"@yaml", "there is no format `@yaml`"},
      {"12345678901234567890", "jq would change the number 12345678901234567890"},
      {"\"open", "a string does not end, at character 1"},
      {"\"a\\(1\"", "a string does not end"},
      {"(1", "a bracket or a string is not closed"},
      {"1)", "`)` closes nothing, at character 2"},
      {"[1}", "`}` closes nothing"},
      {"then", "`then` stands alone"},
      {"1; 2", "`;` stands alone"},
      {"1 & 2", "`&` is not expected here"},
      {"$", "a name is missing"},
      {".order.id + 1", "there is no .order"},
      {"{order}", "there is no .order"},
      {".task.nam // 1", "there is no .task.nam"},
  };
  for (const auto& row : rows) {
    const auto said = refusal(row.expression);
    EXPECT_NE(said.find(row.part), std::string::npos) << row.expression << ": " << said;
  }
  EXPECT_NE(refusal("\"" + std::string(5000, 'x') + "\"").find("longer than 4096 bytes"), std::string::npos);
  EXPECT_NE(refusal(std::string(200, '[')).find("too deep"), std::string::npos);
}

TEST(checked_subset, allows_ordinary_jq) {
  for (const auto* expression :
       {".input.items | map(.price * .quantity) | add", "{id: .task.id, \"a b\": 1, (.input.k): 2, input: 3, if: 4, $x} ",
        "def now_ish: 1; now_ish", "def f(g; $x): g + $x; f(.input.a; 2)", "if .input.a then 1 elif .input.b then 2 else 3 end",
        "reduce .input.items[] as {q: $q, p: [$p]} (0; . + $q * $p)", "foreach range(5) as $i (0; . + $i; [$i, .])",
        "label $out | .input.items[] | if . > 2 then break $out else . end", "try error(\"x\") catch .", "@base64 \"a\\(.input.a)\"",
        ".input.items | sort_by(.price) | first", ".input.a.env + .input.now", "[.input[] | select(.a == \"env\")]", ".input.x?//0",
        "\"a\\(\"b\\(.task.id)c\")d\"", ".input.items[1:3]", "-1.5e3", ".input | to_entries | from_entries", ".task.labels[\"a-b\"]"}) {
    const auto said = refusal(expression);
    EXPECT_EQ(said, "allowed") << expression;
  }
}

/// The required paths of an expression, as written.
std::vector<std::string> required(std::string_view expression) {
  std::vector<std::string> out;
  const auto checked = check_expression(expression);
  if (!checked.ok()) return {checked.failure().sentence};
  for (const auto& path : checked->required) out.emplace_back(expression.substr(path.begin, path.end - path.begin));
  return out;
}

TEST(missing_paths, are_errors_unless_excused) {
  using strings = std::vector<std::string>;
  struct row {
    const char* expression;
    strings required;
  } rows[] = {
      {".input.a + 1", {".input.a"}},
      {".input.a + .input.b", {".input.a", ".input.b"}},
      {".input.a // 1", {}},
      {".input.a // .input.b", {}},
      {"(.input.a // 1) + .input.b", {".input.b"}},
      {"[.input.a // 1, .input.b]", {".input.b"}},
      {"(.input.a + 1)? , .input.b", {".input.b"}},
      {".input.a? + .input.b", {".input.b"}},
      {".input.a[].b? + .input.b", {".input.b"}},
      {".input.a[0][\"x y\"].c | .d", {".input.a[0][\"x y\"].c"}},
      {".input.a[] | .b", {".input.a"}},
      {".input.a | .input", {".input.a"}},
      {".input.a as $x | .input.b + $x", {".input.a", ".input.b"}},
      {"reduce .input.a[] as $x (.input.b; .input.c)", {".input.a", ".input.b"}},
      {"{a: .input.a | .x, b: .input.b}", {".input.a", ".input.b"}},
      {"\"\\(.input.a)-\\(.input.b // 1)\"", {".input.a"}},
      {"if .input.a then .input.b else .input.c end", {".input.a", ".input.b", ".input.c"}},
      {"try .input.a", {}},
      {".input.a = .input.b", {}},
      {".input | has(\"a\")", {".input"}},
      {"map(.input.a)", {}},
      {"def f: .input.a; .input.b", {".input.b"}},
      {"first(.input.a[])", {".input.a"}},
      {".steps.a.b", {".steps.a.b"}},
      {".steps | length", {}},
  };
  for (const auto& row : rows) EXPECT_EQ(required(row.expression), row.required) << row.expression;
}

TEST(expression_shape, is_the_same_where_only_names_of_fields_and_constants_differ) {
  const auto shape = shape_of(".input.a.b + 12 | tostring");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape_of(".input.x.y + 7.5e3 | tostring"), shape);
  EXPECT_EQ(shape_of("\"one\" + \"two\""), shape_of("\"\" + \"é\""));
  EXPECT_EQ(shape_of("[.input.list[] | .price]"), shape_of("[.input.rows[] | .sum]"));

  for (const auto* other :
       {".input.a + 12 | tostring", ".input.a.b + 12 | length", ".input.a.b - 12 | tostring", "$x", ".input.a.b + \"12\" | tostring"})
    EXPECT_NE(shape_of(other), shape) << other;
  EXPECT_NE(shape_of("\"\\(1)\""), shape_of("\"x\""));
  EXPECT_NE(shape_of("\"\\q\""), shape_of("\"x\"")) << "an escape may be wrong";
  EXPECT_NE(shape_of("[{\"f\": 1}[].f]"), shape_of("[{\"f\": 1}[]|.5]"));
  EXPECT_NE(shape_of("[1][0].a .5"), shape_of("[1][0].a5")) << "a constant never becomes a part of the name before it";
}

TEST(expression_shape, keeps_the_numbers_of_a_division) {
  EXPECT_NE(shape_of(".input.a / 1"), shape_of(".input.a / 0"));
  EXPECT_NE(shape_of("5 % (2 - 1)"), shape_of("5 % (2 - 2)"));
  EXPECT_EQ(shape_of(".input.a // 1"), shape_of(".input.b // 0"));
}

TEST(expression_names, are_bound_by_variables_and_definitions) {
  for (const auto* none : {".input.a | map(. + 1)", ".input.default", ".def", "\"undefined\" | length", "_def"})
    EXPECT_TRUE(binds_nothing(none)) << none;
  for (const auto* some : {".input.a as $x | $x", "def f: 1; f", "1 | def f: 1; f", "(def\nf: 1; f)", "label $x | 1"})
    EXPECT_FALSE(binds_nothing(some)) << some;
}

TEST(expression_calls, are_told_with_their_number_of_arguments) {
  using calls = std::set<std::string>;
  EXPECT_EQ(calls_of(".input.a + 1"), calls{});
  EXPECT_EQ(calls_of(".input.a | map(length) | sub(\"a\"; \"(;)\") | length"), (calls{"map(.)", "length", "sub(.;.)"}));
  EXPECT_EQ(calls_of("if .a then first(range(1; 2; 3)) else empty end"), (calls{"first(.)", "range(.;.;.)", "empty"}));
  EXPECT_EQ(calls_of("{add: 1, length, b: keys, (\"c\"): [floor]}"), (calls{"keys", "floor"}));
  EXPECT_EQ(calls_of("\"x\\(.a | ceil)y\""), calls{"ceil"});
}

TEST(remembered_checks, say_what_is_said_without_them) {
  const auto told = [](const char* expression) {
    const auto checked = check_expression(expression);
    if (!checked.ok()) return checked.failure().sentence;
    std::string out = checked->item_root + (checked->reads_everything ? " all" : "");
    for (const auto& one : checked->reads)
      for (const auto& key : one) out += " " + key;
    for (const auto& one : checked->required) out += " " + std::to_string(one.begin) + "-" + std::to_string(one.end);
    return out;
  };
  const std::vector<const char*> all{".input.a + 1", "now", ".steps.b.c | length", ". | keys", ".item.n + .index", "1 +", ".input.a + 1 "};
  std::vector<std::string> alone;
  for (const auto* one : all) alone.push_back(told(one));
  const remembered_checks outer;
  for (int times = 0; times < 3; ++times) {
    const remembered_checks inner;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(told(all[i]), alone[i]) << all[i];
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(told(all[i]), alone[i]) << all[i];
  }
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(told(all[i]), alone[i]) << all[i];
}

TEST(expression_shape, is_none_where_the_check_refuses) {
  EXPECT_FALSE(shape_of("now"));
  EXPECT_FALSE(shape_of("1) , (2"));
  EXPECT_FALSE(shape_of("\"open"));
}

}  // namespace
}  // namespace fairlead::core
