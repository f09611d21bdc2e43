// Whether the driver takes patched code, asked with a module of ours.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/rewrite/door.h"
#include "collector/rewrite/image_bytes.h"
#include "collector/rewrite/own_modules.h"
#include "rewriter/images/device_code.h"
#include "rewriter/images/fat_binary.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

// Kept until the end: the thread of a door may outlive a test.
Door& new_door() {
  static std::vector<std::unique_ptr<Door>> doors;
  fake->door = doors.emplace_back(std::make_unique<Door>()).get();
  return *fake->door;
}

TEST_F(RewriteTest, TheDoorIsOpenWhereTheDriverTakesOurImage) {
  EXPECT_EQ(new_door().problem(api), "");
  EXPECT_EQ(driver.loads, 1);
  EXPECT_EQ(driver.unloads, 1);
  EXPECT_EQ(fake->door->problem(api), "");
  EXPECT_EQ(driver.loads, 1);  // asked once
}

TEST_F(RewriteTest, TheDoorAsksWithPtxWhereOurMachineCodeIsTooNew) {
  driver.takes_fat_binaries = false;
  EXPECT_EQ(new_door().problem(api), "");
  ASSERT_EQ(driver.images.size(), 1u);
  EXPECT_EQ(driver.images[0], answer_module().ptx);
}

TEST_F(RewriteTest, OurModulesAreTheSameKernelsInBothForms) {
  for (const auto& [module, kernel] :
       {std::pair{asked_module(), "__wic_asked"}, {answer_module(), "__wic_answer"}, {clock_module(), "__wic_clock"}}) {
    EXPECT_NE(std::string(module.ptx).find(std::string(".visible .entry ") + kernel + "("), std::string::npos);
    if (module.machine_code == nullptr) continue;  // built without a CUDA compiler
    const Result<rewriter::DeviceCode> code = rewriter::read_device_code(image_at(module.machine_code));
    ASSERT_TRUE(code);
    std::set<int> architectures;
    for (const rewriter::FatEntry& each : code->entries) {
      EXPECT_EQ(each.kind, rewriter::ImageKind::cubin);
      EXPECT_EQ(rewriter::contents_of_cubin(each)->kernels, std::vector<std::string>{kernel});
      architectures.insert(static_cast<int>(each.architecture));
    }
    EXPECT_TRUE(architectures.contains(90));
    EXPECT_EQ(architectures.size(), code->entries.size());
  }
}

TEST_F(RewriteTest, TheDoorIsClosedWhereAnythingFails) {
  driver.takes_replaced_images = false;
  EXPECT_NE(new_door().problem(api).find("does not take"), std::string::npos);
  driver.makes_callbacks = false;
  EXPECT_NE(new_door().problem(api).find("no callback"), std::string::npos);
  driver.failing = {"load"};
  EXPECT_NE(new_door().problem(api).find("refused"), std::string::npos);
  RewriteDriver old = api;
  old.library_load = nullptr;
  EXPECT_NE(new_door().problem(old).find("older"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::collector
