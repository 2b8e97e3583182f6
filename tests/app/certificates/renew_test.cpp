#include <gtest/gtest.h>

#include "app/certificates/certificates.hpp"
#include "tests/app/certificates/openssl_reader.hpp"

namespace fairlead::app {
namespace {

constexpr auto later = noon + std::chrono::days{400};

struct certificate_renewal : ::testing::Test {
  authority by_ = an_authority();
  certificate_order order_ = an_order({"n1.example.org", "fd00::1", "spiffe://example.org/node/n1"});
  certificate_and_key made_ = issue_certificate(order_, by_, noon).value();
  named_pem file_{"n1.pem", made_.certificate};
  named_pem key_{"n1-key.pem", made_.key};
};

TEST_F(certificate_renewal, keeps_names_uses_and_key_of_a_certificate_that_has_expired) {
  const auto renewed = renew_certificate(file_, &key_, 30, by_, later);
  ASSERT_TRUE(renewed.ok()) << renewed.failure().sentence;
  EXPECT_TRUE(renewed->key.empty());
  EXPECT_EQ(verified(renewed->certificate, by_.certificate.text, later, X509_PURPOSE_SSL_SERVER), X509_V_OK);
  EXPECT_TRUE(check_key_belongs({"n1.pem", renewed->certificate}, key_).ok());
  const auto before = read_certificates(file_)->front();
  const auto after = read_certificates({"n1.pem", renewed->certificate})->front();
  EXPECT_EQ(after.subject, before.subject);
  EXPECT_EQ(after.names, before.names);
  EXPECT_EQ(after.uses, before.uses);
  EXPECT_NE(after.serial, before.serial);
  EXPECT_EQ(after.not_after, later + std::chrono::days{30});
}

TEST_F(certificate_renewal, keeps_a_single_use) {
  order_.uses = {false, true};
  const named_pem client{"c.pem", issue_certificate(order_, by_, noon)->certificate};
  const auto renewed = renew_certificate(client, nullptr, 30, by_, later);
  EXPECT_EQ(read_certificates({"c.pem", renewed->certificate})->front().uses, std::vector<std::string>{"client"});
}

TEST_F(certificate_renewal, makes_a_new_key_without_the_old_one) {
  const auto renewed = renew_certificate(file_, nullptr, 30, by_, later);
  ASSERT_TRUE(renewed.ok());
  EXPECT_NE(renewed->key, made_.key);
  EXPECT_TRUE(check_key_belongs({"n1.pem", renewed->certificate}, {"n1-key.pem", renewed->key}).ok());
}

TEST_F(certificate_renewal, may_be_by_another_authority) {
  const auto next = an_authority();
  const auto renewed = renew_certificate(file_, &key_, 30, next, later);
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(verified(renewed->certificate, next.certificate.text, later, X509_PURPOSE_SSL_SERVER), X509_V_OK);
}

TEST_F(certificate_renewal, is_refused_with_a_key_that_does_not_belong_and_of_an_authority) {
  const named_pem other{"n2-key.pem", issue_certificate(order_, by_, noon)->key};
  const auto mixed = renew_certificate(file_, &other, 30, by_, noon);
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  const auto of_authority = renew_certificate(by_.certificate, &by_.key, 30, by_, noon);
  ASSERT_FALSE(of_authority.ok());
  EXPECT_EQ(of_authority.failure().sentence, "The certificate in the file ca.pem is that of an authority, which cannot be renewed");
}

TEST_F(certificate_renewal, is_refused_beyond_the_end_of_the_authority) {
  const auto renewed = renew_certificate(file_, &key_, default_authority_days, by_, later);
  ASSERT_FALSE(renewed.ok());
  EXPECT_EQ(renewed.failure().remedy, "Use --days 3250 or fewer, or make another authority");
}

}  // namespace
}  // namespace fairlead::app
