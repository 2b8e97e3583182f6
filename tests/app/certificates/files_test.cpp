#include "app/certificates/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fairlead::app {
namespace {

namespace fs = std::filesystem;

struct certificate_files : ::testing::Test {
  certificate_files() {
    std::string name = (fs::temp_directory_path() / "certificates.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~certificate_files() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static mode_t rights(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  }
  static std::string text(const std::string& path) { return read_pem_file(path).value().text; }
  std::size_t count() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{})); }
  status write(existing_files existing, const std::string& with = "") const {
    return write_together({{path("n1-key.pem"), "key" + with, true}, {path("n1.pem"), "certificate" + with}}, existing);
  }

  std::string folder_;
};

TEST_F(certificate_files, are_written_and_only_the_key_is_secret) {
  ASSERT_TRUE(write(existing_files::refuse).ok());
  EXPECT_EQ(text(path("n1-key.pem")), "key");
  EXPECT_EQ(text(path("n1.pem")), "certificate");
  EXPECT_EQ(rights(path("n1-key.pem")), 0600U);
  EXPECT_EQ(rights(path("n1.pem")), 0644U);
  EXPECT_EQ(count(), 2U);
}

TEST_F(certificate_files, that_are_there_are_left_alone_unless_they_may_be_replaced) {
  std::ofstream{path("n1.pem")} << "mine";
  const auto refused = write(existing_files::refuse);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_CONFLICT);
  EXPECT_EQ(refused.failure().sentence, "The file " + path("n1.pem") + " is there already");
  EXPECT_EQ(text(path("n1.pem")), "mine");
  EXPECT_EQ(count(), 1U);
  std::ofstream{path("n1-key.pem")} << "for everybody";
  ASSERT_TRUE(write(existing_files::replace).ok());
  EXPECT_EQ(text(path("n1.pem")), "certificate");
  EXPECT_EQ(rights(path("n1-key.pem")), 0600U);
}

TEST_F(certificate_files, keep_their_rights_when_they_are_renewed_but_none_of_a_key_for_everybody) {
  ASSERT_TRUE(write(existing_files::refuse).ok());
  fs::permissions(path("n1-key.pem"), fs::perms{0644});
  fs::permissions(path("n1.pem"), fs::perms{0640});
  ASSERT_TRUE(write(existing_files::renew, " again").ok());
  EXPECT_EQ(text(path("n1-key.pem")), "key again");
  EXPECT_EQ(rights(path("n1-key.pem")), 0640U);
  EXPECT_EQ(rights(path("n1.pem")), 0640U);
}

TEST_F(certificate_files, stay_behind_their_symbolic_link_when_they_are_renewed) {
  fs::create_directory(path("real"));
  std::ofstream{path("real/n1.pem")} << "old";
  fs::create_symlink(path("real/n1.pem"), path("n1.pem"));
  ASSERT_TRUE(write_together({{path("n1.pem"), "new"}}, existing_files::renew).ok());
  EXPECT_TRUE(fs::is_symlink(path("n1.pem")));
  EXPECT_EQ(text(path("real/n1.pem")), "new");
}

TEST_F(certificate_files, need_a_folder_that_is_there_or_can_be_created) {
  EXPECT_TRUE(write_together({{path("made/n1.pem"), "a"}}, existing_files::refuse).ok());
  std::ofstream{path("file")} << "no folder";
  for (const auto* const name : {"no/such/n1.pem", "file/n1.pem"}) {
    const auto refused = write_together({{path(name), "a"}}, existing_files::refuse);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_DISK);
    EXPECT_FALSE(refused.failure().remedy.empty());
  }
}

TEST_F(certificate_files, are_not_written_into_a_folder_without_the_right_to) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  fs::permissions(folder_, fs::perms{0500});
  const auto refused = write(existing_files::refuse);
  fs::permissions(folder_, fs::perms{0700});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.failure().code, v1::ERROR_CODE_DISK);
  EXPECT_EQ(count(), 0U);
}

TEST_F(certificate_files, leave_no_key_when_the_certificate_cannot_be_written) {
  fs::create_directory(path("n1.pem"));
  for (const auto existing : {existing_files::refuse, existing_files::replace, existing_files::renew}) {
    EXPECT_FALSE(write(existing).ok());
    EXPECT_EQ(count(), 1U);
  }
}

TEST_F(certificate_files, of_an_authority_are_named_when_they_are_missing) {
  const auto read = read_authority(folder_);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(read.failure().sentence, "The folder " + folder_ + " has no authority: there is no file " + path("ca.pem"));
  EXPECT_FALSE(read.failure().remedy.empty());
}

TEST_F(certificate_files, are_regular_ones_of_at_most_1_mib) {
  EXPECT_EQ(read_pem_file(path("none")).failure().code, v1::ERROR_CODE_NOT_FOUND);
  EXPECT_EQ(read_pem_file(folder_).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  std::ofstream{path("large")} << std::string((1 << 20) + 1, 'a');
  EXPECT_EQ(read_pem_file(path("large")).failure().code, v1::ERROR_CODE_INVALID_ARGUMENT);
  std::ofstream{path("empty")};
  EXPECT_EQ(text(path("empty")), "");
}

TEST_F(certificate_files, of_keys_are_named_after_their_certificates) {
  EXPECT_EQ(key_path_of("a/n1.example.org.pem"), "a/n1.example.org-key.pem");
  EXPECT_EQ(key_path_of("n1.crt"), "n1.crt-key.pem");
}

}  // namespace
}  // namespace fairlead::app
