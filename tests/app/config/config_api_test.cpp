#include <gtest/gtest.h>

#include "tests/app/config/node_file.hpp"

namespace fairlead::app {
namespace {

TEST(api_config, is_off_unless_it_is_there) {
  EXPECT_FALSE(parsed("").config.api);
  const auto on = parsed("api: {}").config;
  ASSERT_TRUE(on.api);
  EXPECT_EQ(to_text(*on.api->listen), "127.0.0.1:7190");
  EXPECT_EQ(to_text(*parsed("api: { listen: \"[::1]:80\" }").config.api->listen), "[::1]:80");
}

TEST(api_config, stays_off_the_ports_of_the_node) {
  EXPECT_EQ(problems_of("api: { listen: 7190 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { listen: \"localhost:7100\" }").size(), 1U);
  EXPECT_EQ(problems_of("http: { listen: 127.0.0.1:7190 }\napi: {}").size(), 1U) << "also where the default is in the way";
}

TEST(api_config, is_reached_from_other_machines_only_with_tls_and_tokens_or_certificates) {
  const std::string tls = "tls: { certificate: c.pem, key: k.pem }", tokens = "access: { tokens_file: tokens.yaml }\n";
  for (const std::string at : {"0.0.0.0:7190", "node.example:7190"}) {
    EXPECT_EQ(problems_of("api: { listen: \"" + at + "\" }").size(), 2U) << at;
    EXPECT_EQ(problems_of(tokens + "api: { listen: \"" + at + "\" }").size(), 1U) << at;
    EXPECT_EQ(problems_of("api: { listen: \"" + at + "\", " + tls + " }").size(), 1U) << at;
    EXPECT_EQ(problems_of(tokens + "api: { listen: \"" + at + "\", " + tls + " }").size(), 0U) << at;
    EXPECT_EQ(problems_of("access: { certificates: [{ san: \"cn:ben\", roles: [viewer] }] }\napi: { listen: \"" + at +
                          "\", tls: { certificate: c.pem, key: k.pem, client_ca: ca.pem } }")
                  .size(),
              0U)
        << at;
  }
  const auto read = parsed(tokens + "api: { listen: \"0.0.0.0:7190\", " + tls + ", hosts: [Node.Example, \"::1\"] }").config;
  EXPECT_TRUE(read.access.tokens_file.ends_with("tokens.yaml"));
  EXPECT_TRUE(read.api->certificate.ends_with("c.pem") && read.api->key.ends_with("k.pem"));
  EXPECT_EQ(read.api->hosts, (std::vector<std::string>{"node.example", "::1"}));
}

const std::string asks_clients = "api: { tls: { certificate: c.pem, key: k.pem, client_ca: ca.pem } }\n";

TEST(api_config, knows_clients_by_a_name_of_their_certificate) {
  const auto read = parsed(asks_clients +
                           "access: { certificates: [{ san: \"spiffe://example.org/Agent\", roles: [client, payloads] },"
                           " { san: \"dns:N1.Example.org\", name: n1, roles: [agent], namespaces: [default, billing], agents: [payment] },"
                           " { san: \"cn:Ben Miller\", roles: [operator] }] }");
  ASSERT_EQ(shown(read.problems), lines{});
  EXPECT_TRUE(read.config.api->client_ca.ends_with("ca.pem"));
  const auto& all = read.config.access.certificates;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].san, "spiffe://example.org/Agent");
  EXPECT_EQ(all[0].name, all[0].san) << "if the file has no other name";
  EXPECT_EQ(all[0].roles, (std::vector<std::string>{"client", "payloads"}));
  EXPECT_EQ(all[0].namespaces, std::vector<std::string>{"default"});
  EXPECT_EQ(all[1].san, "dns:n1.example.org") << "names of hosts are compared without regard to case";
  EXPECT_EQ(all[1].name, "n1");
  EXPECT_FALSE(all[0].agents);
  EXPECT_EQ(all[1].agents, std::vector<std::string>{"payment"});
  EXPECT_EQ(all[1].namespaces, (std::vector<std::string>{"default", "billing"}));
  EXPECT_EQ(all[2].san, "cn:Ben Miller");
}

