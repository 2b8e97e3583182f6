#include "store/rows/worker_rows.hpp"

#include "store/keys.hpp"
#include "store/load.hpp"
#include "store/meta_rows.hpp"

namespace fairlead::store {

namespace {

std::string worker_key_of(std::string_view instance) { return keys::meta(std::string{meta::worker_rows}.append(instance)); }

bool parse(google::protobuf::Message& out, std::string_view payload) {
  return out.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

}  // namespace

void put_worker(batch& out, std::string_view instance, const v1::WorkerRecord& record) {
  out.put(table::meta, worker_key_of(instance), record.SerializeAsString());
}

void erase_worker(batch& out, std::string_view instance) { out.erase(table::meta, worker_key_of(instance)); }

status for_each_worker(const snapshot& from, const std::function<bool(std::string_view instance, const v1::WorkerRecord&)>& visit) {
  status outcome = nothing{};
  const auto all = keys::meta(meta::worker_rows);
  auto scanned = from.scan(table::meta, all, keys::after(all), [&](std::string_view key, std::string_view payload) {
    v1::WorkerRecord record;
    if (!parse(record, payload)) {
      outcome = damaged_value(table::meta, key);
      return false;
    }
    return visit(key.substr(all.size()), record);
  });
  return outcome ? scanned : outcome;
}

void put_work_key(batch& out, const v1::WorkKey& record) {
  out.put(table::meta, keys::meta(meta::work_key_row), record.SerializeAsString());
}

result<std::optional<v1::WorkKey>> load_work_key(const snapshot& from) {
  const auto key = keys::meta(meta::work_key_row);
  const auto found = from.get(table::meta, key);
  if (!found) return found.failure();
  if (!found->has_value()) return std::optional<v1::WorkKey>{};
  v1::WorkKey out;
  if (!parse(out, **found)) return damaged_value(table::meta, key);
  return std::optional{std::move(out)};
}

std::optional<std::string> unsound_worker_row(std::string_view key, std::string_view payload) {
  if (key == keys::meta(meta::work_key_row)) {
    v1::WorkKey record;
    if (!parse(record, payload)) return "the value does not parse";
    return record.key().empty() ? std::optional<std::string>{"the row has no key"} : std::nullopt;
  }
  const auto workers = keys::meta(meta::worker_rows);
  if (!key.starts_with(workers)) return std::nullopt;
  if (key.size() == workers.size()) return "the row names no instance";
  v1::WorkerRecord record;
  if (!parse(record, payload)) return "the value does not parse";
  return record.incarnation() == 0 ? std::optional<std::string>{"the row has no incarnation"} : std::nullopt;
}

}  // namespace fairlead::store
