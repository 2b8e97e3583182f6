#pragma once
// What a port counts: connections, requests and answers. Thread-safe; each count is one relaxed addition.
//
// Whoever serves the port calls, for each request:
//   begun.emplace(figures->requests)                  once its head has come; the gauge falls with it
//   figures->on_answer(method, status, microseconds)  once, with the head of the answer; of a stream the time until it begins
// It holds a `counted` of `connections` for each open connection, and one of `streams` for each answer that is a stream.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "actors/core/distribution.hpp"

namespace fairlead::app::door {

class figures {
 public:
  using gauge = std::atomic<std::int64_t>;

  struct answer_count {
    std::string_view method;  // GET, HEAD, POST, PUT, DELETE or other
    unsigned status = 0;
    std::uint64_t count = 0;
  };

  /// Now.
  gauge connections = 0, streams = 0, requests = 0;

  void on_answer(std::string_view method, unsigned status, std::uint64_t microseconds) {
    const auto row = static_cast<std::size_t>(std::find(methods.begin(), methods.end() - 1, method) - methods.begin());
    const auto column = std::min<std::size_t>(status < first_status ? 0 : status - first_status, statuses - 1);
    answers_[row][column].fetch_add(1, std::memory_order_relaxed);
    const auto& bounds = core::distribution_bounds;
    const auto at = static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), microseconds) - bounds.begin());
    times_[at].fetch_add(1, std::memory_order_relaxed);
    microseconds_.fetch_add(microseconds, std::memory_order_relaxed);
  }

  /// Those that were given at least once.
  std::vector<answer_count> answers() const {
    std::vector<answer_count> out;
    for (std::size_t row = 0; row < methods.size(); ++row)
      for (std::size_t column = 0; column < statuses; ++column)
        if (const auto count = answers_[row][column].load(std::memory_order_relaxed); count != 0)
          out.push_back({methods[row], first_status + static_cast<unsigned>(column), count});
    return out;
  }

  /// Of the answers, in microseconds.
  v1::Distribution times() const {
    v1::Distribution out;
    for (const auto& count : times_) out.add_counts(count.load(std::memory_order_relaxed));
    out.set_sum(static_cast<double>(microseconds_.load(std::memory_order_relaxed)));
    return out;
  }

 private:
  static constexpr std::array<std::string_view, 6> methods{"GET", "HEAD", "POST", "PUT", "DELETE", "other"};
  static constexpr unsigned first_status = 200;
  static constexpr std::size_t statuses = 400;

  std::array<std::array<std::atomic<std::uint64_t>, statuses>, methods.size()> answers_{};
  std::array<std::atomic<std::uint64_t>, core::distribution_bounds.size() + 1> times_{};
  std::atomic<std::uint64_t> microseconds_ = 0;
};

/// One more of a gauge, for as long as it lives.
class counted {
 public:
  explicit counted(figures::gauge& in) : in_(in) { in_.fetch_add(1, std::memory_order_relaxed); }
  ~counted() { in_.fetch_sub(1, std::memory_order_relaxed); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  figures::gauge& in_;
};

}  // namespace fairlead::app::door
