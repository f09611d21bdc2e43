// Runs a target on its seeds, on their beginnings, and on its corpus, without libFuzzer.
#include <gtest/gtest.h>

#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

#define WICPROF_TEST_OF(target, name) TEST(target, name)  // so that the macro WICPROF_FUZZ_TARGET becomes its value

WICPROF_TEST_OF(WICPROF_FUZZ_TARGET, TakesItsSeeds) {
  const std::vector<std::string> all = seeds();
  EXPECT_FALSE(all.empty());
  run({});
  for (const std::string& seed : all) {
    run(seed);
    for (std::size_t part = 1; part < 4; ++part) run(std::string_view(seed).substr(0, seed.size() * part / 4));
  }
}

WICPROF_TEST_OF(WICPROF_FUZZ_TARGET, TakesItsCorpus) {
  const auto corpus = read_corpus(WICPROF_FUZZ_CORPUS);
  ASSERT_TRUE(corpus) << WICPROF_FUZZ_CORPUS << " is missing, or has a line that is not hexadecimal";
  EXPECT_FALSE(corpus->empty());
  for (const std::string& input : *corpus) run(input);
}

}  // namespace
}  // namespace wicprof::fuzz
