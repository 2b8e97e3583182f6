#pragma once
// The shop's own database: its orders, and an outbox of those that are still to be handed to Fairlead.
//
// An order and its outbox row are written in one transaction, so there is never one without the other. The row goes once Fairlead has
// acknowledged the order's task. Whatever happens in between only means that the same order is submitted again, under the same id.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace order_desk {

struct order {
  std::string id;
  std::int64_t amount_cents = 0;
};

struct status_change {
  std::string order_id;
  std::uint64_t sequence = 0;  // within the order's task
  std::string state;
  std::string reason;
};

/// One connection; each thread has its own. Throws std::runtime_error when SQLite refuses: the program then ends, and starts again from what
/// the file holds.
class orders {
 public:
  explicit orders(const std::string& file);

  /// False when the order was there before; then nothing is written.
  bool place(const order& what);

  /// The oldest orders that Fairlead has not acknowledged yet.
  std::vector<order> to_submit(int at_most);
  /// Fairlead has them: they leave the outbox.
  void submitted(const std::vector<std::string>& ids);
  /// Fairlead will never take it.
  void refused(const std::string& id, const std::string& reason);

  /// Takes what has not been seen before. Changes may come again, never in another order.
  void take(const std::vector<status_change>& changes);

  /// Orders that have neither ended nor been refused.
  std::int64_t open_orders();

 private:
  struct closer {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using statement = std::unique_ptr<sqlite3_stmt, closer>;

  void run(const char* sql);
  statement prepare(const char* sql);
  bool step(const statement& what);
  void bind(const statement& to, int place, const std::string& text);
  void bind(const statement& to, int place, std::int64_t number);
  template <class Work>
  void in_one_transaction(Work&& work);

  std::unique_ptr<sqlite3, closer> db_;
};

}  // namespace order_desk
