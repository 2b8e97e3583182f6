#pragma once
// How what was expected is compared with what has happened.

#include <string>
#include <vector>

namespace fairlead::app {

/// `...` among the expected names stands for any number of others.
bool names_match(const std::vector<std::string>& expected, const std::vector<std::string>& names);
/// The same names, in any order.
bool same_names(std::vector<std::string> expected, std::vector<std::string> names);
/// The same value: the order of members and the spelling of numbers do not count.
bool json_is(const std::string& expected, const std::string& text);
/// An object has all members that are expected, and may have others; the same holds below it. A list has the same length.
bool json_has(const std::string& expected, const std::string& text);
/// `[reserve, charge]`.
std::string list_words(const std::vector<std::string>& names);

}  // namespace fairlead::app
