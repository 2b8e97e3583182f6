#include <fairlead/node.hpp>
#include <fairlead/workflow.hpp>

#include <dlfcn.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "actors/core/text/json.hpp"
#include "app/config/config.hpp"
#include "app/library/agent_state.hpp"
#include "app/node/runtime.hpp"

namespace fairlead {

namespace {

namespace fs = std::filesystem;

bool runs(const fs::path& program) { return ::access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program); }

/// The program beside the library, as installed or built: in `bin` next to a folder that contains the library.
std::string beside_library() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&beside_library), &here) == 0 || here.dli_fname == nullptr) return {};
  std::error_code ignored;
  auto folder = fs::canonical(here.dli_fname, ignored).parent_path();
  for (int up = 0; up < 4 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    if (runs(folder / "bin" / "fairlead")) return (folder / "bin" / "fairlead").string();
  return {};
}

std::string in_path() {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    rest = colon == std::string::npos ? std::string{} : rest.substr(colon + 1);
    if (!folder.empty() && runs(fs::path{folder} / "fairlead")) return folder + "/fairlead";
  }
  return {};
}

result<std::string> find_program(const std::string& given) {
  if (!given.empty()) {
    if (runs(given)) return given;
    return error{v1::ERROR_CODE_UNAVAILABLE, given + " is not an executable program", "set node_options.program to the installed fairlead"};
  }
  for (auto* look : {beside_library, in_path})
    if (auto found = look(); !found.empty()) return found;
  return error{v1::ERROR_CODE_UNAVAILABLE,
               "the program fairlead is needed to evaluate expressions, and is neither next to the library nor in PATH",
               "set node_options.program to it"};
}

std::string quoted(const std::string& text) {
  std::string out;
  core::append_json_string(out, text);
  return out;
}

/// The options as a node file, so that the same checks apply.
std::string as_file(const node_options& options) {
  return "node: { name: " + quoted(options.name) + ", listen: " + quoted(options.listen) + " }\nstore: { path: " + quoted(options.store) +
         " }\nlog: { level: " + quoted(options.log_level) + (options.log_file.empty() ? "" : ", file: " + quoted(options.log_file)) +
         " }\nshutdown_timeout: " + std::to_string(options.shutdown_timeout.count()) + "ms\n";
}

result<app::node_config> config_of(const node_options& options) {
  std::error_code ignored;
  auto file = options.file.empty() ? app::parse_node_config((fs::current_path(ignored) / "node_options").string(), as_file(options))
                                   : app::read_node_config(options.file);
  if (file.problems.empty()) return std::move(file.config);
  error out{v1::ERROR_CODE_INVALID_ARGUMENT, "", ""};
  for (const auto& one : file.problems) {
    if (!out.sentence.empty()) out.sentence += '\n';
    if (options.file.empty())
      out.sentence += "node_options: " + one.where + ": " + one.sentence;
    else
      out.sentence += app::to_text(one);
    if (out.remedy.empty()) out.remedy = one.remedy;
  }
  return out;
}

/// A client that hangs up, or a killed expression process, must not end the process. A handler that the program has set stays.
void ignore_broken_pipes() {
  struct sigaction now {};
  if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

std::string reachable(const app::listen_address& listen, std::uint16_t port) {
  auto host = listen.host;
  if (host == "0.0.0.0") host = "127.0.0.1";
  if (host == "::") host = "::1";
  return app::to_text(app::listen_address{std::move(host), port});
}

/// Descriptors that SIGTERM and SIGINT write to while a node's run() lasts. Several nodes may run at a time: a signal ends all of them.
constexpr std::size_t most_running = 64;
std::array<std::atomic<int>, most_running> wakers{};  // descriptors plus one; 0: none
std::mutex handlers_guard;
int handlers_users = 0;
struct sigaction old_term, old_int;

void wake(int fd) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);
}

extern "C" void fairlead_end_signal(int) {
  const int saved = errno;
  for (auto& one : wakers)
    if (const int fd = one.load(); fd > 0) wake(fd - 1);
  errno = saved;
}

