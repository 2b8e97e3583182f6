#pragma once
// How far an operation has come. It is the checkpoint of its step, and at last the step's output.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/writer.hpp"
#include "messages/api.pb.h"
#include "messages/error.hpp"

namespace fairlead::app::bulk {

/// Of the ids that a checkpoint may have aside.
inline constexpr std::size_t most_aside_bytes = 16 << 10;

/// The note of an operation that waits for nothing: an empty one would leave the former note in its place.
inline constexpr const char* working_note = "at work";

class tally {
 public:
  /// Counts the answer about one task.
  void add(const v1::OperateResult& answer);
  std::uint64_t done() const { return done_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t answered() const { return done_ + refused_; }

  std::string cursor;              // of the page that is next; empty: the first
  std::uint64_t next_id = 0;       // of the ids that were given
  bool stopped = false;            // by an operator, before its end
  std::vector<std::string> aside;  // before `cursor`, and not answered: what they were asked may be taken later
  bool over = false;               // only these are left

  std::string text() const;
  /// Anything else than what text() gave is no progress.
  static tally of(std::string_view text);

  /// Members of an object: `done`, `refused`, `refusals`. `with_help`: refusals name requests, too.
  void write(json_writer& out, bool with_help) const;

  struct group {
    std::uint64_t tasks = 0;
    std::string example, code, sentence, remedy;  // of the first task
  };
  /// Refusals by code and sentence without the id.
  const std::map<std::string, group>& groups() const { return groups_; }

 private:
  std::uint64_t done_ = 0, refused_ = 0;
  std::map<std::string, group> groups_;
};

}  // namespace fairlead::app::bulk
