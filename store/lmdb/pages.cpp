#include "store/lmdb/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

#include "store/batch.hpp"
#include "store/integers.hpp"
#include "store/lmdb/open_file.hpp"

namespace fairlead::store {

namespace {

using page_number = std::uint64_t;

constexpr std::uint32_t magic = 0xBEEFC0DE;
constexpr std::uint32_t data_version = 1;
constexpr page_number count_metas = 2;
constexpr page_number no_page = ~page_number{0};
constexpr std::size_t header_bytes = 16;
constexpr std::size_t node_bytes = 8;
constexpr std::size_t tree_bytes = 48;
constexpr std::size_t meta_bytes = header_bytes + 136;
constexpr std::size_t longest_key = 511;
constexpr std::size_t deepest = 32;

// No other bit of the kind is ever written.
enum : std::uint16_t { is_branch = 0x01, is_leaf = 0x02, is_overflow = 0x04, is_meta = 0x08 };
enum : std::uint16_t { in_own_pages = 0x01, is_tree = 0x02 };
enum : std::uint16_t { keys_are_integers = 0x08 };

template <class T>
T at(const char* where) {
  return read_little_endian<T>(where);
}

/// MDB_db: a table.
struct tree {
  std::uint32_t page_bytes = 0;  // of the free list alone
  std::uint16_t flags = 0, depth = 0;
  std::uint64_t branches = 0, leaves = 0, overflows = 0, entries = 0;
  page_number root = no_page;

  static tree read(const char* from) {
    return {at<std::uint32_t>(from),      at<std::uint16_t>(from + 4),  at<std::uint16_t>(from + 6),  at<std::uint64_t>(from + 8),
            at<std::uint64_t>(from + 16), at<std::uint64_t>(from + 24), at<std::uint64_t>(from + 32), at<std::uint64_t>(from + 40)};
  }
};

struct meta_page {
  tree free, main;
  page_number last = 0;
  std::uint64_t transaction = 0;
};

class walk {
 public:
  explicit walk(std::string_view file) : file_(file) {}

  std::optional<std::string> run() {
    if (!choose_meta()) return damage_;
    used_.assign(meta_.last + 1, false);
    const bool sound = walk_tree(meta_.main, tables::named) && walk_tree(meta_.free, tables::free) && check_free();
    if (!sound && (is_ours_ || !foreign_)) return damage_;
    if (foreign_ && is_ours_) return "page " + std::to_string(meta_.main.root) + " leads to rows of another kind";
    return std::nullopt;
  }

 private:
  enum class tables { named, free, plain };

  /// What was counted of a tree.
  struct counts {
    std::uint64_t branches = 0, leaves = 0, overflows = 0, entries = 0;
  };
  /// A page, and the keys that it may have: from `least` on, and below `most` if there is one.
  struct place {
    page_number page = 0;
    std::size_t level = 0;  // from 1 on
    std::string_view least;
    std::optional<std::string_view> most;
  };

  bool fail(page_number page, const char* what) {
    damage_ = "page " + std::to_string(page) + " " + what;
    return false;
  }

  const char* bytes_of(page_number page) const { return file_.data() + page * page_bytes_; }