/// Makes SIGTERM and SIGINT write to `fd` during its lifetime.
class end_signals {
 public:
  explicit end_signals(int fd) {
    const std::lock_guard lock{handlers_guard};
    for (auto& one : wakers) {
      int none = 0;
      if (!one.compare_exchange_strong(none, fd + 1)) continue;
      mine_ = &one;
      break;
    }
    if (handlers_users++ > 0) return;
    struct sigaction how {};
    how.sa_handler = fairlead_end_signal;
    sigemptyset(&how.sa_mask);
    how.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &how, &old_term);
    sigaction(SIGINT, &how, &old_int);
    // If every thread blocked the two signals, no handler would run.
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &both, &old_mask_);
    unblocked_ = true;
  }
  ~end_signals() {
    const std::lock_guard lock{handlers_guard};
    if (mine_ != nullptr) mine_->store(0);
    if (unblocked_) pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    if (--handlers_users > 0) return;
    sigaction(SIGTERM, &old_term, nullptr);
    sigaction(SIGINT, &old_int, nullptr);
  }
  end_signals(const end_signals&) = delete;
  end_signals& operator=(const end_signals&) = delete;

 private:
  std::atomic<int>* mine_ = nullptr;
  sigset_t old_mask_{};
  bool unblocked_ = false;
};

}  // namespace

struct node::state {
  std::unique_ptr<app::node_runtime> runtime;
  std::string address;
  std::uint16_t port = 0;
  int waker = -1;
  std::mutex guard;  // serialises stop()
  bool stopped = false;
  bool settled = true;

  ~state() {
    stop();
    if (waker >= 0) ::close(waker);
  }

  bool stop() {
    const std::lock_guard lock{guard};
    if (!stopped && runtime) settled = runtime->stop();
    stopped = true;
    return settled;
  }
};

node::node(std::unique_ptr<state> s) : state_(std::move(s)) {}
node::node(node&&) noexcept = default;
node& node::operator=(node&&) noexcept = default;
node::~node() = default;

result<node> node::start(node_options options, const std::vector<agent>& agents) {
  auto config = config_of(options);
  if (!config) return config.failure();
  auto program = find_program(options.program);
  if (!program) return program.failure();
  app::node_parts parts;
  parts.program = std::move(*program);
  parts.on_fatal = std::move(options.on_fatal);
  for (const auto& one : agents) {
    auto given = one.inside()->given();
    if (!given) return given.failure();
    parts.agents.push_back(std::move(*given));
  }
  ignore_broken_pipes();
  auto s = std::make_unique<state>();
  s->waker = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (s->waker < 0)
    return error{v1::ERROR_CODE_UNAVAILABLE, "the process has reached its limit of open files", "raise the limit (ulimit -n)"};
  app::start_failure failure;
  s->runtime = app::node_runtime::start(*config, std::move(parts), failure);
  if (!s->runtime) return failure.why;
  s->port = s->runtime->port();
  s->address = reachable(config->listen, s->port);
  return node{std::move(s)};
}

const std::string& node::address() const { return state_->address; }

std::uint16_t node::port() const { return state_->port; }

result<fairlead::client> node::client(duration request_timeout) const {
  client_options options;
  options.nodes = {state_->address};
  options.request_timeout = request_timeout;
  options.connect_timeout = request_timeout;
  return fairlead::client::connect(std::move(options));
}

result<v1::DeployReply> node::deploy(const workflow& what) const {
  auto definition = what.definition();
  if (!definition) return definition.failure();
  auto connected = client();
  if (!connected) return connected.failure();
  v1::DeployRequest request;
  request.set_source(what.yaml());
  *request.mutable_definition() = std::move(*definition);
  return connected->deploy(request);
}

status node::run() {
  {
    const end_signals signals{state_->waker};
    pollfd wait{state_->waker, POLLIN, 0};
    while (::poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
  }
  state_->runtime->log().on_note(note_level::info, "node", "stopping as requested");
  return stop();
}

void node::request_stop() noexcept { wake(state_->waker); }

status node::stop() {
  if (state_->stop()) return nothing{};
  return error{v1::ERROR_CODE_TIMED_OUT, "some work was not finished in time; nothing acknowledged is lost",
               "raise shutdown_timeout, or let handlers check stopped()"};
}

}  // namespace fairlead
