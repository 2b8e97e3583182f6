#include "app/api/port.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/core/certificate_stage.hpp"
#include "actors/workers/workers.hpp"
#include "app/api/api.hpp"
#include "messages/ids.hpp"

namespace fairlead::app::api {

namespace {

constexpr duration report_period = std::chrono::seconds{10};

/// The node needs open files for other things, too.
std::size_t most_connections(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  return std::min<std::size_t>(wanted, files.rlim_cur / 2);
}

/// 0: there is nothing.
std::uint64_t inode_of(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? std::uint64_t{found.st_ino} : 0;
}

std::string served_to(const access_config& access) {
  if (access.tokens_file.empty() && access.certificates.empty()) return ", to everyone on this machine";
  if (access.certificates.empty()) return ", to whoever has a token";
  return access.tokens_file.empty() ? ", to whoever has a client certificate" : ", to whoever has a token or a client certificate";
}

/// Loopback is always among the names that clients may use.
door::guard guard_of(const api_config& config, const std::shared_ptr<gate>& access, const clock* time) {
  door::guard out;
  out.is_known = [access, time](const door::request_head& head, const door::peer& from) {
    return access->knows(door::find_header(head, "Authorization"), from, time->now());
  };
  out.is_callback = [](const door::request_head& head) { return is_callback(door::path_of(head)); };
  out.hosts = config.hosts;
  if (config.listen && !is_loopback(config.listen->host)) out.hosts.push_back(config.listen->host);
  return out;
}

/// Of a write that the door refused. Its answer does not wait: nothing was done, and nobody knows yet who sent it.
void note_refused(const surroundings& in, const door::request& what, const door::problem& why) {
  if (const auto entry = refused_entry_of(in, {}, what, why)) in.audit->note(*entry, [](const status&) {});
}

}  // namespace

std::function<api_figures()> port::figures() const {
  return [ends = ends_, counts = counts_, access = access_, audit = audit_, workers = workers_] {
    api_figures out;
    out.certificate_ends_unix_ms = *ends;
    out.token_ends = access->token_ends();
    out.connections = counts->connections;
    out.streams = counts->streams;
    if (workers) out.workers = static_cast<std::int64_t>(workers->count());
    out.requests = counts->requests;
    for (const auto& one : counts->answers()) out.answers.push_back({std::string{one.method}, one.status, one.count});
    out.answer_micros = counts->times();
    if (!audit) return out;
    out.audit_entries = audit->written();
    out.audit_entries_lost = audit->lost();
    return out;
  };
}

port::~port() {
  tcp_.reset();
  unix_.reset();
  // Another program may have its own there by now.
  if (!socket_.empty() && inode_of(socket_) == socket_inode_) ::unlink(socket_.c_str());
}

result<std::unique_ptr<door::listener>> port::listen(result<listen_socket> at, const std::string& where, const door::guard& guards,
                                                     const door::service& to, const std::string& version,
                                                     std::shared_ptr<const door::tls_certificate> tls,
                                                     std::shared_ptr<const door::client_trust> clients) {
  const auto refused = [&](const error& why) {
    return error{v1::ERROR_CODE_UNAVAILABLE, "the API cannot listen on " + where + ": " + why.sentence,
                 "stop the program that listens there (ss -ltnxp shows it), or change api in the node file"};
  };
  if (!at) return refused(at.failure());
  door::listener_limits limits;
  limits.connections = most_connections(limits.connections);
  limits.of_one_address = of_one_address_;
  auto out = door::listener::start(
      std::move(*at), guards, to, [time = time_] { return make_uuid_v7(to_unix_ms(time->now())); }, version, std::move(tls),
      std::move(clients), limits);
  if (!out) return refused(out.failure());
  return out;
}

result<std::unique_ptr<port>> port::serve(const node_config& config, surroundings in, observer& log) {
  if (!config.api) return std::unique_ptr<port>{};
  const auto& wanted = *config.api;
  std::unique_ptr<port> out{new port{in, log}};
  auto access = gate::open(
      config.access, [&log](const std::string& sentence) { log.on_note(note_level::warning, "api", sentence); }, *in.time);
  if (!access) return access.failure();
  in.access = out->access_ = std::move(*access);
  out->of_one_address_ = wanted.connections_per_address;
  out->audit_ = in.audit;
  out->workers_ = in.workers;
  auto guards = guard_of(wanted, in.access, in.time);
  guards.counts = out->counts_;
  const auto version = in.version;
  const auto all = std::make_shared<const surroundings>(std::move(in));
  if (all->audit) guards.on_refused_write = [all](const door::request& what, const door::problem& why) { note_refused(*all, what, why); };
  const auto to = make_service(all);
  if (wanted.listen) {
    if (const auto opened = out->open_tls(wanted); !opened.ok()) return opened.failure();
    auto started = out->listen(listen_on(*wanted.listen), to_text(*wanted.listen), guards, to, version, out->certificate_, out->clients_);
    if (!started) return started.failure();
    out->tcp_ = std::move(*started);
    log.on_note(note_level::info, "api",
                std::string{"served on http"} + (out->certificate_ ? "s" : "") + "://" +
                    to_text(listen_address{wanted.listen->host, out->tcp_->port()}) + "/v1" + served_to(config.access));
  }
  if (!wanted.socket.empty()) {
    auto started = out->listen(listen_on_path(wanted.socket), wanted.socket, guards, to, version);
    if (!started) return started.failure();
    out->unix_ = std::move(*started);
    out->socket_ = wanted.socket;
    out->socket_inode_ = inode_of(wanted.socket);
    log.on_note(note_level::info, "api", "served on the socket " + wanted.socket);
  }
  return out;
}

status port::open_tls(const api_config& wanted) {
  if (wanted.certificate.empty()) return nothing{};
  const auto refused = [](const error& why) { return error{v1::ERROR_CODE_INVALID_ARGUMENT, "api.tls: " + why.sentence, why.remedy}; };
  auto certificate = door::tls_certificate::open(wanted.certificate, wanted.key);
  if (!certificate) return refused(certificate.failure());
  certificate_ = std::move(*certificate);
  if (!wanted.client_ca.empty()) {
    auto clients = door::client_trust::open(wanted.client_ca);
    if (!clients) return refused(clients.failure());
    clients_ = std::move(*clients);
  }
  look_at_files();
  watch_.emplace([this] { look_at_files(); });
  return nothing{};
}

void port::look_at_files() {
  look_at_certificate();
  if (clients_) look_at_clients();
  report();
}

void port::look_at_clients() {
  const auto read = clients_->read_again();
  if (!read && read.failure().sentence != clients_trouble_)
    log_->on_note(note_level::warning, "api",
                  "api.tls.client_ca: " + read.failure().sentence + "; the former authorities stay; " + read.failure().remedy);
  clients_trouble_ = read ? std::string{} : read.failure().sentence;
  if (read && *read) log_->on_note(note_level::info, "api", "api.tls.client_ca: other authorities of client certificates are in use");
  take(clients_end_, clients_->ends_unix_ms());
  warn(clients_end_, "api.tls.client_ca: an authority",
       "add the next one to the file, give clients certificates of it, then remove the former one");
}

void port::look_at_certificate() {
  const auto read = certificate_->read_again();
  if (!read && read.failure().sentence != certificate_trouble_)
    log_->on_note(note_level::warning, "api",
                  "api.tls: " + read.failure().sentence + "; the former certificate stays; " + read.failure().remedy);
  certificate_trouble_ = read ? std::string{} : read.failure().sentence;
  *ends_ = certificate_->ends_unix_ms();
  if (read && *read) log_->on_note(note_level::info, "api", "api.tls: another certificate is in use, valid until " + format_utc(*ends_));
  take(certificate_end_, *ends_);
  warn(certificate_end_, "api.tls: the certificate", "renew it: fairlead certificate renew");
}

void port::take(shown_end& of, std::int64_t ends_unix_ms) {
  if (of.ends_unix_ms == ends_unix_ms) return;
  of = {ends_unix_ms, 0};
  next_report_ = {};
}

void port::warn(shown_end& of, const std::string& words, const std::string& remedy) {
  if (of.ends_unix_ms == 0) return;
  const auto left_ms = of.ends_unix_ms - to_unix_ms(time_->now());
  const auto stage = core::certificate_stage(left_ms);
  if (stage <= of.warned_stage) return;
  of.warned_stage = stage;
  log_->on_note(note_level::warning, "api",
                words + (left_ms <= 0 ? " has ended at " : " ends at ") + format_utc(of.ends_unix_ms) + "; " + remedy);
}

void port::report() {
  const auto now = time_->steady();
  if (!gateway_ || now < next_report_) return;
  next_report_ = now + report_period;
  for (const auto& [use, of] :
       {std::pair{v1::CERTIFICATE_USE_API, &certificate_end_}, std::pair{v1::CERTIFICATE_USE_CLIENTS, &clients_end_}}) {
    if (of->ends_unix_ms == 0) continue;
    v1::CertificateReport what;
    what.set_node(node_);
    what.set_use(use);
    what.set_ends_at_unix_ms(of->ends_unix_ms);
    // The gateway takes reports of its own process alone as this node's.
    caf::send_as(gateway_, gateway_, std::move(what));
  }
}

}  // namespace fairlead::app::api
