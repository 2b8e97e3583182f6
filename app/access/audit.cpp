#include "app/access/audit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "actors/core/text/json.hpp"
#include "actors/core/text/text.hpp"
#include "app/door/target.hpp"
#include "app/json/writer.hpp"
#include "app/process/write_all.hpp"
#include "messages/time.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".jsonl";
constexpr std::size_t day_letters = 10;   // 2026-11-24
constexpr std::size_t part_letters = 14;  // 2026-11-24-000
constexpr int most_parts_a_day = 1'000;
constexpr std::uint64_t parts_at_least = 8;  // of `most_bytes`: so much goes at once
constexpr std::chrono::seconds try_again_after{1};
constexpr std::size_t block_bytes = 64 * 1024;  // an entry is far shorter
constexpr std::size_t most_looked_at = 20'000;
constexpr std::size_t most_page_bytes = 1'048'576;
constexpr std::size_t most_said_reason = 200;    // bytes of it in the log
constexpr std::uint64_t most_refused_said = 20;  // a minute

struct file_place {
  std::string part;
  std::uint64_t end = ~std::uint64_t{0};  // entries before this byte
};

error disk_error(const std::string& what, int code) {
  return {v1::ERROR_CODE_DISK, what + ": " + std::strerror(code), "Make room, or check the disk and the permissions."};
}

std::string day_of(std::int64_t unix_ms) { return format_utc(unix_ms).substr(0, day_letters); }

bool is_part(const std::string& name) {
  return name.size() == part_letters && name[4] == '-' && name[7] == '-' && name[10] == '-' &&
         std::count_if(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }) == 11;
}

std::string part_of(const std::string& day, int number) {
  const auto digits = std::to_string(number);
  return day + "-" + std::string(3 - digits.size(), '0') + digits;
}

}  // namespace

std::string audit_json(const audit_entry& what) {
  json_writer out;
  out.begin_object().key("at").moment(what.at_unix_ms).key("kind").text_or_null(what.kind).key("who").text_or_null(what.who);
  out.key("token").text_or_null(what.token);
  out.key("from").text_or_null(what.from).key("request_id").string(what.request_id).key("method").string(what.method);
  out.key("path").string(what.path).key("object").text_or_null(what.object).key("verb").text_or_null(what.verb);
  out.key("reason").text_or_null(what.reason).key("state_after").text_or_null(what.state_after);
  return out.key("status").number(std::int64_t{what.status}).key("code").text_or_null(what.code).end_object().text();
}

std::string audit_sentence(const audit_entry& what) {
  auto out = what.kind.empty() ? std::string{"somebody unknown"} : what.kind + " " + (what.who.empty() ? "without a name" : what.who);
  if (!what.token.empty()) out += " (" + what.token + ")";
  if (!what.from.empty()) out += " from " + what.from;
  out += ": " + what.method + " " + what.path;
  // Where the path does not say it.
  if (!what.object.empty() && audit_object(what.path).empty()) out += " " + what.object;
  if (!what.verb.empty()) out += " " + what.verb;
  out += what.code.empty() ? ": done" : ": refused, " + what.code;
  if (!what.state_after.empty()) out += ", now " + what.state_after;
  if (!what.reason.empty()) out += "; reason: " + core::clean_text(what.reason, most_said_reason);
  return out + "; request " + what.request_id;
}

std::string audit_object(std::string_view path) {
  constexpr std::string_view base = "/v1/";
  if (!path.starts_with(base)) return {};
  path.remove_prefix(base.size());
  const auto collection = path.substr(0, path.find('/'));
  if (collection.size() == path.size() || collection == "requests" || collection == "callbacks") return {};
  path.remove_prefix(collection.size() + 1);
  return door::decode_percent(path.substr(0, path.find('/'))).value_or("");
}

result<std::unique_ptr<audit_log>> audit_log::open(std::string folder, std::uint64_t most_bytes, const clock& time, say to_log) {
  if (const auto there = store::prepare_directory(folder, false); !there.ok()) return there.failure();
  std::unique_ptr<audit_log> out{new audit_log{std::move(folder), most_bytes, time, std::move(to_log)}};
  out->thread_ = std::thread{[at = out.get()] { at->run(); }};
  return out;
}

audit_log::~audit_log() {
  {
    const std::lock_guard lock{guard_};
    ending_ = true;
  }
  wakes_.notify_all();
  thread_.join();
  if (fd_ >= 0) ::close(fd_);
}

