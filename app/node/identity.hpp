#pragma once
// The identity of a node across its processes: an id made once, and the counter of its incarnations, in a small file in the node's data
// folder. The file is replaced as a whole, durably, before a number is given out: no number is ever given twice.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace fairlead::app {

class node_identity {
 public:
  /// Creates the folder (its parent must exist) and, with the time `now`, the file if they are missing. Keeps all other processes out while
  /// the object lives. Errors: store_in_use names the holder, corrupt names the file, disk the refusal of the system.
  static result<std::unique_ptr<node_identity>> open(const std::string& folder, moment now);

  ~node_identity();
  node_identity(const node_identity&) = delete;
  node_identity& operator=(const node_identity&) = delete;

  const std::string& node_id() const { return node_id_; }

  /// The next incarnation; from any thread. A new file begins at the unix time in seconds, above all numbers that a lost file has given
  /// out. For the process at its start, and for each agent that is restarted in it.
  result<std::uint64_t> next_incarnation();
  /// Later incarnations are above `least`: stores of earlier releases had their own count.
  status at_least(std::uint64_t least);

 private:
  node_identity(std::string folder, int lock_fd) : folder_(std::move(folder)), lock_fd_(lock_fd) {}
  status load(moment now);
  status save(std::uint64_t incarnation);

  std::string folder_;
  int lock_fd_;
  std::string node_id_;
  std::mutex guard_;
  std::uint64_t incarnation_ = 0;  // last incarnation given out
};

}  // namespace fairlead::app
