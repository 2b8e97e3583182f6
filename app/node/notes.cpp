#include "app/node/notes.hpp"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>

#include "app/node/data_file.hpp"

namespace fairlead::app {

namespace {

constexpr std::chrono::minutes note_written_every{1};
// A journal of 1 TiB in the smallest segments fits.
constexpr std::size_t most_bytes = std::size_t{256} << 20;

template <class Message>
status write(const std::string& path, const Message& what) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(what, &text);
  return replace_data_file(path, text);
}

/// Error: disk, or it is unreadable (wrong_state).
template <class Message>
result<std::optional<Message>> read(const std::string& path, const std::string& remedy = "Remove it, and start the node again.") {
  const auto text = read_data_file(path, most_bytes);
  if (!text) return text.failure();
  if (!*text) return std::optional<Message>{};
  // A later release may have written more than this one knows.
  google::protobuf::TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  Message out;
  if (!parser.ParseFromString(**text, &out)) return error{v1::ERROR_CODE_WRONG_STATE, "The file " + path + " is unreadable.", remedy};
  return std::optional(std::move(out));
}

std::string damage_in(const std::string& folder) { return folder + "/damaged"; }

/// The part about that shard, which is added if there is none.
template <class Note>
auto& part_about(Note& note, std::uint32_t shard) {
  auto* const all = note.mutable_shards();
  const auto found = std::find_if(all->begin(), all->end(), [&](const auto& one) { return one.shard() == shard; });
  auto& out = found != all->end() ? *found : *all->Add();
  out.set_shard(shard);
  return out;
}

v1::OthersNote others_in(const std::string& path) {
  auto all = read<v1::OthersNote>(path);
  return all.ok() && *all ? std::move(**all) : v1::OthersNote{};
}

}  // namespace

v1::NotedFile noted(const store::found_part& part) {
  v1::NotedFile out;
  out.set_path(part.path);
  out.set_inode(part.inode);
  out.set_born_ns(part.born_ns);
  return out;
}

store::found_part part_of(const v1::NotedFile& noted) { return {noted.path(), noted.inode(), noted.born_ns()}; }

status node_notes::note_others(const v1::ReplicaHello& shard) {
  const std::lock_guard lock{guard_};
  auto note = others_in(path("others"));
  auto& now = part_about(note, shard.shard());
  const bool is_same_store = now.replica() == shard.replica();
  if (is_same_store && (now.nodes().version() > shard.nodes().version() || (now.has_lineage() && !shard.has_lineage()))) return nothing{};
  if (now.SerializeAsString() == shard.SerializeAsString()) return nothing{};
  now = shard;
  return write(path("others"), note);
}

status node_notes::keep_others(const std::vector<std::uint32_t>& shards) {
  const std::lock_guard lock{guard_};
  const auto before = others_in(path("others"));
  v1::OthersNote note;
  for (const auto& one : before.shards())
    if (std::find(shards.begin(), shards.end(), one.shard()) != shards.end()) *note.add_shards() = one;
  return note.shards_size() == before.shards_size() ? status(nothing{}) : write(path("others"), note);
}

v1::OthersNote node_notes::others() const {
  const std::lock_guard lock{guard_};
  return others_in(path("others"));
}

status node_notes::note_written(const store::journal_end& now) {
  const std::lock_guard lock{guard_};
  v1::WrittenNote note;
  note.set_journal_high(now.id.high);
  note.set_journal_low(now.id.low);
  note.set_group(now.group);
  return write(path("written"), note);
}

status node_notes::check_written(const store::journal_end& found) const {
  const std::lock_guard lock{guard_};
  const auto note = read<v1::WrittenNote>(path("written"));
  if (!note) return note.failure();
  if (!*note || (*note)->journal_high() != found.id.high || (*note)->journal_low() != found.id.low || found.group >= (*note)->group())
    return nothing{};
  return error{
      v1::ERROR_CODE_CORRUPT,
      "The stores of this node are an older copy: their journal ends with group " + std::to_string(found.group) +
          ", and this node has written up to group " + std::to_string((*note)->group()) + ".",
      "Put the latest stores back, or give the node empty ones. To use the copy on purpose, remove the file " + path("written") + "."};
}

status node_notes::note_later(std::uint32_t shard, const v1::Lineage& lineage) {
  const std::lock_guard lock{guard_};
  auto before = read<v1::LaterNote>(path("later"));
  if (!before) return before.failure();
  auto note = *before ? std::move(**before) : v1::LaterNote{};
  *part_about(note, shard).mutable_lineage() = lineage;
  return write(path("later"), note);
}

