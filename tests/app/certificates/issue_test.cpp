#include <gtest/gtest.h>

#include <set>

#include "app/certificates/certificates.hpp"
#include "tests/app/certificates/openssl_reader.hpp"

namespace fairlead::app {
namespace {

const std::vector<std::string> all_kinds = {"n1.example.org", "10.0.0.1", "fd00::1", "spiffe://example.org/node/n1"};

void expect_refused(const result<certificate_and_key>& made, v1::ErrorCode code, const std::string& sentence) {
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().code, code);
  EXPECT_EQ(made.failure().sentence, sentence);
  EXPECT_FALSE(made.failure().remedy.empty());
}

/// An authority whose certificates may have names of one domain only.
authority limited_to(const std::string& domain) {
  auto out = an_authority();
  const auto it = x509_in(out.certificate.text).front();
  const std::shared_ptr<BIO> key_text{BIO_new_mem_buf(out.key.text.data(), -1), BIO_free_all};
  const std::shared_ptr<EVP_PKEY> key{PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  const auto limit = "critical,permitted;DNS:" + domain;
  const std::shared_ptr<X509_EXTENSION> extension{X509V3_EXT_conf_nid(nullptr, nullptr, NID_name_constraints, limit.c_str()),
                                                  X509_EXTENSION_free};
  X509_add_ext(it.get(), extension.get(), -1);
  X509_sign(it.get(), key.get(), EVP_sha256());
  const std::shared_ptr<BIO> written{BIO_new(BIO_s_mem()), BIO_free_all};
  PEM_write_bio_X509(written.get(), it.get());
  char* at = nullptr;
  const auto size = BIO_get_mem_data(written.get(), &at);
  out.certificate.text.assign(at, static_cast<std::size_t>(size));
  return out;
}

TEST(certificate_issue, makes_a_certificate_that_openssl_verifies_for_all_its_names) {
  const auto by = an_authority();
  const auto made = issue_certificate(an_order(all_kinds), by, noon);
  ASSERT_TRUE(made.ok()) << made.failure().sentence;
  EXPECT_EQ(verified(made->certificate, by.certificate.text, noon, X509_PURPOSE_SSL_SERVER), X509_V_OK);
  EXPECT_EQ(verified(made->certificate, by.certificate.text, noon, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
  const auto it = x509_in(made->certificate).front();
  EXPECT_EQ(X509_check_host(it.get(), "n1.example.org", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(it.get(), "n2.example.org", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_check_ip_asc(it.get(), "10.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(it.get(), "fd00::1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(it.get(), "10.0.0.2", 0), 0);
}

TEST(certificate_issue, writes_what_was_ordered_and_the_authority_behind_it) {
  const auto by = an_authority();
  const auto made = issue_certificate(an_order(all_kinds), by, noon);
  const auto read = read_certificates({"n1.pem", made->certificate});
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->size(), 2U);
  const auto& it = read->front();
  EXPECT_EQ(it.subject, "CN=n1.example.org");
  EXPECT_EQ(it.issuer, "CN=Fairlead test");
  EXPECT_EQ(it.names, all_kinds);
  EXPECT_FALSE(it.is_authority);
  EXPECT_EQ(it.key_uses, (std::vector<std::string>{"digital_signature"}));
  EXPECT_EQ(it.uses, (std::vector<std::string>{"server", "client"}));
  EXPECT_EQ(it.not_before, noon - std::chrono::minutes{5});
  EXPECT_EQ(it.not_after, noon + std::chrono::days{365});
  EXPECT_EQ(it.fingerprint.size(), 95U);
  EXPECT_EQ((*read)[1].fingerprint, read_certificates(by.certificate)->front().fingerprint);
}

TEST(certificate_issue, makes_a_key_that_belongs_to_the_certificate_and_no_other) {
  const auto by = an_authority();
  const auto one = issue_certificate(an_order(), by, noon);
  const auto other = issue_certificate(an_order(), by, noon);
  EXPECT_TRUE(check_key_belongs({"n1.pem", one->certificate}, {"n1-key.pem", one->key}).ok());
  const auto mixed = check_key_belongs({"n1.pem", one->certificate}, {"n2-key.pem", other->key});
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.failure().sentence, "The private key in the file n2-key.pem does not belong to the certificate in the file n1.pem");
}

TEST(certificate_issue, gives_each_certificate_a_positive_random_serial_number_of_128_bits) {
  const auto by = an_authority();
  std::set<std::string> seen;
  std::size_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    const auto serial = read_certificates({"n1.pem", issue_certificate(an_order(), by, noon)->certificate})->front().serial;
    EXPECT_NE(serial.front(), '-');
    EXPECT_LE(serial.size(), 32U);
    longest = std::max(longest, serial.size());
    EXPECT_TRUE(seen.insert(serial).second);
  }
  EXPECT_EQ(longest, 32U);
}

TEST(certificate_issue, holds_a_certificate_to_its_use) {
  const auto by = an_authority();
  auto order = an_order();
  order.uses = {true, false};
  const auto server = issue_certificate(order, by, noon)->certificate;
  EXPECT_EQ(verified(server, by.certificate.text, noon, X509_PURPOSE_SSL_SERVER), X509_V_OK);
  EXPECT_EQ(verified(server, by.certificate.text, noon, X509_PURPOSE_SSL_CLIENT), X509_V_ERR_INVALID_PURPOSE);
  order.uses = {false, true};
  const auto client = issue_certificate(order, by, noon)->certificate;
  EXPECT_EQ(verified(client, by.certificate.text, noon, X509_PURPOSE_SSL_SERVER), X509_V_ERR_INVALID_PURPOSE);
  order.uses = {false, false};
  expect_refused(issue_certificate(order, by, noon), v1::ERROR_CODE_INVALID_ARGUMENT, "A certificate needs a use");
}

TEST(certificate_issue, leaves_the_subject_empty_and_the_names_critical_for_a_long_first_name) {
  const auto by = an_authority();
  const auto uri = "spiffe://example.org/" + std::string(200, 'a');
  const auto made = issue_certificate(an_order({uri}), by, noon);
  ASSERT_TRUE(made.ok()) << made.failure().sentence;
  EXPECT_EQ(verified(made->certificate, by.certificate.text, noon, X509_PURPOSE_SSL_CLIENT), X509_V_OK);
  const auto it = read_certificates({"n1.pem", made->certificate})->front();
  EXPECT_EQ(it.subject, "");
  EXPECT_EQ(it.names, std::vector<std::string>{uri});
}

TEST(certificate_issue, refuses_an_order_without_names_or_with_days_out_of_range) {
  const auto by = an_authority();
  expect_refused(issue_certificate(an_order({}), by, noon), v1::ERROR_CODE_INVALID_ARGUMENT, "A certificate needs a name");
  for (const std::int64_t days : {0, 36'501}) {
    auto order = an_order();
    order.days = days;
    expect_refused(issue_certificate(order, by, noon), v1::ERROR_CODE_INVALID_ARGUMENT,
                   std::to_string(days) + " is no number of days for a certificate");
  }
}

TEST(certificate_issue, never_makes_a_certificate_that_outlives_its_authority) {
  const auto by = an_authority(100);
  auto order = an_order();
  order.days = 101;
  const auto made = issue_certificate(order, by, noon);
  expect_refused(made, v1::ERROR_CODE_INVALID_ARGUMENT,
                 "The certificate would be valid longer than its authority in the file ca.pem, which ends at 2027-03-08T12:00:00Z");
  EXPECT_EQ(made.failure().remedy, "Use --days 100 or fewer, or make another authority");
  order.days = 100;
  EXPECT_TRUE(issue_certificate(order, by, noon).ok());
}

TEST(certificate_issue, refuses_an_authority_that_is_not_valid_now) {
  const auto by = an_authority(100);
  expect_refused(issue_certificate(an_order(), by, noon + std::chrono::days{100}), v1::ERROR_CODE_WRONG_STATE,
                 "The authority in the file ca.pem expired at 2027-03-08T12:00:00Z");
  expect_refused(issue_certificate(an_order(), by, noon - std::chrono::days{1}), v1::ERROR_CODE_WRONG_STATE,
                 "The authority in the file ca.pem is valid only from 2026-11-28T11:55:00Z");
}

TEST(certificate_issue, refuses_an_authority_with_the_key_of_another_or_that_is_none) {
  const auto by = an_authority();
  const auto other = an_authority();
  expect_refused(issue_certificate(an_order(), {by.certificate, other.key}, noon), v1::ERROR_CODE_INVALID_ARGUMENT,
                 "The private key in the file ca-key.pem does not belong to the certificate in the file ca.pem");
  const auto leaf = issue_certificate(an_order(), by, noon);
  expect_refused(issue_certificate(an_order(), as_files(*leaf), noon), v1::ERROR_CODE_INVALID_ARGUMENT,
                 "The certificate in the file ca.pem is not that of an authority");
}

TEST(certificate_issue, refuses_an_authority_with_an_encrypted_key) {
  auto by = an_authority();
  const std::shared_ptr<BIO> in{BIO_new_mem_buf(by.key.text.data(), -1), BIO_free_all};
  const std::shared_ptr<EVP_PKEY> key{PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  const std::shared_ptr<BIO> out{BIO_new(BIO_s_mem()), BIO_free_all};
  char passphrase[] = "secret";
  ASSERT_EQ(PEM_write_bio_PKCS8PrivateKey(out.get(), key.get(), EVP_aes_256_cbc(), passphrase, 6, nullptr, nullptr), 1);
  char* at = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &at);
  by.key.text.assign(at, static_cast<std::size_t>(size));
  expect_refused(issue_certificate(an_order(), by, noon), v1::ERROR_CODE_INVALID_ARGUMENT,
                 "The private key in the file ca-key.pem is encrypted");
}

TEST(certificate_issue, refuses_names_that_an_authority_made_elsewhere_may_not_vouch_for) {
  const auto by = limited_to("example.org");
  const auto refused = issue_certificate(an_order({"n1.example.com"}), by, noon);
  expect_refused(refused, v1::ERROR_CODE_INVALID_ARGUMENT,
                 "The authority in the file ca.pem may not issue this certificate: permitted subtree violation");
  EXPECT_TRUE(issue_certificate(an_order({"n1.example.org"}), by, noon).ok());
}

TEST(certificate_chain, is_refused_by_another_authority_and_after_the_end) {
  const auto by = an_authority();
  const auto other = an_authority();
  const named_pem made{"n1.pem", issue_certificate(an_order(), by, noon)->certificate};
  EXPECT_TRUE(check_chain(made, by.certificate, noon).ok());
  const auto foreign = check_chain(made, other.certificate, noon);
  ASSERT_FALSE(foreign.ok());
  EXPECT_TRUE(
      foreign.failure().sentence.starts_with("The certificate in the file n1.pem is not valid by the authority in the file ca.pem: "));
  EXPECT_FALSE(check_chain(made, by.certificate, noon + std::chrono::days{366}).ok());
  EXPECT_TRUE(check_chain(made, by.certificate, noon - std::chrono::minutes{4}).ok());
}

}  // namespace
}  // namespace fairlead::app
