#pragma once
// Who a node is, across its processes: an id that is made once, and the counter of its incarnations, in a small file in the node's data folder.
// The file is replaced as a whole, durably, before a number is given out: no number is ever given twice.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

class node_identity {
 public:
  /// Makes the folder (its parent must exist) and, at `now`, the file where there are none, and keeps every other process out for as long as this lives.
  /// Errors: store_in_use names who holds it, corrupt names the file, disk what the system refused.
  static result<std::unique_ptr<node_identity>> open(const std::string& folder, moment now);

  ~node_identity();
  node_identity(const node_identity&) = delete;
  node_identity& operator=(const node_identity&) = delete;

  const std::string& node_id() const { return node_id_; }

  /// The next one; from any thread. Those of a file that is made new begin at the unix time in seconds, above all that a lost one has given out.
  /// For the process itself when it starts, and for each agent that is started again in it.
  result<std::uint64_t> next_incarnation();
  /// Later ones are above `least`: stores of earlier releases counted for themselves.
  status at_least(std::uint64_t least);

 private:
  node_identity(std::string folder, int lock_fd) : folder_(std::move(folder)), lock_fd_(lock_fd) {}
  status load(moment now);
  status save(std::uint64_t incarnation);

  std::string folder_;
  int lock_fd_;
  std::string node_id_;
  std::mutex guard_;
  std::uint64_t incarnation_ = 0;  // the last that was given out
};

}  // namespace fairlead::app