TEST(api_config, refuses_certificates_that_cannot_be_meant) {
  const auto count = [](const std::string& items) {
    return problems_of(asks_clients + "access: { certificates: [" + items + "] }").size();
  };
  const std::string sound = "{ san: \"cn:ben\", roles: [viewer] }";
  EXPECT_EQ(count(sound), 0U);
  EXPECT_EQ(count(sound + ", " + sound), 1U) << "twice the same name";
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [boss] }"), 1U) << "that there is no such role, and not that there is none";
  EXPECT_EQ(count("{ san: \"cn:ben\" }"), 1U);
  EXPECT_EQ(count("{ roles: [viewer] }"), 1U);
  for (const std::string bad : {"ben", "cn:", "dns:", "dns:a b", "dns://x", "://x", "spiffe://", "spiffe://a b", "email:a@b"})
    EXPECT_EQ(count("{ san: \"" + bad + "\", roles: [viewer] }"), 1U) << bad;
  EXPECT_EQ(count("{ san: \"cn:ben\", name: \"a b\", roles: [viewer] }"), 1U);
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [viewer], namespaces: [] }"), 1U);
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [viewer], namespaces: [\"-x\"] }"), 1U);
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [agent], agents: [] }"), 1U);
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [agent], agents: [\"a b\"] }"), 1U);
  EXPECT_EQ(count("{ san: \"cn:ben\", roles: [agent], agents: [payment] }"), 0U);
  const auto longer = "spiffe://example.org/" + std::string(200, 'x');
  EXPECT_EQ(count("{ san: \"" + longer + "\", roles: [viewer] }"), 1U) << "histories would cut it off";
  EXPECT_EQ(count("{ san: \"" + longer + "\", name: x, roles: [viewer] }"), 0U);
  EXPECT_EQ(problems_of("api: { tls: { certificate: c, key: k } }\naccess: { certificates: [" + sound + "] }").size(), 1U)
      << "no client is asked for a certificate";
  EXPECT_EQ(problems_of("api: { socket: s }\naccess: { certificates: [" + sound + "] }").size(), 1U);
  EXPECT_EQ(problems_of(asks_clients).size(), 1U) << "clients are asked, and none is known";
  EXPECT_EQ(problems_of("api: { tls: { client_ca: a } }").size(), 3U) << "a certificate and a key are missing, and nobody is known";
}

TEST(api_config, knows_users_of_a_socket) {
  const auto read = parsed("api: { socket: api.sock }\naccess: { users: { root: [admin], nobody: [viewer, payloads] } }").config;
  EXPECT_FALSE(read.api->listen) << "a socket alone listens on no port";
  EXPECT_TRUE(read.api->socket.ends_with("api.sock"));
  ASSERT_EQ(read.access.users.size(), 2U);
  EXPECT_EQ(read.access.users[0].uid, 0U);
  EXPECT_EQ(read.access.users[1].roles, (std::vector<std::string>{"viewer", "payloads"}));
}

TEST(api_config, refuses_what_cannot_be_meant) {
  EXPECT_EQ(problems_of("api: { socket: s }\naccess: { users: { root: [boss] } }").size(), 1U);
  EXPECT_EQ(problems_of("api: { socket: s }\naccess: { users: { no-such-user-here: [viewer] } }").size(), 1U);
  EXPECT_EQ(problems_of("api: {}\naccess: { users: { root: [viewer] } }").size(), 1U) << "there is no socket";
  EXPECT_EQ(problems_of("api: { socket: s, tls: { certificate: c, key: k } }").size(), 1U) << "a socket has no TLS";
  EXPECT_EQ(problems_of("api: { tls: { certificate: c } }").size(), 1U);
  EXPECT_EQ(problems_of("api: { hosts: [\"a b\"] }").size(), 1U);
  EXPECT_EQ(problems_of("api: { connections_per_address: 0 }").size(), 1U);
  EXPECT_EQ(problems_of("api: { socket: " + std::string(120, 'x') + " }").size(), 1U);
  EXPECT_EQ(problems_of("access: { token_file: x }").size(), 1U) << "an unknown key";
}

