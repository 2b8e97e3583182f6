#pragma once
// The part of a check that reads archives.

#include <cstdint>
#include <map>

#include "store/check/scan.hpp"
#include "store/lmdb/archive.hpp"

namespace fairlead::store {

class archive_check {
 public:
  /// `tombstones`: for each archive, how many ids of the store name it.
  archive_check(check_scan& all, archive& archives, const std::map<archive_day, std::uint64_t>& tombstones)
      : all_(all), archives_(archives), tombstones_(tombstones) {}

  void run();

 private:
  void check_one(const archive_day& which, const snapshot& in);
  void name_missing(const archive_day& which, const snapshot& in);

  check_scan& all_;
  archive& archives_;
  const std::map<archive_day, std::uint64_t>& tombstones_;
};

}  // namespace fairlead::store
