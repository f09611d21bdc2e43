// PTX text as tokens and statements.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "code/toolkit_files.h"
#include "ptx_texts.h"
#include "rewriter/text/module.h"

namespace wicprof::rewriter {
namespace {

TEST(RewriterText, ReadsHeaderFunctionsAndStatements) {
  const std::string text = kernel("$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->target, "sm_90");
  EXPECT_EQ(module->target_architecture, 90);
  EXPECT_EQ(module->version_major, 8);
  ASSERT_EQ(module->functions.size(), 2u);
  EXPECT_FALSE(module->functions[0].has_body);
  const Function& function = module->functions[1];
  EXPECT_TRUE(function.is_entry);
  EXPECT_EQ(function.name, "k");
  ASSERT_EQ(function.parameters.size(), 2u);
  EXPECT_EQ(function.parameters[1].name, "k_param_1");
  const Statement& branch = function.statements[function.statements.size() - 2];
  EXPECT_EQ(branch.opcode(), "bra");
  EXPECT_EQ(branch.guard, "%p1");
  EXPECT_EQ(branch.range.of(text), "@%p1 bra $L;");
}

TEST(RewriterText, ReadsSourcePlacesWithInlining) {
  const std::string text = kernel(
      ".loc 1 12 3\nadd.s32 %r2, %r1, 1;\n"
      ".loc 1 20 3, function_name $info0, inlined_at 1 15 7\nadd.s32 %r3, %r1, 1;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module) << module.error().message;
  std::vector<int> lines;
  for (const Statement& statement : module->functions[1].statements) {
    if (statement.opcode() == "add.s32") lines.push_back(module->functions[1].place_at(statement.place).line);
  }
  EXPECT_EQ(lines, (std::vector<int>{12, 20}));
}

TEST(RewriterText, ThePlaceOfInlinedCodeIsTheProgramsOwnLine) {
  // As nvcc -lineinfo writes two calls of a function that loads through a wrapper: the callers first.
  const std::string text = kernel(
      ".loc 1 7 3\n.loc 1 4 3, function_name $i0, inlined_at 1 7 3\n.loc 5 287 1, function_name $i1, inlined_at 1 4 3\n"
      "add.s32 %r2, %r1, 1;\n"
      ".loc 1 8 3\n.loc 1 4 3, function_name $i0, inlined_at 1 8 3\n.loc 5 287 1, function_name $i1, inlined_at 1 4 3\n"
      "add.s32 %r3, %r1, 1;\n"
      ".loc 5 300 1, function_name $i1, inlined_at 6 40 1\nadd.s32 %r4, %r1, 1;\n"
      ".loc 5 300 1, function_name $i1, inlined_at 5 300 1\nadd.s32 %r4, %r1, 1;\n"
      ".loc 1 0 0, function_name $i1, inlined_at 1 9 1\nadd.s32 %r4, %r1, 1;\n"
      ".loc 1 0 0\nadd.s32 %r4, %r1, 1;\n");
  const std::string files =
      ".file 1 \"/src/app.cu\"\n.file 5 \"/usr/local/cuda-13.0/include/cccl/cuda/std/__atomic/api/reference.h\"\n";
  const Result<Module> module = read_module(text + files);  // nvcc writes them last
  ASSERT_TRUE(module) << module.error().message;
  const Function& function = module->functions[1];
  std::vector<std::pair<int, int>> places;
  std::vector<int> called_at;
  for (const Statement& statement : function.statements) {
    if (statement.opcode() != "add.s32") continue;
    const SourcePlace place = function.place_at(statement.place);
    places.emplace_back(place.file, place.line);
    int outermost = statement.place;
    while (function.caller_of(outermost) >= 0) outermost = function.caller_of(outermost);
    called_at.push_back(function.place_at(outermost).line);
  }
  using Places = std::vector<std::pair<int, int>>;
  EXPECT_EQ(places, (Places{{1, 4}, {1, 4}, {6, 40}, {5, 300}, {1, 9}, {1, 9}}));
  EXPECT_EQ(called_at, (std::vector<int>{7, 8, 40, 300, 9, 9}));
}

TEST(RewriterText, KnowsTheToolkitsFiles) {
  for (const char* path :
       {"/usr/local/cuda/bin/../targets/x86_64-linux/include/cooperative_groups/details/sync.h",
        "/usr/local/cuda-13.0/include/cccl/cuda/std/__atomic/functions/cuda_ptx_generated.h",
        "/home/me/venv/lib/python3/site-packages/nvidia/cuda_runtime/include/sm_30_intrinsics.hpp",
        "/home/me/cccl/libcudacxx/include/cuda/__barrier/barrier.h", "/usr/include/c++/12/atomic", "cuda/std/atomic"}) {
    EXPECT_TRUE(is_toolkit_file(path)) << path;
  }
  for (const char* path : {"/src/app.cu", "/home/me/cuda/app/include/flags.h", "/home/me/targets/wait.cuh", "",
                           "/opt/include/mscclpp/semaphore_device.hpp"}) {
    EXPECT_FALSE(is_toolkit_file(path)) << path;
  }
}

TEST(RewriterText, ModifiersMayHaveDigitsBehindColons) {
  const std::string text = kernel("ld.global.nc.L1::no_allocate.L2::256B.s32 %r2, [%rd1];");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module) << module.error().message;
  const Function& function = module->functions.back();
  const std::string_view opcode = "ld.global.nc.L1::no_allocate.L2::256B.s32";
  EXPECT_TRUE(std::any_of(function.statements.begin(), function.statements.end(),
                          [&](const Statement& statement) { return statement.opcode() == opcode; }));
}

TEST(RewriterText, RefusesWhatItDoesNotKnowWithTheLine) {
  for (const std::string& text :
       {std::string("hello"), std::string(""), kernel("= ;"), kernel("\x01"), kernel("/* no end"), kernel("{"),
        std::string(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(")}) {
    const Result<Module> module = read_module(text);
    ASSERT_FALSE(module) << text;
    EXPECT_FALSE(module.error().message.empty());
  }
  const Result<Module> module = read_module(kernel("= ;"));
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().message.find("line 19"), std::string::npos) << module.error().message;
}

TEST(RewriterText, RefusesEveryPrefixOrReadsIt) {
  const std::string text = kernel("$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string part = text.substr(0, length);
    const Result<Module> module = read_module(part);
    if (!module) continue;
    for (const Function& function : module->functions) EXPECT_LE(function.body.end, length);
  }
}

}  // namespace
}  // namespace wicprof::rewriter
