#pragma once
// The rows of workers over HTTP, in the meta table: one for each instance, by its name, and the key by which the shard signs.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "messages/task.pb.h"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace fairlead::store {

void put_worker(batch& out, std::string_view instance, const v1::WorkerRecord& record);
void erase_worker(batch& out, std::string_view instance);

/// Calls `visit` for each instance, by name, until `visit` returns false.
status for_each_worker(const snapshot& from, const std::function<bool(std::string_view instance, const v1::WorkerRecord&)>& visit);

void put_work_key(batch& out, const v1::WorkKey& record);
/// nullopt: the shard has signed nothing yet.
result<std::optional<v1::WorkKey>> load_work_key(const snapshot& from);

/// Why a row of the meta table is no sound row of these; nullopt: it is one, or is not of these.
std::optional<std::string> unsound_worker_row(std::string_view key, std::string_view payload);

}  // namespace fairlead::store
