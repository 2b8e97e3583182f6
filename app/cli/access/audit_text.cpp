#include "app/cli/access/audit_text.hpp"

#include "app/cli/screen/table.hpp"
#include "app/cli/words.hpp"

namespace fairlead::app {

std::string audit_text(const v1::AuditListReply& reply) {
  text_table table{{{"AT"},
                    {"NODE"},
                    {"WHO"},
                    {"TOKEN", align::left, narrow::drop},
                    {"FROM", align::left, narrow::drop},
                    {"METHOD", align::left, narrow::drop},
                    {"PATH"},
                    {"OBJECT", align::left, narrow::drop},
                    {"VERB"},
                    {"RESULT"},
                    {"STATE", align::left, narrow::drop},
                    {"REASON", align::left, narrow::below}}};
  for (const auto& one : reply.items())
    table.add({time_cell(one.at_unix_ms()), one.node(), one.who().empty() ? "-" : printable(one.who()), printable(one.token()),
               printable(one.from()), printable(one.method()), printable(shortened(one.path(), 120)), printable(one.object()),
               printable(one.verb()), one.code().empty() ? "done" : printable(one.code()), printable(one.state_after()),
               printable(shortened(one.reason(), 160))});
  std::string out = table.empty() ? "Nothing that matches is noted.\n" : table.text();
  if (!reply.cursor().empty()) out += "\nThere are more: continue with --cursor " + reply.cursor() + ", or raise --limit.\n";
  return out;
}

}  // namespace fairlead::app
