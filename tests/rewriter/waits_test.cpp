// Kernels written before anybody looked at how the recognition decides: at least 95 % of the waits are found, and no
// other loop would be patched. bench_waiting_loops prints the misses of the half for improving.
#include <gtest/gtest.h>

#include <map>

#include "rewriter/patch/patch.h"
#include "waits_cases.h"

namespace wicprof::rewriter::waits_cases {
namespace {

TEST(RewriterWaits, AreFoundAndOthersStay) {
  const std::vector<Unit> units = read_units(WICPROF_WAITS_DATA);
  ASSERT_FALSE(units.empty());
  std::map<std::pair<bool, std::string>, Tally> groups;
  for (const Unit& unit : units) {
    const std::vector<Answer> answers = answers_of(unit);
    EXPECT_FALSE(answers.empty()) << unit.family << " is not understood";
    for (const Answer& answer : answers) groups[{unit.judged, unit.build + "." + unit.architecture}].add(answer);
  }
  EXPECT_EQ(groups.size(), 12);
  for (const auto& [key, tally] : groups) {
    const std::string group = (key.first ? "judged " : "improve ") + key.second;
    EXPECT_GE(tally.waits, 40) << group;
    EXPECT_GE(tally.others, 40) << group;
    EXPECT_GE(tally.found * 100, tally.waits * 95) << group;
    EXPECT_EQ(tally.wrongly_patched, 0) << group;
  }
}

TEST(RewriterWaits, ThePatchCanBeTakenOut) {
  for (const Unit& unit : read_units(WICPROF_WAITS_DATA)) {
    const Result<Module> module = read_module(unit.ptx);
    ASSERT_TRUE(module) << unit.family << ": " << module.error().message;
    const Result<Patch> patched = patch(*module, recognize(*module));
    ASSERT_TRUE(patched) << unit.family << ": " << patched.error().message;
    EXPECT_TRUE(strip(patched->text) == unit.ptx) << unit.family;
  }
}

}  // namespace
}  // namespace wicprof::rewriter::waits_cases
