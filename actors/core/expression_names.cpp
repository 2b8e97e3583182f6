// jq 1.6's built-in functions: which are allowed, and why the others are not.

#include <algorithm>
#include <array>

#include "actors/core/expression_check.hpp"

namespace fairlead::core {
namespace {

// Sorted. Pure functions of their input and arguments; formats of dates are in UTC.
constexpr std::array allowed = std::to_array<std::string_view>(
    {"IN",          "INDEX",      "JOIN",           "acos",        "acosh",          "add",         "all",          "any",
     "arrays",      "ascii",      "ascii_downcase", "ascii_upcase", "asin",          "asinh",       "atan",         "atan2",
     "atanh",       "booleans",   "bsearch",        "capture",     "cbrt",           "ceil",        "combinations", "contains",
     "copysign",    "cos",        "cosh",           "del",         "delpaths",       "drem",        "empty",        "endswith",
     "error",       "exp",        "exp10",          "exp2",        "explode",        "expm1",       "fabs",         "false",
     "fdim",        "finites",    "first",          "flatten",     "floor",          "fma",         "fmax",         "fmin",
     "fmod",        "format",     "frexp",          "from_entries", "fromdate",      "fromdateiso8601", "fromjson", "fromstream",
     "gamma",       "getpath",    "gmtime",         "group_by",    "gsub",           "has",         "hypot",        "implode",
     "in",          "index",      "indices",        "infinite",    "inside",         "isempty",     "isfinite",     "isinfinite",
     "isnan",       "isnormal",   "iterables",      "join",        "keys",           "keys_unsorted", "last",       "ldexp",
     "leaf_paths",  "length",     "lgamma",         "lgamma_r",    "limit",          "log",         "log10",        "log1p",
     "log2",        "logb",       "ltrimstr",       "map",         "map_values",     "match",       "max",          "max_by",
     "min",         "min_by",     "mktime",         "modf",        "nan",            "nearbyint",   "normals",      "not",
     "nth",         "null",       "nulls",          "numbers",     "objects",        "path",        "paths",        "pow",
     "pow10",       "range",      "recurse",        "recurse_down", "remainder",     "repeat",      "reverse",      "rindex",
     "rint",        "round",      "rtrimstr",       "scalars",     "scalars_or_empty", "scan",      "select",       "setpath",
     "significand", "sin",        "sinh",           "sort",        "sort_by",        "split",       "splits",       "sqrt",
     "startswith",  "strftime",   "strings",        "strptime",    "sub",            "tan",         "tanh",         "test",
     "tgamma",      "to_entries", "todate",         "todateiso8601", "tojson",       "tonumber",    "tostream",     "tostring",
     "transpose",   "true",       "trunc",          "truncate_stream", "type",       "unique",      "unique_by",    "until",
     "utf8bytelength", "values",  "walk",           "while",       "with_entries"});

// Sorted.
constexpr std::array passing = std::to_array<std::string_view>({"empty", "false", "infinite", "nan", "null", "true"});
constexpr std::array passing_with_arguments = std::to_array<std::string_view>(
    {"atan2", "copysign", "error", "first", "fmax", "fmin", "fmod", "isempty", "last", "limit", "nth", "pow", "range"});

struct refusal {
  std::string_view name;
  std::string_view why;
};

constexpr std::array refused = std::to_array<refusal>({
    {"env", "the environment is not visible to expressions"},
    {"now", "expressions have no clock"},
    {"localtime", "expressions have no time zone of the machine; use gmtime"},
    {"strflocaltime", "expressions have no time zone of the machine; use strftime"},
    {"input", "there is only one document; the task's input is .input"},
    {"inputs", "there is only one document; the task's input is .input"},
    {"input_filename", "expressions read no files"},
    {"input_line_number", "expressions read no files"},
    {"debug", "expressions write nothing but their result"},
    {"stderr", "expressions write nothing but their result"},
    {"halt", "an expression ends with its result; use error"},
    {"halt_error", "an expression ends with its result; use error"},
    {"import", "modules are not allowed"},
    {"include", "modules are not allowed"},
    {"modulemeta", "modules are not allowed"},
    {"get_search_list", "modules are not allowed"},
    {"get_jq_origin", "where jq stands is not visible to expressions"},
    {"get_prog_origin", "where jq stands is not visible to expressions"},
    {"builtins", "jq's own list would name functions that are refused here"},
});

}  // namespace

bool is_allowed_function(std::string_view name) { return std::binary_search(allowed.begin(), allowed.end(), name); }

bool passes_input_on(std::string_view name, bool arguments) {
  return arguments ? std::binary_search(passing_with_arguments.begin(), passing_with_arguments.end(), name)
                   : std::binary_search(passing.begin(), passing.end(), name);
}

std::string refuse_name(std::string_view name) {
  for (const auto& entry : refused) {
    if (entry.name == name) return "`" + std::string(name) + "` is not allowed: " + std::string(entry.why);
  }
  if (name.substr(0, 1) == "_") return "`" + std::string(name) + "` is not allowed: names with a leading underscore are jq's own";
  return {};
}

}  // namespace fairlead::core