TEST(callback_url, is_the_address_of_the_api_where_the_file_does_not_say_it) {
  const auto base = [](const std::string& more) { return callback_base(parsed(more).config); };
  EXPECT_EQ(base(""), "") << "there is no API";
  EXPECT_EQ(base("api: {}"), "http://127.0.0.1:7190");
  EXPECT_EQ(base("api: { listen: \"[::1]:80\" }"), "http://[::1]:80");
  EXPECT_EQ(base("api: { listen: \"127.0.0.1:0\" }"), "") << "nobody knows the port yet";
  EXPECT_EQ(base("api: { socket: s }"), "");
  const std::string tls = "access: { tokens_file: t }\napi: { tls: { certificate: c, key: k }, listen: ";
  EXPECT_EQ(base(tls + "\"node.example:7190\" }"), "https://node.example:7190");
  for (const std::string any : {"\"0.0.0.0:7190\"", "\"[::]:7190\""}) EXPECT_EQ(base(tls + any + " }"), "") << any;
}

TEST(callback_url, goes_before_the_address_of_the_api_and_its_host_is_one_of_the_node) {
  const std::string asks = "\naccess: { tokens_file: t }\napi: {}";
  const auto read = parsed("callback_url: https://Fairlead.example.com/flows/" + asks).config;
  EXPECT_EQ(callback_base(read), "https://Fairlead.example.com/flows");
  EXPECT_EQ(read.api->hosts, std::vector<std::string>{"fairlead.example.com"});
  EXPECT_EQ(callback_base(parsed("callback_url: http://h:8080").config), "http://h:8080") << "another node of the cluster may have the API";
  EXPECT_EQ(parsed("callback_url: \"http://[::2]/\"" + asks).config.api->hosts, std::vector<std::string>{"::2"});
}

TEST(callback_url, is_not_for_others_while_the_api_asks_nobody_who_they_are) {
  const auto found = problems_of("callback_url: https://h\napi: {}");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].starts_with("3:15: callback_url: others reach the API through this address")) << found[0];
  for (const std::string here : {"http://127.0.0.1:7190", "http://localhost", "\"http://[::1]\""})
    EXPECT_EQ(problems_of("callback_url: " + here + "\napi: {}"), lines{}) << here;
  for (const std::string more : {"", "\napi: {}\naccess: { tokens_file: t }", "\napi: { socket: s }"})
    EXPECT_EQ(problems_of("callback_url: https://h" + more), lines{}) << more;
  EXPECT_EQ(problems_of("callback_url: https://h\n" + asks_clients + "access: { certificates: [{ san: \"cn:ben\", roles: [viewer] }] }"),
            lines{});
}

TEST(callback_url, is_refused_where_no_path_can_follow_it) {
  for (const std::string bad : {"fairlead.example.com", "ftp://h", "https://", "https://h/?a=b", "https://h/#x", "https://u:p@h",
                                "\"https://h/a b\"", "https://h:0"})
    EXPECT_EQ(problems_of("callback_url: " + bad).size(), 1U) << bad;
  EXPECT_EQ(problems_of("callback_url: https://h/" + std::string(1'100, 'x')).size(), 1U);
  EXPECT_EQ(problems_of("callback_url: { a: b }").size(), 1U);
  EXPECT_EQ(
      problems_of("callback_url: https://h/?a=b"),
      lines{"3:15: callback_url: this address has a query (?...); leave the query out; the path of the callback is added at the end"});
}

}  // namespace
}  // namespace fairlead::app
