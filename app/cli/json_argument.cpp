#include "app/cli/json_argument.hpp"

#include <fstream>
#include <iostream>

#include "actors/core/request_limits.hpp"
#include "actors/core/text/json.hpp"

namespace fairlead::app {

namespace {

error bad(const std::string& sentence, const std::string& remedy = "Give JSON, @FILE or @- for standard input") {
  return {v1::ERROR_CODE_INVALID_ARGUMENT, sentence, remedy};
}

}  // namespace

result<std::string> read_json_argument(const std::string& given, const std::string& what) {
  // An empty argument is probably an unset variable of a script, and must not become null.
  if (given.empty()) return bad(what + " is empty", "Give JSON, @FILE or @- for standard input; nothing is written null");
  std::string out = given;
  std::string name = what;
  if (given.front() == '@') {
    name = given == "@-" ? "Standard input" : "The file " + given.substr(1);
    std::ifstream file;
    if (given != "@-") file.open(given.substr(1), std::ios::binary);
    auto& in = given == "@-" ? std::cin : static_cast<std::istream&>(file);
    // Reads one byte more than allowed, so that a larger file of any size is refused at once.
    out.resize(max_input_bytes + 1);
    if (in) in.read(out.data(), static_cast<std::streamsize>(out.size()));
    if (in.bad() || (given != "@-" && !file.is_open())) return bad(name + " cannot be read");
    out.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (out.size() > max_input_bytes) return bad(name + " is larger than 256 KiB", "Keep large data elsewhere and give a reference to it");
  if (auto checked = core::check_json(out); !checked) return bad(name + " is not JSON: " + checked.failure().sentence);
  return out;
}

}  // namespace fairlead::app
