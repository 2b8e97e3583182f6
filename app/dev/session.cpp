#include "app/dev/session.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "app/cli/context.hpp"
#include "app/cli/problems.hpp"
#include "app/config/config.hpp"
#include "app/config/parts.hpp"
#include "app/dev/console.hpp"
#include "app/dev/workflows.hpp"
#include "app/process/listen_probe.hpp"
#include "store/directory.hpp"

namespace fairlead::app {

namespace {

namespace fs = std::filesystem;

/// Time limits after Ctrl-C, so that everything ends within a second. Work in progress gets
/// `shutdown_ms`; at `cut_off` the process exits.
constexpr std::int64_t shutdown_ms = 600;
constexpr std::chrono::milliseconds cut_off{900};
/// Time for an editor that writes a file in several steps.
constexpr int settling_ms = 50;

/// A folder for the store. The destructor removes the folder unless it is to be kept.
class dev_folder {
 public:
  static result<dev_folder> make(const std::string& keep) {
    dev_folder out;
    std::error_code failed;
    if (!keep.empty()) {
      fs::create_directories(keep, failed);
      if (failed)
        return error{v1::ERROR_CODE_DISK, "the folder " + keep + " cannot be created: " + failed.message(),
                     "give another folder with --keep"};
      out.path_ = keep;
      return out;
    }
    auto pattern = (fs::temp_directory_path(failed) / "fairlead-dev-XXXXXX").string();
    if (failed || ::mkdtemp(pattern.data()) == nullptr)
      return error{v1::ERROR_CODE_DISK, "a temporary folder cannot be created: " + std::string{std::strerror(errno)},
                   "set TMPDIR to a writable folder, or give a folder with --keep"};
    out.path_ = pattern;
    out.remove_ = true;
    return out;
  }

  dev_folder(dev_folder&& other) noexcept : path_(std::move(other.path_)), remove_(std::exchange(other.remove_, false)) {}
  dev_folder(const dev_folder& other) = default;
  dev_folder& operator=(const dev_folder&) = delete;
  ~dev_folder() = default;

  const std::string& path() const { return path_; }
  bool removed_at_end() const { return remove_; }
  void end() const {
    std::error_code ignored;
    if (remove_) fs::remove_all(path_, ignored);
  }

 private:
  dev_folder() = default;
  std::string path_;
  bool remove_ = false;
};

/// On this machine alone: nobody is asked who they are.
result<listen_address> address_here(const char* option, const std::string& text) {
  const auto address = parse_address(text);
  if (address && is_loopback(address->host)) return *address;
  return error{v1::ERROR_CODE_INVALID_ARGUMENT, "'" + text + "' is not a loopback address",
               std::string{"write "} + option + " 127.0.0.1:PORT; port 0 takes a free one"};
}

/// Of `agents`, the node file of a real node: its agents, and what they and their steps need. Everything else, such as its store, ports and
/// alert targets, belongs to that node.
result<node_config> agents_in(const std::string& path, std::vector<problem>& problems) {
  node_config out;
  if (path.empty()) return out;
  auto file = read_node_config(path);
  if (!file.problems.empty()) {
    problems = std::move(file.problems);
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, path + " has problems", ""};
  }
  auto& read = file.config;
  out.file = std::move(read.file);
  out.written = std::move(read.written);
  out.agents = std::move(read.agents);
  out.exec_needs = std::move(read.exec_needs);
  out.secrets = std::move(read.secrets);
  out.expression_time_limit_ms = read.expression_time_limit_ms;
  out.expression_memory_bytes = read.expression_memory_bytes;
  out.caf = std::move(read.caf);
  return out;
}

/// The node file of the temporary node.
result<node_config> config_of(const dev_options& options, const std::string& folder, std::vector<problem>& problems) {
  auto out = agents_in(options.agents, problems);
  if (!out) return out;
  const auto address = address_here("--node", options.listen);
  if (!address) return address.failure();
  const auto api = address_here("--api", options.api.empty() ? "127.0.0.1:" + std::to_string(default_api_port) : options.api);
  if (!api) return api.failure();
  if (api->port != 0 && same_place(*api, *address))
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, "the node itself listens on " + to_text(*api), "give --api another port"};
  out->name = "dev";
  out->listen = *address;
  out->api.emplace().listen = *api;
  out->store_path = folder + "/store";
  out->journal_path = store::journal_in(out->store_path);
  out->journal_segment_bytes = std::uint64_t{1} << 20;  // quickly made
  out->journal_max_bytes = std::uint64_t{1} << 30;
  out->log.file = folder + "/node.log";
  out->shutdown_timeout_ms = shutdown_ms;
  return out;
}

/// Without an address of its own the API gives way to whoever is there: often another `fairlead dev`.
void leave_out_taken_api(const dev_options& options, node_config& config, dev_console& console) {
  if (!options.api.empty()) return;
  const auto listens = probe_listen(*config.api->listen);
  if (listens.ok()) return;
  console.say("warning: there is no API: " + listens.failure().sentence + "; --api 127.0.0.1:0 takes a free port");
  config.api.reset();
}

