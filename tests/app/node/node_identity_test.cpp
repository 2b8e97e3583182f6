#include "app/node/identity.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace fairlead::app {
namespace {

struct node_identity_of_a_folder : ::testing::Test {
  node_identity_of_a_folder() {
    std::string name = ::testing::TempDir() + "identity-XXXXXX";
    top = mkdtemp(name.data());
    folder = top + "/data";
  }
  ~node_identity_of_a_folder() override { std::filesystem::remove_all(top); }

  std::unique_ptr<node_identity> open() const {
    auto out = node_identity::open(folder, from_unix_ms(0));
    EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.failure().sentence);
    return out.ok() ? std::move(*out) : nullptr;
  }
  error refusal() const {
    const auto out = node_identity::open(folder, from_unix_ms(0));
    EXPECT_FALSE(out.ok());
    return out.ok() ? error{} : out.failure();
  }
  std::string file() const {
    std::ostringstream out;
    out << std::ifstream{folder + "/node"}.rdbuf();
    return out.str();
  }
  void write(const std::string& text) const { std::ofstream{folder + "/node", std::ios::trunc} << text; }

  std::string top;
  std::string folder;
};

TEST_F(node_identity_of_a_folder, is_made_once_and_counts_on_over_processes) {
  std::string id;
  {
    const auto first = open();
    id = first->node_id();
    EXPECT_EQ(id.size(), 36U);
    EXPECT_EQ(*first->next_incarnation(), 1U);
    EXPECT_EQ(*first->next_incarnation(), 2U);
  }
  const auto second = open();
  EXPECT_EQ(second->node_id(), id);
  EXPECT_EQ(*second->next_incarnation(), 3U);
}

TEST_F(node_identity_of_a_folder, begins_above_all_that_a_lost_one_of_the_same_node_has_given_out) {
  const auto made = node_identity::open(folder, from_unix_ms(1'700'000'000'999));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*(*made)->next_incarnation(), 1'700'000'001U);
}

TEST_F(node_identity_of_a_folder, differs_from_that_of_another) {
  const auto one = open();
  const auto other = node_identity::open(top + "/other", from_unix_ms(0));
  ASSERT_TRUE(other.ok());
  EXPECT_NE(one->node_id(), (*other)->node_id());
}

TEST_F(node_identity_of_a_folder, a_number_stands_on_the_disk_before_it_is_given_out) {
  const auto node = open();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(*node->next_incarnation(), static_cast<std::uint64_t>(i));
    EXPECT_NE(file().find("incarnation " + std::to_string(i) + "\n"), std::string::npos);
  }
}

TEST_F(node_identity_of_a_folder, goes_on_above_what_a_store_has_counted_and_never_back) {
  const auto node = open();
  ASSERT_TRUE(node->at_least(41).ok());
  EXPECT_EQ(*node->next_incarnation(), 42U);
  ASSERT_TRUE(node->at_least(7).ok());
  EXPECT_EQ(*node->next_incarnation(), 43U);
}

TEST_F(node_identity_of_a_folder, gives_no_number_twice_to_many_threads) {
  const auto node = open();
  std::mutex guard;
  std::set<std::uint64_t> given;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        const auto next = node->next_incarnation();
        const std::lock_guard lock{guard};
        EXPECT_TRUE(next.ok());
        EXPECT_TRUE(given.insert(*next).second);
      }
    });
  for (auto& one : threads) one.join();
  EXPECT_EQ(given.size(), 80U);
}

TEST_F(node_identity_of_a_folder, keeps_a_second_process_out_and_names_the_first) {
  const auto first = open();
  const auto why = refusal();
  EXPECT_EQ(why.code, v1::ERROR_CODE_STORE_IN_USE);
  EXPECT_EQ(why.sentence, "the node's data folder " + folder + " is in use by this process");
  EXPECT_FALSE(why.remedy.empty());
}

TEST_F(node_identity_of_a_folder, is_free_again_once_its_process_has_ended) {
  open();
  const auto again = open();
  EXPECT_EQ(*again->next_incarnation(), 1U);
}

TEST_F(node_identity_of_a_folder, every_damaged_byte_is_noticed_and_the_file_named) {
  {
    const auto node = open();
    ASSERT_TRUE(node->at_least(12).ok());
  }
  const auto sound = file();
  for (std::size_t i = 0; i < sound.size(); ++i) {
    auto damaged = sound;
    damaged[i] = damaged[i] == '7' ? '8' : '7';
    write(damaged);
    const auto why = refusal();
    // A changed number of the format looks like a later one.
    EXPECT_TRUE(why.code == v1::ERROR_CODE_CORRUPT || why.code == v1::ERROR_CODE_STORE_NEWER) << i;
    EXPECT_NE(why.sentence.find(folder + "/node"), std::string::npos);
    write(sound.substr(0, i));
    EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT) << i;
  }
  write(sound + "more\n");
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT);
  write(sound + std::string(1'000'000, 'x'));
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_CORRUPT);
  EXPECT_NE(refusal().remedy.find("Run fairlead node forget NAME"), std::string::npos);
  write(sound);
  EXPECT_EQ(*open()->next_incarnation(), 13U);
}

TEST_F(node_identity_of_a_folder, a_half_written_new_file_does_no_harm) {
  std::string id;
  {
    const auto node = open();
    id = node->node_id();
    EXPECT_EQ(*node->next_incarnation(), 1U);
  }
  std::ofstream{folder + "/node.new"} << "fairlead-no";
  const auto node = open();
  EXPECT_EQ(node->node_id(), id);
  EXPECT_EQ(*node->next_incarnation(), 2U);
}

TEST_F(node_identity_of_a_folder, a_later_format_is_refused_as_such) {
  open();
  auto text = file();
  text.replace(text.find("fairlead-node 1"), 15, "fairlead-node 2");
  write(text);
  EXPECT_EQ(refusal().code, v1::ERROR_CODE_STORE_NEWER);
}

TEST_F(node_identity_of_a_folder, a_number_that_cannot_be_kept_is_not_given_out) {
  const auto node = open();
  ASSERT_EQ(*node->next_incarnation(), 1U);
  // A folder in the place of the file to come: root is not kept out by rights.
  std::filesystem::create_directory(folder + "/node.new");
  const auto next = node->next_incarnation();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.failure().code, v1::ERROR_CODE_DISK);
  std::filesystem::remove(folder + "/node.new");
  EXPECT_EQ(*node->next_incarnation(), 2U);
}

TEST_F(node_identity_of_a_folder, needs_a_folder_whose_parent_is_there) {
  const auto out = node_identity::open(top + "/no/such/folder", from_unix_ms(0));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.failure().code, v1::ERROR_CODE_NOT_FOUND);
}

}  // namespace
}  // namespace fairlead::app
