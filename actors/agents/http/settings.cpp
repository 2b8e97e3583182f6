// Checks an http agent's configuration apart from its calls.

#include "actors/agents/attempt_results.hpp"
#include "actors/agents/http/config.hpp"
#include "actors/agents/http/hosts.hpp"
#include "actors/agents/http/request.hpp"

namespace fairlead::agents {

namespace {

status check_proxy(const std::string& where, const std::string& proxy) {
  if (const auto why = why_no_http_url(where, proxy)) return *why;
  const auto origin = origin_of(proxy);
  const auto rest = proxy.find_first_of("/?", proxy.find("://") + 3);
  if (!origin || origin->scheme != "http" || rest != std::string::npos)
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, where + " has more than http://host:port", "write http://host:port, without a path"};
  return nothing{};
}

}  // namespace

status check_agent_settings(const http_agent_config& agent) {
  const auto where = "agent " + agent.name + ": ";
  const auto refuse = [&](const std::string& sentence, const std::string& remedy) {
    return error{v1::ERROR_CODE_INVALID_ARGUMENT, where + sentence, remedy};
  };
  if (agent.concurrency == 0 || agent.concurrency > max_http_concurrency)
    return refuse("concurrency is out of range", "1 to " + std::to_string(max_http_concurrency));
  if (agent.connect_timeout_ms <= 0 || agent.connect_timeout_ms > max_connect_timeout_ms)
    return refuse("connect_timeout is out of range", "1ms to 10m");
  if (agent.connection_age_ms < min_connection_age_ms || agent.connection_age_ms > max_connection_age_ms)
    return refuse("connection_age is out of range", "1s to 1d");
  if (agent.max_response_bytes == 0 || agent.max_response_bytes > max_response_limit)
    return refuse("max_response is out of range", "use 1 byte to 64MiB");
  if (agent.redirects > max_http_redirects) return refuse("redirects is out of range", "0 to " + std::to_string(max_http_redirects));
  if (const auto hosts = http_host_list::parse(agent.allow_hosts); !hosts.ok())
    return refuse("allow_hosts: " + hosts.failure().sentence, hosts.failure().remedy);
  if (!agent.proxy.empty()) {
    if (auto good = check_proxy(where + "proxy", agent.proxy); !good.ok()) return good;
  } else if (!agent.no_proxy.empty()) {
    return refuse("no_proxy is given without proxy",
                  "add proxy: http://host:port, or leave no_proxy out; proxy variables of the environment are not used");
  }
  for (const auto& host : agent.no_proxy) {
    if (host.empty() || host.find_first_of(", \t\r\n") != std::string::npos)
      return refuse("no_proxy: '" + printable(host, 60) + "' is not a valid host", "write a host such as localhost or .example");
  }
  if (agent.tls.client_certificate.empty() && !agent.tls.client_key.empty())
    return refuse("tls: client_key is given without client_certificate", "add client_certificate, the certificate of the key");
  return nothing{};
}

}  // namespace fairlead::agents
