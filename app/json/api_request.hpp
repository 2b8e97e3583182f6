#pragma once
// The requests of the API that do what commands do, so that programs are told what helps as data.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/remedies.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app {

struct api_request {
  std::string method;
  std::string path;
  std::string body;  // JSON; empty: none
};

/// What helps: a command, and the request that does the same. `effect`: without a full stop.
struct help {
  std::string command;
  std::string effect;
  std::optional<api_request> request{};
};

/// nullopt: no request does the same. JSON and TEXT, as placeholders of the command, are texts of the body.
std::optional<api_request> request_of(std::string_view command);

help help_of(const remedy& what);

/// An error's remedy as programs get it: with requests in place of the commands that it names. What they do is added to `found`.
std::string with_requests(std::string_view remedy, std::vector<help>& found);

/// Members of an object, of a refusal inside an answer: `remedy`, with requests in place of commands, and `what_helps`.
void write_remedy(json_writer& out, std::string_view remedy);

/// An array.
void write_helps(json_writer& out, const std::vector<help>& all);

}  // namespace fairlead::app
