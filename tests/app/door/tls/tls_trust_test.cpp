// Certificates of clients over real handshakes: what the port says of each that is shown.

#include "app/door/tls/tls_trust.hpp"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/certificates/certificates.hpp"
#include "app/door/listener.hpp"

namespace fairlead::app::door {
namespace {

/// The library checks certificates by the system's clock.
moment now() { return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()); }
moment long_ago() { return now() - std::chrono::days{400}; }

gnutls_datum_t datum(const std::string& text) {
  return {reinterpret_cast<unsigned char*>(const_cast<char*>(text.data())), static_cast<unsigned>(text.size())};
}

/// The end of the answer to one request over a connection that shows the certificate, or none.
std::string asked(std::uint16_t port, const certificate_and_key& shown) {
  gnutls_certificate_credentials_t own = nullptr;
  gnutls_certificate_allocate_credentials(&own);
  if (!shown.certificate.empty()) {
    const auto certificate = datum(shown.certificate), key = datum(shown.key);
    EXPECT_EQ(gnutls_certificate_set_x509_key_mem(own, &certificate, &key, GNUTLS_X509_FMT_PEM), 0);
  }
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  gnutls_session_t session = nullptr;
  // By its authorities the node would tell which certificate to show; it names none, so that the client has to be told to.
  gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_FORCE_CLIENT_CERT);
  gnutls_set_default_priority(session);
  gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, own);
  gnutls_transport_set_int(session, fd);
  int done = 0;
  do done = gnutls_handshake(session);
  while (done < 0 && gnutls_error_is_fatal(done) == 0);
  EXPECT_EQ(done, 0) << gnutls_strerror(done);
  const std::string text = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(gnutls_record_send(session, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::string out;
  for (char piece[4096];;) {
    const auto size = gnutls_record_recv(session, piece, sizeof piece);
    if (size == GNUTLS_E_AGAIN || size == GNUTLS_E_INTERRUPTED) continue;
    if (size <= 0) break;
    out.append(piece, static_cast<std::size_t>(size));
  }
  gnutls_deinit(session);
  gnutls_certificate_free_credentials(own);
  ::close(fd);
  const auto body = out.find("\r\n\r\n");
  return body == std::string::npos ? out : out.substr(body + 4);
}

class tls_trust_test : public ::testing::Test {
 protected:
  tls_trust_test() : folder_(std::filesystem::temp_directory_path() / ("tls-trust-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    ours_ = *make_authority("ours", 3'650, long_ago());
    others_ = *make_authority("others", 3'650, long_ago());
  }
  ~tls_trust_test() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::ofstream{path, std::ios::trunc} << text;
    std::filesystem::permissions(path, std::filesystem::perms{0600});
    return path;
  }
  static certificate_and_key issue(const std::vector<std::string>& names, const certificate_and_key& by,
                                   certificate_uses uses = {false, true}, moment at = now()) {
    certificate_order order{{}, uses, 365};
    for (const auto& name : names) order.names.push_back(*read_certificate_name(name));
    return *issue_certificate(order, {{"ca", by.certificate}, {"key", by.key}}, at);
  }
  void start() {
    trust_ = *client_trust::open(write("clients.pem", ours_.certificate));
    const auto own = issue({"localhost"}, ours_, {true, false});
    auto tls = tls_certificate::open(write("own.pem", own.certificate), write("own-key.pem", own.key));
    ASSERT_TRUE(tls.ok()) << tls.failure().sentence;
    auto made = listener::start(
        std::move(listen_on({"127.0.0.1", 0}).value()), {},
        [](const request& what, const std::shared_ptr<answerer>& to) {
          answer out;
          const auto& shown = what.from.certificate;
          out.body = !shown ? "none" : shown->trouble;
          if (shown)
            for (const auto& name : shown->names) out.body += name + ";";
          (*to)(std::move(out));
          return false;
        },
        [] { return "made"; }, "1.2.3", std::move(*tls), trust_);
    ASSERT_TRUE(made.ok()) << made.failure().sentence;
    port_ = std::move(*made);
  }

  const std::filesystem::path folder_;
  certificate_and_key ours_, others_;
  std::shared_ptr<client_trust> trust_;
  std::unique_ptr<listener> port_;
};

TEST_F(tls_trust_test, gives_the_names_of_a_right_certificate) {
  start();
  EXPECT_EQ(asked(port_->port(), {}), "none");
  EXPECT_EQ(asked(port_->port(), issue({"ben.example.org", "spiffe://example.org/Ben", "10.0.0.1"}, ours_)),
            "dns:ben.example.org;spiffe://example.org/Ben;cn:ben.example.org;");
}

TEST_F(tls_trust_test, says_what_is_wrong_with_another) {
  start();
  EXPECT_EQ(asked(port_->port(), issue({"ben"}, others_)), "The client certificate is of an authority that this node does not trust.");
  EXPECT_EQ(asked(port_->port(), issue({"ben"}, ours_, {true, false})), "The certificate is not one for clients.");
  EXPECT_TRUE(asked(port_->port(), issue({"ben"}, ours_, {false, true}, long_ago())).starts_with("The client certificate has expired at "));
}

TEST_F(tls_trust_test, takes_other_authorities_while_it_runs_and_keeps_the_former_ones_if_the_file_is_wrong) {
  start();
  const auto mine = issue({"ben"}, ours_), other = issue({"ben"}, others_);
  EXPECT_FALSE(*trust_->read_again()) << "nothing has changed";
  write("clients.pem", others_.certificate);
  EXPECT_TRUE(*trust_->read_again());
  EXPECT_EQ(asked(port_->port(), other), "dns:ben;cn:ben;");
  EXPECT_NE(asked(port_->port(), mine), "dns:ben;cn:ben;");
  const auto no_authority = mine.certificate.substr(0, mine.certificate.find("-----END")) + "-----END CERTIFICATE-----\n";
  for (const auto& wrong : {std::string{}, std::string{"nothing"}, no_authority}) {
    write("clients.pem", wrong);
    const auto again = trust_->read_again();
    ASSERT_FALSE(again.ok()) << wrong;
    EXPECT_FALSE(again.failure().remedy.empty());
    EXPECT_EQ(asked(port_->port(), other), "dns:ben;cn:ben;");
  }
  write("clients.pem", others_.certificate + ours_.certificate);
  EXPECT_TRUE(*trust_->read_again());
  EXPECT_EQ(asked(port_->port(), mine), "dns:ben;cn:ben;");
}

TEST_F(tls_trust_test, does_not_open_without_authorities) {
  EXPECT_FALSE(client_trust::open(folder_ / "nothing").ok());
  EXPECT_FALSE(client_trust::open(write("empty.pem", "")).ok());
}

}  // namespace
}  // namespace fairlead::app::door
