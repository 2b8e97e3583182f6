#include "docs/examples/order_desk/orders.hpp"

#include <stdexcept>

namespace order_desk {

namespace {

constexpr int busy_timeout_ms = 10'000;

constexpr const char* schema = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    amount_cents INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'placed',
    sequence INTEGER NOT NULL DEFAULT 0,  -- of the last status that was taken
    reason TEXT NOT NULL DEFAULT '');
  CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY,           -- keeps the order in which they came
    id TEXT NOT NULL UNIQUE REFERENCES orders (id));
)";

}  // namespace

orders::orders(const std::string& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  db_.reset(opened);
  if (code != SQLITE_OK) throw std::runtime_error(file + " cannot be opened: " + sqlite3_errstr(code));
  sqlite3_busy_timeout(db_.get(), busy_timeout_ms);
  run(schema);
}

bool orders::place(const order& what) {
  bool is_new = false;
  in_one_transaction([&] {
    const auto insert = prepare("INSERT OR IGNORE INTO orders (id, amount_cents) VALUES (?, ?)");
    bind(insert, 1, what.id);
    bind(insert, 2, what.amount_cents);
    step(insert);
    is_new = sqlite3_changes(db_.get()) > 0;
    if (!is_new) return;
    const auto remember = prepare("INSERT INTO outbox (id) VALUES (?)");
    bind(remember, 1, what.id);
    step(remember);
  });
  return is_new;
}

std::vector<order> orders::to_submit(int at_most) {
  const auto rows = prepare("SELECT id, amount_cents FROM outbox JOIN orders USING (id) ORDER BY number LIMIT ?");
  bind(rows, 1, at_most);
  std::vector<order> out;
  while (step(rows))
    out.push_back({reinterpret_cast<const char*>(sqlite3_column_text(rows.get(), 0)), sqlite3_column_int64(rows.get(), 1)});
  return out;
}

void orders::submitted(const std::vector<std::string>& ids) {
  in_one_transaction([&] {
    for (const auto& id : ids) {
      const auto forget = prepare("DELETE FROM outbox WHERE id = ?");
      bind(forget, 1, id);
      step(forget);
      // A status may have come before the acknowledgement, and says more.
      const auto tell = prepare("UPDATE orders SET state = 'submitted' WHERE id = ? AND state = 'placed'");
      bind(tell, 1, id);
      step(tell);
    }
  });
}

void orders::refused(const std::string& id, const std::string& reason) {
  in_one_transaction([&] {
    const auto forget = prepare("DELETE FROM outbox WHERE id = ?");
    bind(forget, 1, id);
    step(forget);
    const auto tell = prepare("UPDATE orders SET state = 'refused', reason = ? WHERE id = ?");
    bind(tell, 1, reason);
    bind(tell, 2, id);
    step(tell);
  });
}

void orders::take(const std::vector<status_change>& changes) {
  in_one_transaction([&] {
    for (const auto& change : changes) {
      const auto update = prepare("UPDATE orders SET state = ?, sequence = ?, reason = ? WHERE id = ? AND sequence < ?");
      bind(update, 1, change.state);
      bind(update, 2, static_cast<std::int64_t>(change.sequence));
      bind(update, 3, change.reason);
      bind(update, 4, change.order_id);
      bind(update, 5, static_cast<std::int64_t>(change.sequence));
      step(update);
    }
  });
}

std::int64_t orders::open_orders() {
  const auto count = prepare("SELECT count(*) FROM orders WHERE state NOT IN ('completed', 'undone', 'refused')");
  step(count);
  return sqlite3_column_int64(count.get(), 0);
}

void orders::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_.get()));
}

orders::statement orders::prepare(const char* sql) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql, -1, &made, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_.get()));
  return statement{made};
}

bool orders::step(const statement& what) {
  const int code = sqlite3_step(what.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_.get()));
  return code == SQLITE_ROW;
}

void orders::bind(const statement& to, int place, const std::string& text) {
  if (sqlite3_bind_text(to.get(), place, text.c_str(), static_cast<int>(text.size()), SQLITE_TRANSIENT) != SQLITE_OK)
    throw std::runtime_error(sqlite3_errmsg(db_.get()));
}

void orders::bind(const statement& to, int place, std::int64_t number) {
  if (sqlite3_bind_int64(to.get(), place, number) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_.get()));
}

template <class Work>
void orders::in_one_transaction(Work&& work) {
  run("BEGIN IMMEDIATE");
  try {
    work();
    run("COMMIT");
  } catch (...) {
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace order_desk
