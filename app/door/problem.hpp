#pragma once
// Refusals as problem documents (RFC 9457). One table has every code: of the engine's errors, and of HTTP alone.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/door/message.hpp"
#include "app/json/api_request.hpp"
#include "messages/error.hpp"

namespace fairlead::app::door {

struct problem_kind {
  std::string_view code;
  unsigned status;
  std::string_view title;
  std::string_view meaning;  // one or two sentences for whoever follows the link
  std::string_view remedy;   // what to do, where the problem itself says nothing better
};

/// In the order of their status.
const std::vector<problem_kind>& problem_kinds();
/// nullptr: there is no such code.
const problem_kind* find_problem_kind(std::string_view code);

/// One thing that is wrong in a request.
struct fault {
  std::string pointer;  // RFC 6901, into a body of JSON; or the dotted key in one of YAML; or the name of a parameter or header
  std::string sentence;
  std::string remedy;
  int line = 0, column = 0;  // from 1, in a body of YAML; 0: not known
};

struct problem {
  std::string code;  // of problem_kinds()
  std::string sentence;
  std::string remedy;
  std::vector<fault> faults;
  headers more;        // that the answer has besides
  bool close = false;  // the connection, because what follows cannot be trusted
  std::vector<help> what_helps{};
  std::uint32_t retry_after_s = 1;  // of what may pass
};

/// How long whoever has sent too much of what is refused has to wait: it is counted by the minute.
inline constexpr std::uint32_t a_minute_s = 60;

/// Of an error of the engine. Those that may pass say when to try again. The commands in its remedy become requests.
problem problem_of(const error& why);

/// `id`: of the request.
answer to_answer(const problem& what, const std::string& id);

/// The page of a code.
std::string kind_json(const problem_kind& kind);

}  // namespace fairlead::app::door
