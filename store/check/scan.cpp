#include "store/check/scan.hpp"

namespace fairlead::store {

std::uint64_t task_number_of(table where, std::string_view key) {
  switch (where) {
    case table::due: return keys::decode_due(key)->number;
    case table::pending: return keys::decode_pending(key)->number;
    case table::held: return keys::decode_held(key)->number;
    case table::finished: return keys::decode_finished(key)->number;
    case table::by_workflow: return keys::decode_by_workflow(key)->number;
    case table::by_label: return keys::decode_by_label(key)->number;
    case table::history: return keys::decode_history(key)->number;
    default: return keys::decode_payload(key)->number;
  }
}

void check_scan::add(std::string sentence) {
  if (report_.findings.size() < max_findings_) {
    report_.findings.push_back(place_ + std::move(sentence));
  } else {
    ++report_.findings_left_out;
  }
}

void check_scan::add(table where, std::string_view key, std::string_view what) {
  add(std::string("Table ") + table_name(where) + ", key " + keys::describe(where, key) + ": " + std::string(what) + ".");
}

void check_scan::check_parts(table where) {
  std::uint64_t last = 0;
  bool known = false;
  scan(where, [&](std::string_view key, std::string_view payload) {
    const auto number = task_number_of(where, key);
    if (!known || number != last) {
      last = number;
      known = true;
      auto row = of_.get(table::task, keys::task(default_namespace, number));
      if (row && !row->has_value()) add(where, key, "there is no such task");
    }
    if (where != table::history) return;
    v1::HistoryChunk chunk;
    if (!chunk.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) add(where, key, "the value does not parse");
  });
}

}  // namespace fairlead::store
