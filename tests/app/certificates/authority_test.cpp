#include <gtest/gtest.h>

#include "app/certificates/certificates.hpp"
#include "tests/app/certificates/openssl_reader.hpp"

namespace fairlead::app {
namespace {

TEST(certificate_authority, signs_certificates_and_nothing_else) {
  const auto made = an_authority();
  const auto read = read_certificates(made.certificate);
  ASSERT_TRUE(read.ok()) << read.failure().sentence;
  ASSERT_EQ(read->size(), 1U);
  const auto& it = read->front();
  EXPECT_EQ(it.subject, "CN=Fairlead test");
  EXPECT_EQ(it.issuer, it.subject);
  EXPECT_TRUE(it.is_authority);
  EXPECT_EQ(it.key_uses, (std::vector<std::string>{"certificate_sign", "crl_sign"}));
  EXPECT_TRUE(it.uses.empty());
  EXPECT_EQ(it.not_before, noon - std::chrono::minutes{5});
  EXPECT_EQ(it.not_after, noon + std::chrono::days{3650});
}

TEST(certificate_authority, is_what_openssl_takes_for_one) {
  const auto made = an_authority();
  const auto it = x509_in(made.certificate.text).front();
  EXPECT_EQ(X509_get_version(it.get()), X509_VERSION_3);
  EXPECT_EQ(X509_check_ca(it.get()), 1);
  EXPECT_EQ(X509_get_pathlen(it.get()), 0);
  for (const auto id : {NID_basic_constraints, NID_key_usage}) {
    auto* const extension = X509_get_ext(it.get(), X509_get_ext_by_NID(it.get(), id, -1));
    EXPECT_EQ(X509_EXTENSION_get_critical(extension), 1);
  }
  EXPECT_NE(X509_get0_subject_key_id(it.get()), nullptr);
  EXPECT_EQ(X509_get_signature_nid(it.get()), NID_ecdsa_with_SHA256);
  EXPECT_EQ(verified(made.certificate.text, made.certificate.text, noon, X509_PURPOSE_ANY), X509_V_OK);
}

TEST(certificate_authority, has_an_unencrypted_p256_key_in_pkcs8_that_belongs_to_it) {
  const auto made = an_authority();
  EXPECT_TRUE(made.key.text.starts_with("-----BEGIN PRIVATE KEY-----\n"));
  EXPECT_TRUE(check_key_belongs(made.certificate, made.key).ok());
  char group[32] = {};
  const auto it = x509_in(made.certificate.text).front();
  ASSERT_EQ(EVP_PKEY_get_group_name(X509_get0_pubkey(it.get()), group, sizeof group, nullptr), 1);
  EXPECT_STREQ(group, "prime256v1");
}

TEST(certificate_authority, can_have_any_printable_name_of_64_bytes) {
  EXPECT_TRUE(make_authority("B\xc3\xbcro, a=b, \"c\"", 1, noon).ok());
  EXPECT_TRUE(make_authority(std::string(64, 'a'), 1, noon).ok());
  for (const auto& name : {std::string{}, std::string{"  "}, std::string(65, 'a'), std::string{"a\nb"}}) {
    const auto made = make_authority(name, 1, noon);
    ASSERT_FALSE(made.ok()) << name;
    EXPECT_EQ(made.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_FALSE(made.failure().remedy.empty());
  }
}

TEST(certificate_authority, is_valid_for_1_to_36500_days) {
  for (const std::int64_t days : {1, 36'500}) {
    const auto made = make_authority("a", days, noon);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(read_certificates({"ca.pem", made->certificate})->front().not_after, noon + std::chrono::days{days});
  }
  for (const std::int64_t days : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{36'501}, std::int64_t{1} << 62}) {
    const auto made = make_authority("a", days, noon);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_EQ(made.failure().remedy, "Give --days a number from 1 to 36500");
  }
}

}  // namespace
}  // namespace fairlead::app
