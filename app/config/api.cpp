// `api:`, HTTP and JSON for people and programs.

#include "app/config/parts.hpp"

namespace fairlead::app {

void read_api(yaml_section& root, node_config& out) {
  const auto node = root.find("api");
  if (!node) return;
  listen_address at{"127.0.0.1", 7190};
  yaml_section section{*node};
  const auto listen = section.find("listen");
  const auto& place = listen ? *listen : *node;
  const auto text = listen ? listen->text() : std::optional{to_text(at)};
  const auto address = text ? parse_address(*text) : std::nullopt;
  if (address) at = *address;
  if (text && !address)
    place.expected("HOST:PORT, such as 127.0.0.1:7190");
  else if (!is_loopback(at.host))
    place.complain("this address can be reached from other machines, and the API does not ask who sends a request",
                   "listen on 127.0.0.1; programs on other machines use the command line or the C++ client");
  else if (at.port != 0 && (same_place(at, out.listen) || (out.http && same_place(at, *out.http))))
    place.complain("the node itself listens on " + to_text(at) + " (node.listen or http.listen)", "choose another port");
  section.finish();
  out.api = at;
}

}  // namespace fairlead::app