void audit_log::note(const audit_entry& what, std::function<void(const status&)> then) {
  waiting one{day_of(what.at_unix_ms), audit_json(what) + "\n", audit_sentence(what), !what.code.empty(), std::move(then)};
  {
    const std::lock_guard lock{guard_};
    waiting_.push_back(std::move(one));
  }
  wakes_.notify_all();
}

void audit_log::run() {
  for (std::unique_lock lock{guard_};;) {
    const auto has_work = [this] { return ending_ || !waiting_.empty(); };
    // What could not be written is not kept, but whether the disk takes anything is found out again.
    sound_ ? wakes_.wait(lock, has_work) : void(wakes_.wait_for(lock, try_again_after, has_work));
    if (ending_ && waiting_.empty()) return;
    const auto all = std::exchange(waiting_, {});
    lock.unlock();
    const auto written = all.empty() ? write({{day_of(to_unix_ms(time_.now())), "\n", {}, false, {}}}) : write(all);
    if (written.ok() != sound_.exchange(written.ok()))
      say_(note_level::warning, written.ok()
                                    ? "the audit is written again"
                                    : "the audit cannot be written, so actions over the API are refused: " + written.failure().sentence);
    (written.ok() ? written_ : lost_) += all.size();
    say_all(all);
    for (const auto& one : all) one.then(written);
    lock.lock();
  }
}

void audit_log::say_all(const std::vector<waiting>& all) {
  for (const auto& one : all) {
    if (!one.is_refused) {
      say_(note_level::info, one.sentence);
      continue;
    }
    if (const auto minute = to_unix_ms(time_.now()) / 60'000; minute != minute_) {
      if (refused_in_it_ > most_refused_said)
        say_(note_level::warning,
             std::to_string(refused_in_it_ - most_refused_said) + " more refusals are only in the audit: fairlead audit");
      minute_ = minute;
      refused_in_it_ = 0;
    }
    if (++refused_in_it_ <= most_refused_said) say_(note_level::warning, one.sentence);
  }
}

status audit_log::write(const std::vector<waiting>& all) {
  for (std::size_t i = 0; i < all.size();) {
    const auto& day = all[i].day;
    std::string text;
    for (; i < all.size() && all[i].day == day; ++i) text += all[i].line;
    if (auto written = append(day, text); !written.ok()) {
      if (fd_ >= 0) ::close(std::exchange(fd_, -1));
      return written;
    }
  }
  return nothing{};
}

std::string audit_log::path_of(const std::string& part) const { return folder_ + "/" + part + std::string{suffix}; }

status audit_log::append(const std::string& day, const std::string& text) {
  // Whoever collects the files may have moved this one away.
  struct stat open_one {};
  struct stat named {};
  const bool is_there = fd_ >= 0 && ::fstat(fd_, &open_one) == 0 && ::stat(path_of(part_).c_str(), &named) == 0 &&
                        open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
  if (!is_there || !part_.starts_with(day) || bytes_ >= most_bytes_ / parts_at_least)
    if (auto opened = open_part(day); !opened.ok()) return opened;
  if (!write_all(fd_, text) || ::fdatasync(fd_) != 0) return disk_error("cannot write to the audit in " + folder_, errno);
  bytes_ += text.size();
  return nothing{};
}

