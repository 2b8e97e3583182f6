#include "actors/system/time_zones.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fairlead {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_zone_name = 64;

fs::path database() {
  const char* const elsewhere = std::getenv("TZDIR");
  return elsewhere != nullptr && *elsewhere != '\0' ? elsewhere : "/usr/share/zoneinfo";
}

/// The form of the database's names, which have no dots. It excludes names that cctz would take for something else (files anywhere, the C
/// library's zones, the machine's own zone) and that would be another zone on the next machine.
bool well_formed(std::string_view name) {
  if (name.empty() || name.size() > max_zone_name || name.front() == '/' || name.find("//") != std::string_view::npos) return false;
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-' || c == '/';
  };
  if (!std::all_of(name.begin(), name.end(), fits)) return false;
  if (name == "localtime" || name == "posixrules" || name == "Factory") return false;
  // Copies of the whole database, with leap seconds and without.
  return name.substr(0, 6) != "right/" && name.substr(0, 6) != "posix/";
}

bool holds_a_zone(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return false;
  std::ifstream in{file, std::ios::binary};
  char magic[4] = {};
  return in.read(magic, sizeof magic) && std::string_view{magic, sizeof magic} == "TZif";
}

}  // namespace

const cctz::time_zone* time_zones::find(std::string_view name) const {
  static const auto utc = cctz::utc_time_zone();
  // Known also on a machine without a database.
  if (name.empty() || name == "UTC") return &utc;
  const std::lock_guard<std::mutex> held{lock_};
  if (const auto known = known_.find(name); known != known_.end()) return &known->second;
  // cctz remembers every name that it was asked for, so only existing zones may reach it.
  if (!well_formed(name) || !holds_a_zone(database() / name)) return nullptr;
  std::string key{name};
  cctz::time_zone zone;
  if (!cctz::load_time_zone(key, &zone)) return nullptr;
  return &known_.emplace(std::move(key), zone).first->second;
}

const time_zones& time_zones::of_system() {
  // Never destroyed: threads that still run at the end of the process may use its zones.
  static const auto* const only = new time_zones;
  return *only;
}

std::vector<std::string> time_zones::names() {
  std::vector<std::string> out;
  const auto root = database();
  std::error_code failed;
  for (fs::recursive_directory_iterator at{root, fs::directory_options::skip_permission_denied, failed}, end; !failed && at != end;
       at.increment(failed)) {
    auto name = at->path().lexically_relative(root).generic_string();
    if (name == "right" || name == "posix") {
      at.disable_recursion_pending();
      continue;
    }
    if (well_formed(name) && holds_a_zone(at->path())) out.push_back(std::move(name));
  }
  if (std::find(out.begin(), out.end(), "UTC") == out.end()) out.emplace_back("UTC");
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace fairlead