result<std::shared_ptr<const scripts>> scripts_of(const dev_options& options, const core::agent_catalog& provided,
                                                  std::vector<problem>& problems) {
  auto out = std::make_shared<scripts>();
  for (const auto& one : options.scripts)
    if (auto added = add_script(one, *out); !added.ok()) {
      auto why = added.failure();
      why.sentence = "--script: " + why.sentence;
      return why;
    }
  if (!options.scripts_file.empty()) problems = read_scripts(options.scripts_file, *out);
  if (!problems.empty()) return error{v1::ERROR_CODE_INVALID_ARGUMENT, options.scripts_file + " has problems", ""};
  for (const auto& entry : *out) {
    const auto& [agent, call] = entry.first;
    const auto found = provided.find(agent);
    if (found != provided.end() && (!found->second || found->second->count(call) != 0))
      return error{v1::ERROR_CODE_INVALID_ARGUMENT,
                   "the script of " + agent + "." + call + " has no effect: " + options.agents + " has this agent",
                   "remove the script, or remove the agent from the node file"};
  }
  return std::shared_ptr<const scripts>{std::move(out)};
}

int end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return ::signalfd(-1, &signals, SFD_CLOEXEC);
}

/// Waits for an event. False: the process is to end.
bool wait_for_change(int signals, int files) {
  std::array<pollfd, 2> what{{{signals, POLLIN, 0}, {files, POLLIN, 0}}};
  while (::poll(what.data(), what.size(), -1) < 0 && errno == EINTR) continue;
  if ((what[0].revents & POLLIN) != 0) return false;
  return ::poll(what.data(), 1, settling_ms) <= 0;
}

void say_how_to_go_on(dev_console& console, const dev_workflows& workflows, const std::string& address, const std::string& api) {
  const auto node = address == "127.0.0.1:7100" ? std::string{} : " --node " + address;
  auto proposals = workflows.proposals();
  if (proposals.empty()) proposals["WORKFLOW"] = "{}";
  console.say("");
  console.say("Continue in another terminal:");
  for (const auto& [name, input] : proposals) console.say("  fairlead submit " + name + " --input '" + input + "' --wait" + node);
  console.say("  fairlead task show ID" + node);
  if (!api.empty())
    console.say("  curl -X PUT '" + api + "/tasks/ID?wait=30s' --json '{\"workflow\": \"" + proposals.begin()->first +
                "\", \"input\": " + proposals.begin()->second + "}'");
  console.say("Ctrl-C ends this.");
  console.say("");
}

int run_in(const dev_options& options, const dev_folder& folder, int signals, watched_files& files) {
  std::vector<problem> problems;
  auto config = config_of(options, folder.path(), problems);
  if (!problems.empty()) return fail_with(problems);
  if (!config) return fail(config.failure());
  const auto provided = options.agents.empty() ? core::agent_catalog{} : catalog_of(*config);
  const auto told = scripts_of(options, provided, problems);
  if (!problems.empty()) return fail_with(problems);
  if (!told) return fail(told.failure());

  dev_console console;
  leave_out_taken_api(options, *config, console);
  node_parts parts;
  parts.listener = &console;
  parts.on_fatal = [&folder](const error&) { folder.end(); };
  parts.on_ending = [folder](exit_code code) {
    std::thread{[folder, code] {
      std::this_thread::sleep_for(cut_off);
      folder.end();
      std::_Exit(code);
    }}.detach();
  };
  start_failure failure;
  const auto node = node_runtime::start(*config, std::move(parts), failure);
  if (!node) {
    fail(failure.why);
    return failure.code;
  }
  const auto address = to_text(listen_address{config->listen.host, node->port()});
  const auto api = config->api ? "http://" + to_text(listen_address{config->api->listen->host, node->api_port()}) + "/v1" : std::string{};
  client_options to;
  to.nodes = {address};
  {
    auto connected = client::connect(std::move(to));
    if (!connected) return fail(connected.failure());
    console.say("fairlead dev is ready on " + address + "; its store is in " + folder.path() +
                (folder.removed_at_end() ? " and is removed at the end" : ", and is kept"));
    if (!api.empty()) console.say("the API is on " + api + ", for everyone on this machine");
    dev_workflows workflows{*node, *connected, provided, *told, [&console](const std::string& line) { console.say(line); }};
    workflows.take(files.look());
    for (const auto& name : workflows.idle_scripts()) console.say("warning: no workflow has " + name + ", but a script is given for it");
    say_how_to_go_on(console, workflows, address, api);
    while (wait_for_change(signals, files.descriptor())) {
      files.drain();
      workflows.take(files.look());
    }
    console.say("ending");
  }
  node->stop();
  return exit_ok;
}

}  // namespace

int run_dev(const dev_options& options) {
  // The signals are blocked before any thread starts, so that they end no thread.
  const auto signals = end_signals();
  auto files = watched_files::open(options.paths.empty() ? std::vector<std::string>{"."} : options.paths);
  if (!files) return fail(files.failure());
  const auto folder = dev_folder::make(options.keep);
  if (!folder) return fail(folder.failure());
  const auto code = run_in(options, *folder, signals, **files);
  folder->end();
  return code;
}

}  // namespace fairlead::app