result<std::optional<v1::Lineage>> node_notes::later(std::uint32_t shard) const {
  const std::lock_guard lock{guard_};
  const auto note = read<v1::LaterNote>(path("later"));
  if (!note) return note.failure();
  if (*note)
    for (const auto& one : (*note)->shards())
      if (one.shard() == shard) return std::optional{one.lineage()};
  return std::optional<v1::Lineage>{};
}

status node_notes::note_damage(const error& why, const std::vector<std::string>& folders) {
  const std::lock_guard lock{guard_};
  for (const auto& folder : folders) {
    const auto found = store::find_part(store::data_file_in(folder));
    if (!found) return found.failure();
    if (!*found) continue;
    v1::DamageNote note;
    *note.mutable_why() = why.to_proto();
    *note.mutable_store() = noted(**found);
    if (auto written = write(damage_in(folder), note); !written.ok()) return written;
  }
  return nothing{};
}

result<std::optional<error>> node_notes::damage(const std::vector<std::string>& folders) const {
  const std::lock_guard lock{guard_};
  for (const auto& folder : folders) {
    const auto note = read<v1::DamageNote>(damage_in(folder));
    if (!note) return note.failure();
    if (!*note) continue;
    const auto now = store::find_part(store::data_file_in(folder));
    if (!now) return now.failure();
    if (*now == part_of((*note)->store())) return std::optional(error::from_proto((*note)->why()));
  }
  return std::optional<error>{};
}

status node_notes::forget_damage(const std::vector<std::string>& folders) {
  const std::lock_guard lock{guard_};
  for (const auto& folder : folders)
    if (auto removed = remove_data_file(damage_in(folder)); !removed.ok()) return removed;
  return nothing{};
}

status node_notes::begin_rebuilding(const v1::RebuildNote& how) {
  const std::lock_guard lock{guard_};
  return write(path("rebuilding"), how);
}

result<std::optional<v1::RebuildNote>> node_notes::rebuilding() const {
  const std::lock_guard lock{guard_};
  return read<v1::RebuildNote>(
      path("rebuilding"),
      "Remove it with the stores and the journal, which are set aside already or damaged, and run `fairlead cluster join`.");
}

status node_notes::end_rebuilding() {
  const std::lock_guard lock{guard_};
  return remove_data_file(path("rebuilding"));
}

void keep_noting_written(node_notes& notes, const std::function<std::optional<store::journal_end>()>& now, observer& log,
                         const std::stop_token& stop) {
  std::mutex nobody_else;
  std::condition_variable_any stopped;
  std::unique_lock lock{nobody_else};
  while (!stopped.wait_for(lock, stop, note_written_every, [&] { return stop.stop_requested(); })) {
    const auto end = now();
    const auto noted = end ? notes.note_written(*end) : status(nothing{});
    if (!noted.ok()) log.on_note(note_level::warning, "journal", noted.failure().sentence);
  }
}

status check_not_given_up(const std::string& directory) {
  const auto store = std::filesystem::absolute(directory).lexically_normal();
  for (const auto& file : {store / "damaged", store / "rebuilding", store.parent_path() / "rebuilding"})
    if (std::error_code failed; std::filesystem::exists(file, failed))
      return error{v1::ERROR_CODE_WRONG_STATE,
                   "The node of the store " + directory + " has found it damaged, and gets its shards from other nodes.",
                   "Start the node. Or remove the file " + file.string() + " first, if the store is to be used as it is."};
  return nothing{};
}

status check_not_outlived(const std::string& directory, std::uint32_t shard) {
  const auto store = std::filesystem::absolute(directory).lexically_normal();
  for (const auto& folder : {store, store.parent_path()}) {
    const auto later = node_notes(folder.string()).later(shard);
    if (!later) return later.failure();
    if (*later)
      return error{
          v1::ERROR_CODE_WRONG_STATE,
          "Other nodes hold shard " + std::to_string(shard) + ", and the store " + directory + " is none of theirs.",
          "To let its node hold the shard, too, move this store and the journal away, and run `fairlead cluster join` on it. If this "
          "store is the one to keep, stop the others, and add --accept-loss: they stop serving the shard then."};
  }
  return nothing{};
}

}  // namespace fairlead::app