  /// LMDB goes on from the one with the later transaction.
  bool choose_meta() {
    page_bytes_ = file_.size() < meta_bytes ? 0 : at<std::uint32_t>(file_.data() + header_bytes + 24);
    if (page_bytes_ < 512 || page_bytes_ > 65'536 || (page_bytes_ & (page_bytes_ - 1)) != 0 || file_.size() < count_metas * page_bytes_)
      return fail(0, "is no head of a store");
    for (page_number page = 0; page < count_metas; ++page) {
      const auto* const from = bytes_of(page);
      if (at<std::uint16_t>(from + 10) != is_meta || at<std::uint32_t>(from + header_bytes) != magic ||
          at<std::uint32_t>(from + header_bytes + 4) != data_version)
        return fail(page, "is no head of a store");
      const auto* const body = from + header_bytes;
      const meta_page found{tree::read(body + 24), tree::read(body + 72), at<page_number>(body + 120), at<std::uint64_t>(body + 128)};
      if (found.free.page_bytes != page_bytes_) return fail(page, "is no head of a store");
      if (page == 0 || found.transaction > meta_.transaction) meta_ = found;
    }
    if (meta_.last + 1 < count_metas || meta_.last >= file_.size() / page_bytes_) return fail(meta_.last, "is missing");
    return true;
  }

  bool use(page_number page) {
    if (page < count_metas || page > meta_.last) return fail(page, "is named and is none of the file");
    if (used_[page]) return fail(page, "is used twice");
    used_[page] = true;
    return true;
  }

  bool walk_tree(const tree& which, tables kind) {
    if (which.root == no_page) return which.entries == 0 || fail(0, "names a table without pages that has rows");
    if (which.depth == 0 || which.depth > deepest) return fail(which.root, "begins a table of a depth that cannot be");
    counts found;
    std::vector<place> left{{which.root, 1, {}, std::nullopt}};
    while (!left.empty()) {
      const auto next = left.back();
      left.pop_back();
      if (!walk_page(next, which, kind, found, left)) return false;
    }
    const bool same = found.branches == which.branches && found.leaves == which.leaves && found.overflows == which.overflows &&
                      found.entries == which.entries;
    return same || fail(which.root, "begins a table with other counts of pages and rows than it has");
  }

  bool walk_page(const place& here, const tree& of, tables kind, counts& found, std::vector<place>& left) {
    if (!use(here.page)) return false;
    const auto* const page = bytes_of(here.page);
    const bool leaf = here.level == of.depth;
    const std::size_t lower = at<std::uint16_t>(page + 12), upper = at<std::uint16_t>(page + 14);
    if (at<page_number>(page) != here.page || at<std::uint16_t>(page + 10) != (leaf ? is_leaf : is_branch))
      return fail(here.page, "is another one");
    if (lower < header_bytes || lower % 2 != 0 || lower > upper || upper > page_bytes_) return fail(here.page, "has a damaged head");
    const auto count = (lower - header_bytes) / 2;
    if (count == 0) return fail(here.page, "is empty");
    ++(leaf ? found.leaves : found.branches);
    std::optional<std::string_view> before;
    std::vector<place> below;
    std::size_t rows_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t offset = at<std::uint16_t>(page + header_bytes + 2 * i);
      if (offset < upper || offset % 2 != 0 || offset + node_bytes > page_bytes_) return fail(here.page, "has a damaged list of rows");
      const auto* const node = page + offset;
      const std::size_t key_bytes = at<std::uint16_t>(node + 6);
      if (key_bytes > longest_key || offset + node_bytes + key_bytes > page_bytes_) return fail(here.page, "has a damaged row");
      const std::string_view key{node + node_bytes, key_bytes};
      // The first key of a branch stands for all that are less than the second.
      const bool counts_as_key = leaf || i > 0;
      const bool in_order = !counts_as_key || ((!before || comes_before(*before, key, of)) &&
                                               (here.level == 1 || here.least.empty() || !comes_before(key, here.least, of)) &&
                                               (!here.most || comes_before(key, *here.most, of)));
      if (!in_order) return fail(here.page, "has keys out of order");
      if (counts_as_key) before = key;
      if (leaf) {
        ++found.entries;
        if (!check_value(here.page, node, offset, key_bytes, kind, found)) return false;
        const std::size_t value = at<std::uint16_t>(node + 4) == in_own_pages ? sizeof(page_number) : value_bytes(node);
        rows_bytes += (node_bytes + key_bytes + value + 1) / 2 * 2;
        continue;
      }
      const page_number child =
          at<std::uint16_t>(node) | page_number{at<std::uint16_t>(node + 2)} << 16 | page_number{at<std::uint16_t>(node + 4)} << 32;
      rows_bytes += (node_bytes + key_bytes + 1) / 2 * 2;
      if (!below.empty()) below.back().most = key;
      below.push_back({child, here.level + 1, i == 0 ? here.least : key, here.most});
    }
    if (rows_bytes != page_bytes_ - upper) return fail(here.page, "has rows of other sizes than it has room for");
    left.insert(left.end(), below.rbegin(), below.rend());
    return true;
  }

  static std::size_t value_bytes(const char* node) { return at<std::uint16_t>(node) | std::size_t{at<std::uint16_t>(node + 2)} << 16; }

