// The programs c_cg and c_fe at extreme sizes and shapes; apps_test covers the properties common to all applications.
#include <gtest/gtest.h>

#include "program.h"

namespace sample_test {
namespace {

// `--wait park`, because polling threads compete with each other on few cores.
void expect_correct(const char* program, const std::string& arguments) {
  const Outcome result = run(program, "--wait park --timeout 60 " + arguments);
  EXPECT_TRUE(result.ok()) << program << " " << arguments << "\n" << result.output;
}

TEST(CCgTest, IsCorrectAtExtremeSizes) {
  expect_correct(C_CG, "--size 2 --iterations 2");
  expect_correct(C_CG, "--size 3 --iterations 2 --devices simt:2 --cpu-percent 99");
  expect_correct(C_CG, "--size 13 --iterations 1 --cpu-percent 1 --threads 3 --seed 77");
  expect_correct(C_CG, "--size 9 --iterations 1 --blocks 1 --block-size 96");
}

TEST(CFeTest, IsCorrectAtExtremeSizes) {
  expect_correct(C_FE, "--size 2 --iterations 2");  // one node, shared by all ranks
  expect_correct(C_FE, "--size 3 --iterations 2 --devices simt:2 --cpu-percent 99");
  expect_correct(C_FE, "--size 13 --iterations 1 --cpu-percent 1 --threads 3 --seed 77");
  expect_correct(C_FE, "--size 9 --iterations 1 --blocks 1 --block-size 96");
}

TEST(KrylovProgramsTest, PrintTheirSharesAndMessages) {
  const Outcome result = run(C_CG, "--wait park --timeout 60 --size 2 --iterations 1");
  // One message per iteration in each direction: a head of four numbers and the four values of the other rank's rows.
  EXPECT_NE(result.output.find("2^3 rows, 4 of them the CPU's, 2 ranks, 6 iterations per solve"), std::string::npos)
      << result.output;
  EXPECT_NE(result.output.find("12 messages (0.8 KiB) per step"), std::string::npos) << result.output;
}

TEST(KrylovProgramsTest, RefuseInvalidSizes) {
  EXPECT_EQ(run(C_CG, "--size 1").status, 2);
  EXPECT_EQ(run(C_CG, "--size 301").status, 2);
  EXPECT_EQ(run(C_CG, "--block-size 1024").status, 2);
  EXPECT_EQ(run(C_CG, "--devices simt:6").status, 2);
  EXPECT_EQ(run(C_FE, "--size 1").status, 2);
  EXPECT_EQ(run(C_FE, "--devices simt:6").status, 2);
}

}  // namespace
}  // namespace sample_test