status audit_log::open_part(const std::string& day) {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  struct stat found {};
  part_ = part_of(day, 0);
  for (const auto& one : parts())
    if (one.starts_with(day)) part_ = one;
  const auto number = std::stoi(part_.substr(day_letters + 1));
  const bool is_full =
      ::stat(path_of(part_).c_str(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) >= most_bytes_ / parts_at_least;
  if (is_full && number + 1 < most_parts_a_day) part_ = part_of(day, number + 1);
  const auto path = path_of(part_);
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (fd_ < 0) return disk_error("cannot open " + path, errno);
  remove_oldest();
  char last = '\n';
  if (::fstat(fd_, &found) != 0) return disk_error("cannot look at " + path, errno);
  bytes_ = static_cast<std::uint64_t>(found.st_size);
  if (bytes_ == 0) return store::sync_directory(folder_);
  // A process that was killed may have left half a line. It stays alone.
  if (::pread(fd_, &last, 1, found.st_size - 1) == 1 && last != '\n' && !write_all(fd_, "\n"))
    return disk_error("cannot write to " + path, errno);
  return nothing{};
}

std::vector<std::string> audit_log::parts() const {
  std::vector<std::string> out;
  std::error_code failed;
  for (fs::directory_iterator it{folder_, failed}, end; !failed && it != end; it.increment(failed))
    if (it->path().extension() == suffix && is_part(it->path().stem().string())) out.push_back(it->path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

namespace {

/// `2026-11-24-000:4711`
std::optional<file_place> place_of(const std::string& cursor) {
  file_place out;
  if (cursor.size() <= part_letters + 1 || cursor[part_letters] != ':') return std::nullopt;
  out.part = cursor.substr(0, part_letters);
  const auto* const first = cursor.data() + part_letters + 1;
  const auto* const last = cursor.data() + cursor.size();
  const auto read = std::from_chars(first, last, out.end);
  return is_part(out.part) && read.ec == std::errc{} && read.ptr == last ? std::optional{out} : std::nullopt;
}

/// Calls `take(line, where)` for each line before `end`, the last one first, until it gives false.
status each_line_back(const std::string& path, std::uint64_t end,
                      const std::function<bool(std::string_view line, std::uint64_t where)>& take) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? status{nothing{}} : status{disk_error("cannot open " + path, errno)};
  const std::unique_ptr<const int, void (*)(const int*)> closes{&fd, [](const int* one) { ::close(*one); }};
  struct stat found {};
  if (::fstat(fd, &found) != 0) return disk_error("cannot look at " + path, errno);
  end = std::min(end, static_cast<std::uint64_t>(found.st_size));
  while (end > 0) {
    const auto from = end > block_bytes ? end - block_bytes : 0;
    std::string text(end - from, '\0');
    if (::pread(fd, text.data(), text.size(), static_cast<off_t>(from)) != static_cast<ssize_t>(text.size()))
      return disk_error("cannot read " + path, errno);
    // The first line may have begun before.
    const auto cut = from == 0 ? std::string::npos : text.find('\n');
    const auto first = from == 0 ? 0 : cut == std::string::npos ? text.size() : cut + 1;
    for (auto stop = text.size(); stop > first;) {
      const auto line_end = text[stop - 1] == '\n' ? stop - 1 : stop;
      const auto before = line_end == 0 ? std::string::npos : text.rfind('\n', line_end - 1);
      const auto begin = std::max(first, before == std::string::npos ? 0 : before + 1);
      stop = std::min(begin, stop - 1);
      const auto line = std::string_view{text}.substr(begin, line_end > begin ? line_end - begin : 0);
      if (!line.empty() && !take(line, from + begin)) return nothing{};
    }
    end = first == text.size() ? from : from + first;
  }
  return nothing{};
}

}  // namespace

result<audit_page> audit_log::read(const std::string& cursor, std::size_t most, const std::function<bool(std::string_view entry)>& wanted,
                                   const std::string& since_day) const {
  file_place at{"9999-99-99-999"};
  if (!cursor.empty()) {
    const auto known = place_of(cursor);
    if (!known) return invalid("The cursor is not one of this list.", "Use `next` of the page before as it is.");
    at = *known;
  }
  audit_page out;
  std::size_t looked_at = 0;
  std::size_t bytes = 0;
  const auto all = parts();
  for (auto part = all.rbegin(); part != all.rend() && out.cursor.empty(); ++part) {
    if (*part > at.part) continue;
    if (*part < since_day) break;
    const auto done =
        each_line_back(path_of(*part), *part == at.part ? at.end : ~std::uint64_t{0}, [&](std::string_view line, std::uint64_t where) {
          auto place = *part + ":" + std::to_string(where);
          if (out.begin.empty()) out.begin = *part + ":" + std::to_string(where + line.size() + 1);
          // Half of a line is left by a process that was killed.
          if (core::check_json(line).ok() && wanted(line)) {
            out.entries.emplace_back(line);
            out.places.push_back(place);
            bytes += line.size();
          }
          if (out.entries.size() < most && bytes < most_page_bytes && ++looked_at < most_looked_at) return true;
          out.cursor = std::move(place);
          return false;
        });
    if (!done.ok()) return done.failure();
  }
  return out;
}

/// By size, never by age: a clock that is ahead must not remove what somebody did.
void audit_log::remove_oldest() const {
  const auto all = parts();
  std::vector<std::uint64_t> sizes;
  std::uint64_t bytes = 0;
  for (const auto& part : all) {
    std::error_code failed;
    const auto size = fs::file_size(path_of(part), failed);
    sizes.push_back(failed ? 0 : size);
    bytes += sizes.back();
  }
  for (std::size_t i = 0; i < all.size() && bytes > most_bytes_; ++i) {
    if (all[i] == part_) continue;
    std::error_code failed;
    fs::remove(path_of(all[i]), failed);
    bytes -= sizes[i];
  }
}

}  // namespace fairlead::app
