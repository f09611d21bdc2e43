#include "collector/program/modules.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

namespace wicprof::collector {
namespace {

std::vector<char> some_module(std::size_t bytes, int seed) {
  std::vector<char> module(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    module[i] = static_cast<char>((i * 31 + static_cast<std::size_t>(seed)) % 251);
  return module;
}

class ModulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "wicprof-modules-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(ModulesTest, DifferentModulesHaveDifferentNumbers) {
  const auto small = some_module(3'000, 1), other = some_module(3'000, 2);
  EXPECT_EQ(module_number(small.data(), small.size()), module_number(small.data(), small.size()));
  EXPECT_NE(module_number(small.data(), small.size()), module_number(other.data(), other.size()));
  EXPECT_NE(module_number(small.data(), small.size()), module_number(small.data(), small.size() - 1));
  // Of a large module only parts are hashed, including both ends.
  auto large = some_module(3'000'000, 3);
  const auto number = module_number(large.data(), large.size());
  large.back() ^= 1;
  EXPECT_NE(module_number(large.data(), large.size()), number);
}

TEST_F(ModulesTest, SavesOnlySampledModules) {
  const auto sampled = some_module(200'000, 1), not_sampled = some_module(5'000, 2);
  Modules modules(folder_);
  const auto number = modules.add(sampled.data(), sampled.size());
  modules.add(not_sampled.data(), not_sampled.size());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(*modules.copy(number), sampled);
  EXPECT_EQ(*modules.copy(number), sampled);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  modules.save_copies();
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  const std::filesystem::path saved = *std::filesystem::directory_iterator(folder_);
  char name[32];
  std::snprintf(name, sizeof name, "%016llx.cubin", static_cast<unsigned long long>(number));
  EXPECT_EQ(saved.filename(), name);
  std::ifstream file(saved, std::ios::binary);
  EXPECT_EQ(std::vector<char>(std::istreambuf_iterator<char>(file), {}), sampled);
}

TEST_F(ModulesTest, DoesNotCopyUnloadedOrChangedModules) {
  auto module = some_module(10'000, 1);
  Modules modules(folder_);
  const auto number = modules.add(module.data(), module.size());
  module[17] ^= 1;
  EXPECT_TRUE(modules.copy(number)->empty());
  module[17] ^= 1;
  EXPECT_EQ(modules.add(module.data(), module.size()), number);  // loaded again
  EXPECT_EQ(*modules.copy(number), module);
  const auto gone = some_module(10'000, 2);
  const auto other = modules.add(gone.data(), gone.size());
  modules.forget(gone.data());
  EXPECT_TRUE(modules.copy(other)->empty());
  EXPECT_TRUE(modules.copy(12345)->empty());
  EXPECT_EQ(modules.add(nullptr, 7), 0u);
}

TEST_F(ModulesTest, SurvivesMemoryThatTheDriverHasFreed) {
  constexpr std::size_t kBytes = 64 << 10;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Modules modules(folder_);
  const auto number = modules.add(memory, kBytes);
  munmap(memory, kBytes);
  EXPECT_TRUE(modules.copy(number)->empty());
}

TEST_F(ModulesTest, CopiesWithoutAFolderToSaveTo) {
  const auto module = some_module(10'000, 1);
  Modules modules(folder_ + "/missing");
  EXPECT_EQ(*modules.copy(modules.add(module.data(), module.size())), module);
  modules.save_copies();
}

TEST_F(ModulesTest, ForgetsAnUnloadedModuleOnceItIsSaved) {
  const auto module = some_module(10'000, 1), elsewhere = module;
  Modules modules(folder_);
  const auto number = modules.add(module.data(), module.size());
  EXPECT_EQ(modules.add(elsewhere.data(), elsewhere.size()), number);
  modules.forget(elsewhere.data());
  EXPECT_TRUE(modules.unloaded().empty());  // still loaded once
  EXPECT_EQ(*modules.copy(number), module);
  modules.forget(module.data());
  EXPECT_EQ(modules.unloaded(), std::vector<std::uint64_t>{number});
  modules.drop(modules.unloaded());
  EXPECT_EQ(*modules.copy(number), module);  // not saved yet
  modules.save_copies();
  modules.drop(modules.unloaded());
  EXPECT_TRUE(modules.unloaded().empty());
  EXPECT_TRUE(modules.copy(number)->empty());
}

}  // namespace
}  // namespace wicprof::collector
