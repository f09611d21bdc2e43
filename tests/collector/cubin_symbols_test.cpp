// Names of functions in a module, also a damaged one.
#include "collector/program/cubin_symbols.h"

#include <gtest/gtest.h>

#include "tests/collector/made_cubin.h"

namespace wicprof::collector {
namespace {

TEST(CubinSymbols, NamesFunctionsOnly) {
  const std::vector<char> cubin = made_cubin({"kernel", "_Z4waitPi"});
  EXPECT_EQ(function_symbol(cubin, 1), "kernel");
  EXPECT_EQ(function_symbol(cubin, 2), "_Z4waitPi");
  EXPECT_EQ(function_symbol(cubin, 0), "");
  EXPECT_EQ(function_symbol(cubin, 3), "");  // data
  EXPECT_EQ(function_symbol(cubin, 4), "");
  EXPECT_EQ(function_symbol(cubin, 0xffffffff), "");
}

// Under AddressSanitizer, an access beyond the bytes fails the test.
TEST(CubinSymbols, DamagedModulesHaveNoNamesOrOldOnes) {
  const std::vector<char> whole = made_cubin({"kernel"});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const std::string name = function_symbol(cut, 1);
    EXPECT_TRUE(name.empty() || name == "kernel") << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::vector<char> changed = whole;
      changed[at] = static_cast<char>(value);
      EXPECT_LE(function_symbol(changed, 1).size(), changed.size());
    }
  }
  EXPECT_EQ(function_symbol({}, 1), "");
}

}  // namespace
}  // namespace wicprof::collector
