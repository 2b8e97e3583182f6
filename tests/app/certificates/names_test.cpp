#include "app/certificates/names.hpp"

#include <gtest/gtest.h>

namespace fairlead::app {
namespace {

certificate_name read(const std::string& text) { return read_certificate_name(text).value(); }

TEST(certificate_names, are_dns_names_addresses_and_uris) {
  EXPECT_EQ(read("n1"), (certificate_name{name_kind::dns, "n1"}));
  EXPECT_EQ(read("N1.Example.org"), (certificate_name{name_kind::dns, "n1.example.org"}));
  EXPECT_EQ(read("*.example.org"), (certificate_name{name_kind::dns, "*.example.org"}));
  EXPECT_EQ(read("xn--bcher-kva.example"), (certificate_name{name_kind::dns, "xn--bcher-kva.example"}));
  EXPECT_EQ(read("10.0.0.1"), (certificate_name{name_kind::address, "10.0.0.1"}));
  EXPECT_EQ(read("FD00:0::1"), (certificate_name{name_kind::address, "fd00::1"}));
  EXPECT_EQ(read("spiffe://Example.org/agent/a%20b"), (certificate_name{name_kind::uri, "spiffe://Example.org/agent/a%20b"}));
}

TEST(certificate_names, are_refused_with_a_remedy_when_they_are_none_of_these) {
  const std::string refused[] = {"",
                                 " ",
                                 "n1 n2",
                                 "-n1",
                                 "n1-",
                                 "n1..org",
                                 ".org",
                                 "n1.",
                                 "n_1",
                                 "b\xc3\xbc"
                                 "cher.example",
                                 "*.org",
                                 "a.*.org",
                                 "*",
                                 "10.0.0.256",
                                 "10.0.0",
                                 "n1:7100",
                                 "[::1]",
                                 "fe80::1%eth0",
                                 "spiffe://",
                                 "spiffe:///agent",
                                 "1a://host",
                                 "a b://host",
                                 "https://host/a b",
                                 "https://host/%2",
                                 "https://host/<a>",
                                 std::string(64, 'a') + ".org",
                                 std::string("10.0.0.1\0", 9),
                                 std::string("n1\0.org", 7),
                                 "https://host/" + std::string(2048, 'a')};
  for (const auto& text : refused) {
    const auto read = read_certificate_name(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
    EXPECT_FALSE(read.failure().remedy.empty());
  }
}

TEST(certificate_names, become_file_names_that_are_safe) {
  EXPECT_EQ(file_name_of(read("n1.example.org")), "n1.example.org");
  EXPECT_EQ(file_name_of(read("*.example.org")), "wildcard.example.org");
  EXPECT_EQ(file_name_of(read("10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(file_name_of(read("fd00::1")), "fd00-1");
  EXPECT_EQ(file_name_of(read("::1")), "1");
  EXPECT_EQ(file_name_of(read("::")), "certificate");
  EXPECT_EQ(file_name_of(read("spiffe://example.org/agent/../x")), "spiffe-example.org-agent-..-x");
  EXPECT_EQ(file_name_of(read("https://host/" + std::string(1000, 'a'))).size(), 200U);
}

}  // namespace
}  // namespace fairlead::app
