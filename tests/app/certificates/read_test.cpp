#include <gtest/gtest.h>

#include "app/certificates/certificates.hpp"
#include "tests/app/certificates/openssl_reader.hpp"

namespace fairlead::app {
namespace {

std::string refusal_of(const std::string& text) {
  const auto read = read_certificates({"x.pem", text});
  if (read.ok()) return "";
  EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  EXPECT_FALSE(read.failure().remedy.empty());
  return read.failure().sentence;
}

TEST(certificate_reading, refuses_what_has_no_certificate) {
  EXPECT_EQ(refusal_of(""), "The file x.pem has no certificate in PEM form");
  EXPECT_EQ(refusal_of("hello\n"), "The file x.pem has no certificate in PEM form");
  EXPECT_EQ(refusal_of(std::string(1000, '\0')), "The file x.pem has no certificate in PEM form");
  EXPECT_EQ(refusal_of(an_authority().key.text), "The file x.pem has a private key and no certificate");
}

TEST(certificate_reading, refuses_a_damaged_certificate_wherever_it_is_cut_or_changed) {
  const auto whole = an_authority().certificate.text;
  const auto body = whole.find('\n') + 1;
  for (auto size = body; size + 2 < whole.size(); size += 7)
    EXPECT_EQ(refusal_of(whole.substr(0, size)), "Certificate 1 in the file x.pem is damaged") << size;
  EXPECT_EQ(refusal_of(whole + whole.substr(0, body + 100)), "Certificate 2 in the file x.pem is damaged");
  auto changed = whole;
  changed[body] = '?';
  EXPECT_EQ(refusal_of(changed), "Certificate 1 in the file x.pem is damaged");
}

TEST(certificate_reading, goes_past_keys_and_text_between_certificates) {
  const auto by = an_authority();
  const auto read = read_certificates({"x.pem", "a remark\n" + by.key.text + by.certificate.text + "another\n" + by.certificate.text});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->size(), 2U);
}

TEST(key_reading, refuses_what_has_no_key_and_a_damaged_one) {
  const auto by = an_authority();
  const auto none = check_key_belongs(by.certificate, {"x.pem", by.certificate.text});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.failure().sentence, "The file x.pem has no private key in PEM form");
  auto changed = by.key.text;
  changed[changed.find('\n') + 1] = '?';
  const auto damaged = check_key_belongs(by.certificate, {"x.pem", changed});
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.failure().sentence, "The private key in the file x.pem is damaged");
}

}  // namespace
}  // namespace fairlead::app
