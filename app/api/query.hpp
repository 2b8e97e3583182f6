#pragma once
// The parameters of a request's query, and pages of lists.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "actors/core/request_limits.hpp"
#include "app/api/exchange.hpp"
#include "app/json/writer.hpp"

namespace fairlead::app::api {

inline constexpr duration longest_wait = std::chrono::seconds{30};

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

// ---- one parameter; what is not sound is refused, and what is not given changes nothing ----

template <class Take>
void take_text(exchange& from, const std::string& name, const Take& take) {
  const auto given = from.parameter(name);
  if (given && given->empty())
    return from.refuse_at(name, invalid("The parameter " + name + " is empty.", "Give a value, or leave it out."));
  if (given) take(*given);
}
template <class Take>
void take_flag(exchange& from, const std::string& name, const Take& take) {
  take_text(from, name, [&](const std::string& word) {
    if (word == "true" || word == "false") return take(word == "true");
    from.refuse_at(name, invalid("The parameter " + name + " is neither true nor false.", "Give true or false."));
  });
}
template <class Take, class Number = std::uint64_t>
void take_number(exchange& from, const std::string& name, Number least, Number most, const Take& take) {
  take_text(from, name, [&](const std::string& text) {
    Number number = 0;
    if (read_number(text, number) && number >= least && number <= most) return take(number);
    from.refuse_at(name,
                   invalid("The parameter " + name + " is no number from " + std::to_string(least) + " to " + std::to_string(most) + ".",
                           "Give one, or leave it out."));
  });
}
/// An age, such as `2h`, and a moment, in milliseconds.
void take_age(exchange& from, const std::string& name, std::int64_t& ms);
void take_moment(exchange& from, const std::string& name, std::int64_t& unix_ms);

/// `label=KEY:VALUE`, any number of times.
void take_labels(exchange& from, google::protobuf::RepeatedPtrField<v1::Label>& out);

/// `?wait=30s`; nullopt: there is none.
std::optional<duration> take_wait(exchange& from);

// ---- pages ----

/// `page_size` and `cursor` of a list. A cursor goes on with one list: that of the same path and the same other parameters. 0 and empty: not given.
/// Take it before the other parameters.
struct page_asked {
  explicit page_asked(exchange& from);

  std::uint32_t size = 0;
  std::string cursor;

  /// The cursor of a list that goes on from a number; 0: it was not given.
  std::uint64_t number(exchange& from) const;

  /// `"next":…`: the path of the page that begins at `cursor`; empty: null.
  void write_next(json_writer& out, const std::string& cursor) const;
  /// The end of a page whose list is searched with filters: `next`, how far the nodes have looked, and whether the page is short only
  /// because they stopped there.
  template <class Reply>
  void write_end(json_writer& out, const std::string& cursor, const Reply& reply) const {
    write_next(out, cursor);
    out.key("looked_at").number(reply.looked_at());
    out.key("complete").boolean(cursor.empty() || static_cast<std::uint32_t>(reply.items_size()) >= page_size_of(size));
    out.key("missing").raw(missing_json(reply.missing())).end_object();
  }

 private:
  std::string path_, filters_, seal_;
};

}  // namespace fairlead::app::api
