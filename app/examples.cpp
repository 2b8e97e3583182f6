#include "app/examples.hpp"

#include <sstream>
#include <stdexcept>
#include <string>

namespace fairlead::app {

namespace {

struct command_examples {
  const char* command;
  const char* lines;  // each without `fairlead` and the command
};

constexpr command_examples all[] = {
    {"node", "--config /etc/fairlead/node.yaml"},
    {"node drain", "n1 --reason 'kernel update'"},
    {"node resume", "n1"},
    {"node forget", "n1 --reason 'its disk is lost'"},
    {"node reload", "\nn1"},
    {"node log-level", "debug\nwarning n2"},
    {"cluster status", "\n--node n1:7100,n2:7100,n3:7100"},
    {"cluster init", "--node 127.0.0.1:7220"},
    {"cluster join", "10.0.0.1:7100 --config /etc/fairlead/n2.yaml"},
    {"cluster leave", "n3 --reason 'its machine is gone'"},
    {"cluster upgrade", "--finish"},
    {"cluster compare", ""},
    {"cluster recover", "/var/lib/fairlead/n1 --compare /mnt/n2\n/var/lib/fairlead/n1 --accept-loss"},
    {"dev", "config/workflows/order.yaml"},
    {"submit",
     "order --id order-17 --input '{\"amount_cents\": 1299}'\norder --input @order.json --wait\norder --batch orders.jsonl\norder --delay "
     "2h\norder --at 2026-11-24T08:00:00Z"},
    {"replies", "shop --follow"},
    {"task list",
     "--parked\n--workflow order --state running --older-than 2h\n--top-level\n--parent order-17 --state failed\n--ended-since 3d --state "
     "failed\n--day 2026-11-22 --workflow "
     "order\n--columns task,state,why --sort "
     "-created"},
    {"task show", "order-17\norder-17 -o yaml"},
    {"task watch", "order-17"},
    {"task logs", "order-17\norder-17 ship"},
    {"task retry", "order-17\norder-17 charge --input '{\"amount_cents\": 1299}'\n--parked --workflow order"},
    {"task skip", "order-17 notify --reason 'the customer was called'"},
    {"task settle",
     "order-17 charge --completed '{\"receipt\": 8}' --reason 'seen at the bank'\norder-17 charge --never-happened\norder-18 --output "
     "'{\"receipt\": 8}' --reason 'seen at the bank'"},
    {"task undo", "order-17 --reason 'sent back'"},
    {"task cancel", "order-17 --reason 'not wanted any more'"},
    {"task terminate", "order-17 --reason 'done by hand'\norder-17 --now --reason 'the service is gone for good'"},
    {"task delete", "order-17 --yes --reason 'the customer asked for it'\n--label customer=4711 --yes"},
    {"task pause", "order-17"},
    {"task resume", "order-17"},
    {"task signal", "order-17 approved --data '{\"by\": \"ben\"}'\norder-17 approved --key mail-4711"},
    {"operation list", "\n--limit 100"},
    {"operation show", "8f2c04d1a7b35e9612c0ffee"},
    {"operation stop", "8f2c04d1a7b35e9612c0ffee --reason 'the wrong tasks'"},
    {"operation pause", "8f2c04d1a7b35e9612c0ffee"},
    {"operation resume", "8f2c04d1a7b35e9612c0ffee"},
    {"operation retry", "8f2c04d1a7b35e9612c0ffee"},
    {"task doctor", "\n--forget-effects"},
    {"workflow new", "order\nonboarding --kind approval --file workflows/onboarding.yaml"},
    {"workflow schema", "> workflow.schema.json"},
    {"workflow check", "order.yaml\norder.yaml --agents /etc/fairlead/node.yaml"},
    {"workflow test", "order.test.yaml\norder.test.yaml --verbose\nworkflows/*.test.yaml --junit results.xml"},
    {"workflow simulate", "order.yaml\norder.yaml --agents /etc/fairlead/node.yaml --seeds 10000\norder.yaml --seed 17"},
    {"workflow deploy", "order.yaml"},
    {"workflow list", ""},
    {"workflow show", "order\norder --source\norder --version 3f2a09c1"},
    {"workflow diff", "order --from 3f2a09c1\norder.yaml"},
    {"workflow migrate", "order --from 3f2a09c1 --dry-run\norder --from 3f2a09c1 --parked --reason 'the address of the depot'"},
    {"workflow delete", "order"},
    {"job deploy", "jobs.yaml\njobs.yaml --check"},
    {"job add", "nightly-report --schedule '30 2 * * *' --tz Europe/Berlin --workflow report"},
    {"job import", "/etc/crontab --user-column --print"},
    {"job list", "--failing\n--sort next"},
    {"job show", "nightly-report"},
    {"job pause", "nightly-report --reason audit"},
    {"job resume", "nightly-report"},
    {"job skip", "nightly-report"},
    {"job run", "nightly-report"},
    {"job backfill", "nightly-report --last 3d\nnightly-report --from 2026-11-19 --to 2026-11-20 --dry-run"},
    {"job delete", "nightly-report"},
    {"job rewind", "nightly-report --dry-run\nnightly-report"},
    {"job history", "nightly-report --last 7d"},
    {"job logs", "nightly-report"},
    {"job next", "'30 2 * * *' --tz Europe/Berlin"},
    {"agent list", "\n--sort waiting"},
    {"agent show", "payment\nn1/payment"},
    {"agent drain", "n1/payment --reason 'new certificate'"},
    {"agent resume", "n1/payment"},
    {"agent check",
     "-- python3 docs/examples/workers/agent.py\n--listen 127.0.0.1:7190\nhttp://127.0.0.1:7102/charges --input '{\"order\": \"A-1\"}'"},
    {"agent breaker open", "payment --reason 'maintenance at the bank'"},
    {"agent breaker close", "payment"},
    {"alert list", "\n--all --limit 500"},
    {"alert show", "17"},
    {"alert ack", "17 --note 'the bank is down'"},
    {"brake release", "--reason 'the bad release is taken back'"},
    {"audit", "\nn1 --since 7d --who ben\n--path /v1/tasks/order-17/actions --json\n--object order-17"},
    {"status", "\n--json"},
    {"console", "\n-c 'nodes; shards'"},
    {"inspect nodes", ""},
    {"inspect tree", "\nn2"},
    {"inspect actors", "n1 --sort handled --top 10"},
    {"inspect shards", ""},
    {"inspect agents", "payment\n--away"},
    {"inspect counters", "\n--shard 0"},
    {"inspect steps", "order-17"},
    {"inspect history", "order-17 --local"},
    {"config check", "/etc/fairlead/node.yaml"},
    {"token create",
     "ben --role operator --file /etc/fairlead/tokens.yaml\nnightly-import --role client --namespace default --expires 30d --file "
     "tokens.yaml\npayment-workers --role agent --agent payment --file tokens.yaml"},
    {"token list", "--file /etc/fairlead/tokens.yaml"},
    {"token revoke", "ben --file /etc/fairlead/tokens.yaml"},
    {"certificate create-ca", "--out ca --name 'Orders, Berlin'"},
    {"certificate issue", "n1.example.org 10.0.0.1 --ca ca\nspiffe://example.org/agent/payment --ca ca --client --days 90"},
    {"certificate show", "n1.example.org.pem"},
    {"certificate renew", "n1.example.org.pem --ca ca"},
    {"store check", "/var/lib/fairlead"},
    {"store settle", "/var/lib/fairlead"},
    {"journal dump", "/var/lib/fairlead --shard 0"},
    {"journal verify", "/var/lib/fairlead"},
    {"backup", "/var/lib/fairlead /backup --keep 7"},
    {"restore", "/var/lib/fairlead --from /backup/fairlead-2026-11-24T03-15-00Z"},
    {"version", ""},
};

CLI::App* find(CLI::App& app, const std::string& path) {
  auto* at = &app;
  std::istringstream words{path};
  for (std::string word; words >> word;) {
    const auto named = at->get_subcommands([&word](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) return nullptr;
    at = named.front();
  }
  return at;
}

}  // namespace

void add_examples(CLI::App& app) {
  for (const auto& [command, lines] : all) {
    auto* at = find(app, command);
    if (at == nullptr) throw std::logic_error(std::string{"there are examples of a command that is not there: "} + command);
    std::string footer = "Examples:";
    std::istringstream in{std::string{lines} + "\n"};
    for (std::string line; std::getline(in, line);) footer += std::string{"\n  fairlead "} + command + (line.empty() ? "" : " ") + line;
    at->footer(footer);
  }
}

}  // namespace fairlead::app
