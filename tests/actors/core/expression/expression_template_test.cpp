#include <gtest/gtest.h>

#include "tests/actors/core/expression/expression_fixture.hpp"

namespace fairlead::core {
namespace {

using strings = std::vector<std::string>;

constexpr std::size_t large_bytes = 1'048'576;  // as much as an output may have

literal_document small_order() {
  literal_document out;
  out.with("input", R"({"n": 5, "big": 9007199254740993, "items": [{"q": 1}, {"q": 1e999}], "ok": {"x": 1, "y": 2}})")
      .with("task", R"({"id":"t-1","workflow":"order","priority":0,"labels":{}})")
      .with("steps.reserve", R"({"id": 7, "rest": 12345678901234567890})")
      .with("steps.ship-it", R"({"n": 1})")
      .with("status.reserve", "\"completed\"");
  return out;
}

result<input_template> compile(const std::string& text) { return input_template::compile(text); }

TEST(templates, keep_literals_as_they_are_written) {
  const auto doc = small_order();
  EXPECT_EQ(rendered(R"({ "a" : [ 1.0, 1e400, -0, 12345678901234567890 ], "b": { "c": "x  y\u0041" }, "d": true })", doc),
            R"({"a":[1.0,1e400,-0,12345678901234567890],"b":{"c":"x  y\u0041"},"d":true})");
}

TEST(templates, put_results_in_the_place_of_expressions) {
  const auto doc = small_order();
  EXPECT_EQ(rendered(R"({"id": "${ .task.id }", "list": ["${.input.n}", {"deep": "  ${ .input.ok.x }\n"}]})", doc),
            R"({"id":"t-1","list":[5,{"deep":1}]})");
  EXPECT_EQ(rendered("", doc), R"({"n": 5, "big": 9007199254740993, "items": [{"q": 1}, {"q": 1e999}], "ok": {"x": 1, "y": 2}})");
  EXPECT_EQ(rendered(R"("\u0024{ .task.id }")", doc), "\"t-1\"");
}

TEST(templates, take_the_workers_results_in_their_order) {
  const auto t = compile(R"({"a": "${ .input.n + 1 }", "b": "${ .input.n }", "c": "${ .input.n + 2 }"})");
  ASSERT_TRUE(t.ok());
  EXPECT_FALSE(t->plain());
  EXPECT_EQ(t->expressions(), (strings{".input.n + 1", ".input.n", ".input.n + 2"}));
  EXPECT_EQ(t->worker_expressions(), (strings{".input.n + 1", ".input.n + 2"}));
  EXPECT_EQ(*t->render(small_order(), {"6", "7"}), R"({"a":6,"b":5,"c":7})");
  EXPECT_THROW(t->render(small_order(), {"6"}), std::logic_error);
}

TEST(templates, know_whether_they_read_an_item) {
  for (const auto* reads :
       {".item", ".item.a?", ".item[0]", "{item}", ".item | length", ".item.n + 1", ".item.n // 0", "[.input.a, .item]"})
    EXPECT_EQ(compile(quoted(reads))->item_root(), "item") << reads;
  EXPECT_EQ(compile(quoted(".index"))->item_root(), "index");
  EXPECT_EQ(compile(R"({"a":"${ .index + 1 }","b":"${ .item }"})")->item_root(), "index") << "the first of them";
  // Members of other values that are called so.
  for (const auto* other :
       {".input.item", ".input.lines | map(.item)", "any(.input.lines[]; .item == 3)", ".", "keys", ".steps.item.index"})
    EXPECT_EQ(compile(quoted(other))->item_root(), "") << other;
  EXPECT_EQ(compile("")->item_root(), "");
}

TEST(templates, give_the_worker_the_item) {
  auto doc = small_order();
  doc.with("item", R"({"sku":"a","n":2})").with("index", "0");
  EXPECT_EQ(*compile(quoted(".item.n * .index"))->worker_document(doc), R"({"index":0,"item":{"n":2}})");
  EXPECT_EQ(*compile(quoted(".item.n * .index"))->worker_document(small_order()), "{}") << "elsewhere there is none";
  literal_document all;
  all.with("input", "1").with("item", "2").with("index", "0");
  EXPECT_EQ(*compile(quoted("keys"))->worker_document(all), R"({"errors":{},"index":0,"input":1,"item":2,"status":{},"steps":{}})");
}

TEST(templates, refuse_strings_that_mix_text_and_expressions) {
  for (const auto* text : {R"("order-${ .task.id }")", R"("${ .task.id }-x")", R"("${ .task.id }${ .input.n }")"}) {
    const auto t = compile(text);
    ASSERT_FALSE(t.ok()) << text;
    EXPECT_EQ(t.failure().sentence, "the string " + std::string(text) + " mixes text and ${ }");
    EXPECT_NE(t.failure().remedy.find(R"-(${ "order-\(.task.id)" })-"), std::string::npos);
  }
  EXPECT_NE(compile(R"({"${ .task.id }": 1})").failure().sentence.find("the key"), std::string::npos);
  EXPECT_NE(compile(R"("${ .task.id ")").failure().sentence.find("does not end"), std::string::npos);
  EXPECT_NE(compile("{").failure().sentence.find("byte 2"), std::string::npos);
}

TEST(templates, know_a_closing_brace_from_one_in_an_expression) {
  for (const auto* expression : {R"({a: 1})", R"("}")", R"-("a\({b: "}"} | .b)c")-", R"({a: {b: "${"}})"}) {
    const auto t = compile(quoted(expression));
    ASSERT_TRUE(t.ok()) << expression << ": " << t.failure().sentence;
    EXPECT_EQ(t->worker_expressions(), strings{expression});
  }
}

TEST(templates, name_the_steps_they_mention) {
  const auto t = compile(R"J(["${ .steps.a.x }", "${ .status.b == \"x\" }", "${ .errors[\"c-d\"].code? }", "${ [.steps.a.y, .steps.e] }",
                             "${ if .status.f? then .steps.g else null end }", "${ .input.steps.h }", "${ .input | .steps.i }"])J");
  ASSERT_TRUE(t.ok()) << t.failure().sentence;
  EXPECT_EQ(t->mentioned_steps(), (strings{"a", "b", "c-d", "e", "f", "g"}));
}

TEST(worker_documents, hold_only_what_the_expressions_read) {
  struct row {
    const char* expression;
    const char* document;
  } rows[] = {
      {".input.n + 1", R"({"input":{"n":5}})"},
      {"[.input.n, .input.ok.x]", R"({"input":{"n":5,"ok":{"x":1}}})"},
      {"[.input.ok.x, .input.ok]", R"({"input":{"ok":{"x": 1, "y": 2}}})"},
      {"[.input.missing // 0, .input.n.below?]", R"({"input":{"n":5}})"},
      {"[.steps.reserve.id, .status.reserve]", R"({"status":{"reserve":"completed"},"steps":{"reserve":{"id":7}}})"},
      {R"(.steps["ship-it"] | .n)", R"({"steps":{"ship-it":{"n": 1}}})"},
      {"[.input.items[0].q] | length", nullptr},
      {"1 + 1", "{}"},
      {".input.n as $n | .input.ok | map(. + $n)", R"({"input":{"n":5,"ok":{"x": 1, "y": 2}}})"},
      {"reduce .input.ok[] as $v (0; . + $v)", R"({"input":{"ok":{"x": 1, "y": 2}}})"},
      {"{task} | .task", R"({"task":{"id":"t-1","workflow":"order","priority":0,"labels":{}}})"},
      {R"-("order-\(.task.id)")-", R"({"task":{"id":"t-1"}})"},
  };
  for (const auto& row : rows) {
    const auto t = compile(quoted(row.expression));
    ASSERT_TRUE(t.ok()) << row.expression << t.failure().sentence;
    const auto out = t->worker_document(small_order());
    if (row.document) {
      ASSERT_TRUE(out.ok()) << row.expression;
      EXPECT_EQ(*out, row.document) << row.expression;
    } else {
      EXPECT_FALSE(out.ok());
    }
  }
}

TEST(templates, that_name_a_large_value_again_and_again_end_before_they_fill_the_memory) {
  literal_document doc;
  doc.with("steps.a", '"' + std::string(large_bytes - 2, 'x') + '"');
  EXPECT_EQ(rendered(R"(["${ .steps.a }","${ .steps.a }"])", doc).size(), 2 * large_bytes + 3);
  std::string many = R"(["${ .steps.a }")";
  for (int i = 0; i < 1'000; ++i) many += R"(,"${ .steps.a }")";
  EXPECT_EQ(rendered(many + "]", doc), "error: it has more than 4194304 bytes with all values in it");
}

TEST(worker_documents, end_before_they_are_larger_than_a_worker_takes) {
  literal_document doc;
  std::string sum = "0";
  for (int i = 0; i < 49; ++i) {
    const auto name = "s" + std::to_string(i);
    doc.with("steps." + name, '"' + std::string(large_bytes - 2, 'x') + '"');
    sum += " + (.steps." + name + " | length)";
  }
  const auto out = compile(core::quoted(sum))->worker_document(doc);
  ASSERT_FALSE(out.ok());
  EXPECT_NE(out.failure().sentence.find("with it more than 50331648 bytes are read"), std::string::npos) << out.failure().sentence;
}

TEST(worker_documents, are_whole_when_an_expression_looks_at_all) {
  literal_document doc;
  doc.with("input", "{\"a\":1}").with("task", "{\"id\":\"t\"}").with("steps.x", "1").with("errors.x", "2");
  const std::string whole = R"({"errors":{"x":2},"input":{"a":1},"status":{},"steps":{"x":1},"task":{"id":"t"}})";
  for (const auto* expression : {". | .input", "keys", ".. | numbers", "map(length)", "def f: .; f", ".input.a = 1", "getpath([\"input\"])",
                                 "with_entries(.)", ".[\"in\" + \"put\"]", "try error(\"x\") catch ."}) {
    const auto t = compile(quoted(expression));
    ASSERT_TRUE(t.ok()) << expression << t.failure().sentence;
    EXPECT_EQ(*t->worker_document(doc), whole) << expression;
  }
}

TEST(worker_documents, refuse_numbers_that_jq_would_change) {
  struct row {
    const char* expression;
    const char* sentence;
  } rows[] = {
      {".input.big + 1", "expression ${ .input.big + 1 }: jq would change the number 9007199254740993 at .input.big"},
      {".input | length", "expression ${ .input | length }: jq would change the number 9007199254740993 at .input.big"},
      {"[.input.items[].q]", "expression ${ [.input.items[].q] }: jq would change the number 1e999 at .input.items[1].q"},
      {".steps | length", "expression ${ .steps | length }: jq would change the number 12345678901234567890 at .steps.reserve.rest"},
  };
  for (const auto& row : rows) {
    const auto out = compile(quoted(row.expression))->worker_document(small_order());
    ASSERT_FALSE(out.ok()) << row.expression;
    EXPECT_EQ(out.failure().sentence, row.sentence);
    EXPECT_EQ(out.failure().code, v1::ERROR_CODE_EXPRESSION);
    EXPECT_NE(out.failure().remedy.find("plain path"), std::string::npos);
  }
  EXPECT_EQ(rendered(quoted(".input.big"), small_order()), "9007199254740993");
}

}  // namespace
}  // namespace fairlead::core