  bool check_value(page_number page, const char* node, std::size_t offset, std::size_t key_bytes, tables kind, counts& found) {
    const auto bytes = value_bytes(node);
    const auto flags = at<std::uint16_t>(node + 4);
    const auto* const data = node + node_bytes + key_bytes;
    const bool big = flags == in_own_pages, named = flags == is_tree;
    const bool may_be = flags == 0 || big || named;
    if (kind == tables::named && (!may_be || !named)) return of_another_program();
    if (!may_be || named != (kind == tables::named)) return fail(page, "has a row of another kind");
    const auto here = big ? sizeof(page_number) : bytes;
    if (here > page_bytes_ - offset - node_bytes - key_bytes) return fail(page, "has a damaged row");
    is_ours_ = is_ours_ || (named && std::string_view{node + node_bytes, key_bytes} == table_name(table::meta));
    if (named) return bytes == tree_bytes ? walk_named(tree::read(data)) : fail(page, "names a table wrongly");
    if (big) {
      const auto first = at<page_number>(data);
      if (first < count_metas || first > meta_.last) return fail(page, "names a value beyond the file");
      const auto* const value = bytes_of(first);
      // More than it needs now, if it was longer before in the same transaction.
      const page_number pages = at<std::uint32_t>(value + 12);
      if (at<page_number>(value) != first || at<std::uint16_t>(value + 10) != is_overflow ||
          pages < (header_bytes - 1 + bytes) / page_bytes_ + 1 || pages > meta_.last - first + 1)
        return fail(first, "is another one");
      for (page_number i = 0; i < pages; ++i)
        if (!use(first + i)) return false;
      found.overflows += pages;
      return kind != tables::free || note_free(page, {value + header_bytes, bytes});
    }
    return kind != tables::free || note_free(page, {data, bytes});
  }

  /// Unless a table says that the file is a store. Whoever opens it looks for the tables.
  bool of_another_program() {
    foreign_ = true;
    return true;
  }

  bool walk_named(const tree& which) {
    if (which.flags != 0) return of_another_program();
    return walk_tree(which, tables::plain);
  }

  /// The pages that a transaction has freed: their count and their numbers.
  bool note_free(page_number page, std::string_view value) {
    const auto count = value.size() < sizeof(page_number) ? no_page : at<std::uint64_t>(value.data());
    if (count >= value.size() / sizeof(page_number)) return fail(page, "has a damaged list of free pages");
    for (std::uint64_t i = 1; i <= count; ++i) free_.push_back(at<page_number>(value.data() + i * sizeof(page_number)));
    return true;
  }

  /// What is written to a free page next must not be in use.
  bool check_free() {
    for (const auto page : free_)
      if (!use(page)) return false;
    return true;
  }

  static bool comes_before(std::string_view one, std::string_view other, const tree& of) {
    if ((of.flags & keys_are_integers) == 0) return one < other;
    if (one.size() != sizeof(std::uint64_t) || other.size() != sizeof(std::uint64_t)) return false;
    return at<std::uint64_t>(one.data()) < at<std::uint64_t>(other.data());
  }

  const std::string_view file_;
  std::size_t page_bytes_ = 0;
  meta_page meta_;
  std::vector<bool> used_;
  std::vector<page_number> free_;
  bool is_ours_ = false;
  bool foreign_ = false;
  std::string damage_;
};

error unreadable(const std::string& path, int code) {
  return {v1::ERROR_CODE_DISK, path + " cannot be read: " + std::error_code{code, std::generic_category()}.message() + ".",
          "Check the disk and the permissions."};
}

}  // namespace

result<std::optional<std::string>> find_damaged_page(const std::string& path) {
  const open_file file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat found {};
  if (file.fd < 0 || ::fstat(file.fd, &found) != 0) return unreadable(path, errno);
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (bytes == 0) return std::optional<std::string>{"page 0 is missing"};
  void* const map = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.fd, 0);
  if (map == MAP_FAILED) return unreadable(path, errno);
  // In the order of keys, a page at a time, a disk would be slow.
  ::madvise(map, bytes, MADV_WILLNEED);
  auto out = walk({static_cast<const char*>(map), bytes}).run();
  ::munmap(map, bytes);
  return out;
}

}  // namespace fairlead::store
