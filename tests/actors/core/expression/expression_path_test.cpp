#include <gtest/gtest.h>

#include "tests/actors/core/expression/expression_fixture.hpp"

namespace fairlead::core {
namespace {

literal_document order() {
  literal_document out;
  out.with("input", R"( {"a": {"b": 1, "null": null}, "a b": "space", "items": [ {"sku":"x"}, [10, 20 , 30], "last" ], "empty": [],
      "big": 12345678901234567890, "one": 1.0, "huge": 1e400, "zero": -0, "text": "q\"}]\\", "é": "ü", "\u0065sc": "escaped key",
      "twice": 1, "twice": {"of": "two"}, "deep": {"x": "}", "y": [{"z": "]"}]}} )")
      .with("task", R"({"id":"order-1","workflow":"order","priority":3,"labels":{"team":"blue"}})")
      .with("steps.reserve", R"({"id": 7})")
      .with("steps.ship-it", "\"shipped\"")
      .with("status.reserve", "\"completed\"")
      .with("errors.charge", R"({"code":"http_503"})");
  return out;
}

struct row {
  const char* expression;
  const char* result;
};

TEST(plain_paths, copy_what_stands_in_the_document) {
  const row rows[] = {
      {".input.a.b", "1"},
      {".input.a", R"({"b": 1, "null": null})"},
      {".input.a.null", "null"},
      {R"(.input["a b"])", "\"space\""},
      {R"(.input["a"]["b"])", "1"},
      {R"(.["input"].a.b)", "1"},
      {".input.items[0].sku", "\"x\""},
      {".input.items[1]", "[10, 20 , 30]"},
      {".input.items[1][2]", "30"},
      {".input.items[-1]", "\"last\""},
      {".input.items[-3].sku", "\"x\""},
      {".input.big", "12345678901234567890"},
      {".input.one", "1.0"},
      {".input.huge", "1e400"},
      {".input.zero", "-0"},
      {".input.text", R"("q\"}]\\")"},
      {R"(.input["é"])", "\"ü\""},
      {".input.esc", "\"escaped key\""},
      {".input.twice.of", "\"two\""},
      {".input.deep.y[0].z", "\"]\""},
      {".task.id", "\"order-1\""},
      {".task.priority", "3"},
      {".task.labels.team", "\"blue\""},
      {".steps.reserve.id", "7"},
      {R"(.steps["ship-it"])", "\"shipped\""},
      {".status.reserve", "\"completed\""},
      {".errors.charge.code", "\"http_503\""},
      {".input.a.b?", "1"},
      {".input.a.c?", "null"},
      {".input.a.b.c?", "null"},
      {".input.items[9]?", "null"},
      {".steps.unknown.id?", "null"},
      {".launch.job?", "null"},
  };
  const auto doc = order();
  for (const auto& [expression, result] : rows) EXPECT_EQ(rendered(quoted(expression), doc), result) << expression;
}

TEST(plain_paths, that_lead_nowhere_are_errors_naming_expression_and_place) {
  const row rows[] = {
      {".input.a.c", ".input.a.c is missing"},
      {".input.c.d", ".input.c is missing"},
      {".input.a.b.c", ".input.a.b is a number, not an object"},
      {".input.a.null.c", ".input.a.null is null, not an object"},
      {".input.a[0]", ".input.a is an object, not an array"},
      {".input.items.sku", ".input.items is an array, not an object"},
      {".input.items[3]", ".input.items[3] is missing"},
      {".input.items[-4]", ".input.items[-4] is missing"},
      {".input.empty[0]", ".input.empty[0] is missing"},
      {".input.empty[-1]", ".input.empty[-1] is missing"},
      {R"(.input["no such"])", R"(.input["no such"] is missing)"},
      {".steps.charge.id", ".steps.charge is missing"},
      {".launch.job", ".launch is missing"},
  };
  const auto doc = order();
  for (const auto& [expression, sentence] : rows) {
    EXPECT_EQ(rendered(quoted(expression), doc), "error: expression ${ " + std::string(expression) + " }: " + sentence);
  }
}

TEST(plain_paths, are_refused_when_no_root_has_their_name) {
  const auto doc = order();
  const row rows[] = {
      {".inputs.a", "there is no .inputs"},     {".order", "there is no .order"},
      {".task.name", "there is no .task.name"}, {".[0]", "not an array"},
      {".steps[0]", ".steps is an object"},     {".index.a", "there is no .index.a: .index is a number"},
      {".index[0]", "there is no .index[0]"},
  };
  for (const auto& [expression, part] : rows) {
    const auto out = rendered(quoted(expression), doc);
    EXPECT_EQ(out.rfind("refused: expression ${ " + std::string(expression) + " }: ", 0), 0U) << out;
    EXPECT_NE(out.find(part), std::string::npos) << out;
  }
}

TEST(plain_paths, lead_into_the_item_of_a_list) {
  literal_document doc;
  doc.with("item", R"({"sku":"a","big":12345678901234567890})").with("index", "3");
  EXPECT_EQ(rendered(R"({"item":"${ .item }","sku":"${ .item.sku }","big":"${ .item.big }","n":"${ .index }"})", doc),
            R"({"item":{"sku":"a","big":12345678901234567890},"sku":"a","big":12345678901234567890,"n":3})");
  EXPECT_EQ(rendered(quoted(".item.colour"), doc), "error: expression ${ .item.colour }: .item.colour is missing");
  EXPECT_EQ(rendered(quoted(".item.colour?"), doc), "null");
}

TEST(plain_paths, are_the_only_ones_that_do_without_the_worker) {
  for (const auto* expression : {".input | length", ".input.a // 1", ".input.items[]", ".input.a?.b", ".input.items[1:2]", ".", ".steps",
                                 ".input[\"\\(.task.id)\"]", "1", "\"text\"", ".input.a + 1"}) {
    EXPECT_EQ(rendered(quoted(expression), order()), "not plain") << expression;
  }
}

}  // namespace
}  // namespace fairlead::core
