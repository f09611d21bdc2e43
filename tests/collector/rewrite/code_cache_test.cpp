// Patched code that is kept and found again, and how often the driver compiles.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "collector/rewrite/code_cache.h"
#include "collector/rewrite/own_modules.h"
#include "collector/rewrite/patched_code.h"
#include "collector/rewrite/ptx_beside.h"
#include "collector/sources/list.h"
#include "protocol/events/notice.h"
#include "rewriter/patch/patch.h"
#include "tests/collector/of_process.h"
#include "tests/collector/rewrite/fake_driver.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

// What the driver compiled of the program's module: the texts that it loaded, in their order, with the program's own.
std::vector<std::string> compilations() {
  std::vector<std::string> texts;
  for (const std::string& image : fake->images) {
    if (image.find("waits") != std::string::npos && image.starts_with(".version")) texts.push_back(image);
  }
  return texts;
}

class RewriteCache : public RewriteTest {
 protected:
  RewriteCache() : folder(std::filesystem::path(testing::TempDir()) / ("rewrite_cache." + std::to_string(getpid()))) {}
  ~RewriteCache() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder;
};

TEST_F(RewriteCache, CodeIsCompiledOnceAndFoundByItsContent) {
  const CodeCache cache(folder);
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const auto made = patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps);
  ASSERT_EQ(made.sites.size(), 1u);
  EXPECT_EQ(compilations().size(), 1u);
  const auto again = patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps);
  EXPECT_EQ(again.sites.at(0).wanted, made.sites.at(0).wanted);
  EXPECT_EQ(again.sites.at(0).knows_word, made.sites.at(0).knows_word);
  ASSERT_EQ(again.stores.size(), made.stores.size());
  for (std::size_t i = 0; i < made.stores.size(); ++i) EXPECT_EQ(again.stores[i].targets, made.stores[i].targets);
  EXPECT_EQ(compilations().size(), 1u);
  EXPECT_EQ(again.text, made.text);
  EXPECT_EQ(again.table, made.table);
  ASSERT_EQ(again.sites.size(), 1u);
  EXPECT_EQ(again.sites[0].function, made.sites[0].function);
  EXPECT_NE(cache_key(api, ptx + " ", target), key);
  EXPECT_NE(cache_key(api, ptx, CodeTarget{0, 80}), key);
  // A driver that compiles no PTX has not taken the patched code: it is tried again, and the original stays.
  ASSERT_EQ(setenv("CUDA_DISABLE_PTX_JIT", "1", 1), 0);
  EXPECT_NE(cache_key(api, ptx, target), key);
  ASSERT_EQ(unsetenv("CUDA_DISABLE_PTX_JIT"), 0);
  EXPECT_EQ(cache_key(api, ptx, target), key);
}

TEST_F(RewriteCache, AnotherBuildOfTheDriverIsAnotherDriver) {
  const std::string build = build_of(reinterpret_cast<const void*>(&build_of));
  EXPECT_NE(build.find(" bytes of "), std::string::npos) << build;
  EXPECT_EQ(build, build_of(reinterpret_cast<const void*>(&compilations)));  // in the same file
  EXPECT_NE(build, build_of(reinterpret_cast<const void*>(&std::free)));
  EXPECT_EQ(build_of(nullptr), "");
}

TEST_F(RewriteCache, AKernelWithFewValuesIsCompiledOnceWithTheLimitThatItNeeds) {
  driver.registers_of_patched = 44;
  driver.obeys_limits = true;
  EXPECT_EQ(replacement.small_kernels, std::set<std::string>{"waits"});
  const auto made = patched_code_of(api, CodeCache(folder), "few", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(made.text.empty()) << made.left_alone;
  EXPECT_EQ(compilations().size(), 1u);
  // One with many is compiled again, when the original's registers are known.
  std::string many = ptx;
  many.insert(many.find("{") + 1, "\n.reg .b32 %many<100>;\n");
  EXPECT_TRUE(rewriter::replacement_of(many, 90).small_kernels.empty());
  const auto again = patched_code_of(api, CodeCache(folder), "many", many.c_str(), many, {0, 90}, steps);
  EXPECT_FALSE(again.text.empty()) << again.left_alone;
  EXPECT_EQ(compilations().size(), 4u);  // with the original
}

TEST_F(RewriteCache, TheOriginalIsNotCompiledWhereItsNeedsDoNotCount) {
  driver.registers_of_patched = 32;
  const auto fits = patched_code_of(api, CodeCache(folder), "fits", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(fits.text.empty()) << fits.left_alone;
  EXPECT_EQ(compilations().size(), 1u);
  // A kernel that takes more than any kernel may is compared: here the original takes as much.
  driver.registers_of_patched = driver.registers = 40;
  const auto compared = patched_code_of(api, CodeCache(folder), "compared", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(compared.text.empty()) << compared.left_alone;
  EXPECT_EQ(compilations().size(), 3u);
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteCache, MachineCodeOfTheProgramIsComparedWithoutACompilation) {
  const std::string image = rewriter::made::container(
      rewriter::made::entry(2, rewriter::made::cubin({" waits("}), rewriter::Compression::none) +
      rewriter::made::entry(1, ptx, rewriter::Compression::none));
  driver.registers_of_patched = 44;  // the original's 18 leave room for 64 warps
  driver.obeys_limits = true;
  const auto made = patched_code_of(api, CodeCache(folder), "code", image.data(), image, {0, 90}, steps);
  EXPECT_FALSE(made.text.empty()) << made.left_alone;
  ASSERT_EQ(compilations().size(), 1u);
  EXPECT_NE(compilations()[0].find(".maxnreg 32\n"), std::string::npos);
}

// Two kernels that wait, in one module.
struct TwoKernels {
  explicit TwoKernels(const std::string& one) : text(one) {
    std::string other = one.substr(one.find(".visible"));
    other.replace(other.find("waits"), 5, "waits_too");
    text += other;
  }
  std::string text;
};

TEST_F(RewriteCache, AKernelThatNeedsMoreIsLeftAloneAndTheOthersArePatched) {
  const std::string two = TwoKernels(ptx).text;
  driver.local_bytes_of["waits_too"] = 200;
  const CodeCache cache(folder);
  const auto made = patched_code_of(api, cache, "two", two.c_str(), two, {0, 90}, steps);
  ASSERT_FALSE(made.text.empty()) << made.left_alone;
  EXPECT_EQ(made.patched_kernels, std::set<std::string>{"waits"});
  ASSERT_EQ(made.sites.size(), 1u);
  EXPECT_EQ(made.sites[0].function, "waits");
  ASSERT_EQ(made.kernels_left_alone.size(), 1u);
  EXPECT_NE(made.kernels_left_alone.at("waits_too").find("local memory from 0 to 200"), std::string::npos);
  EXPECT_EQ(compilations().size(), 3u);  // with the limits that are likely, the original, and without the kernel
  const std::string of_other = made.text.substr(made.text.find(".entry waits_too("));
  EXPECT_EQ(of_other.find("__wic"), std::string::npos) << of_other;
  EXPECT_EQ(of_other.find(".maxnreg"), std::string::npos) << of_other;
  // The cache knows it, too.
  const auto again = patched_code_of(api, cache, "two", two.c_str(), two, {0, 90}, steps);
  EXPECT_EQ(again.kernels_left_alone, made.kernels_left_alone);
  EXPECT_EQ(compilations().size(), 3u);
  // Where all need more, nothing is patched, and nothing is compiled for it.
  driver.local_bytes_of["waits"] = 200;
  const auto none = patched_code_of(api, cache, "none", two.c_str(), two, {0, 90}, steps);
  EXPECT_TRUE(none.text.empty());
  EXPECT_NE(none.left_alone.find("local memory"), std::string::npos);
  EXPECT_EQ(compilations().size(), 5u);
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteCache, OfSeveralLargeKernelsTheOriginalsComeFirst) {
  std::string two = TwoKernels(ptx).text;
  for (std::size_t at = 0; (at = two.find("{\n", at)) != std::string::npos; ++at) {
    two.insert(at + 2, ".reg .b32 %many<100>;\n");
  }
  driver.registers = driver.registers_of_patched = 70;
  for (const char* way : {"split", "whole"}) {
    driver.images.clear();
    driver.loads_with_options = 0;
    if (std::string_view(way) == "whole") driver.failing = {"options"};  // before CUDA 12.4
    const auto made = patched_code_of(api, CodeCache(folder), way, two.c_str(), two, {0, 90}, steps);
    EXPECT_FALSE(made.text.empty()) << made.left_alone;
    EXPECT_EQ(compilations(), (std::vector<std::string>{two, made.text})) << way;
    EXPECT_NE(made.text.find(".maxnreg 72\n"), std::string::npos) << way;
    EXPECT_EQ(driver.loads_with_options, driver.failing.empty() ? 1 : 0) << way;
  }
}

TEST_F(RewriteCache, ImagesWithoutPtxAreNeitherHashedNorKept) {
  using namespace rewriter::made;
  const std::string image = container(entry(2, cubin({"waits"}), rewriter::Compression::none));
  EXPECT_EQ(cache_key(api, image, {0, 90}), "");
  EXPECT_NE(cache_key(api, container(entry(1, ptx, rewriter::Compression::none)), {0, 90}), "");
  EXPECT_NE(cache_key(api, cubin({"waits"}), {0, 90}), "");  // its PTX may be beside it
  const CodeCache cache(folder);
  cache.store("", {});
  EXPECT_FALSE(cache.find(""));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(RewriteCache, ManyWritersLeaveOneWholeEntry) {
  // Processes and threads that compile the same module at the same time, whose code may differ.
  const CodeCache cache(folder);
  const auto work = [&](char letter) {
    rewriter::Replacement made = replacement;
    made.text = std::string(100'000, letter);
    bool whole = true;
    for (int i = 0; i < 20; ++i) {
      cache.store("key", made);
      const auto found = cache.find("key");
      whole &= !found || found->text.find_first_not_of(found->text[0]) == std::string::npos;
    }
    return whole;
  };
  std::vector<pid_t> children;
  for (const char letter : {'a', 'b', 'c'}) {
    children.push_back(fork());
    if (children.back() == 0) _exit(work(letter) ? 0 : 1);
  }
  std::thread thread([&] { EXPECT_TRUE(work('d')); });
  EXPECT_TRUE(work('e'));
  thread.join();
  for (const pid_t child : children) {
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  cache.store("key", replacement);
  ASSERT_TRUE(cache.find("key"));
  EXPECT_EQ(cache.find("key")->text, replacement.text);
  int files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) files += each.exists() ? 1 : 0;
  EXPECT_EQ(files, 2);  // no half files are left
}

// Of a process that loads what an earlier one has tried.
TEST_F(RewriteCache, ALoadFromTheCacheIsTheOnlyOneOfTheModule) {
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  ControlBlock control{};
  driver.sink = &sink_;
  driver.patched_takes = std::chrono::milliseconds(120);
  std::string reasons;
  const auto load = [&] {
    const std::unique_ptr<Source> source = make_rewrite(of_process().own_calls, &control, nullptr, &api);
    driver.source = source.get();
    driver.images.clear();
    CUlibrary library = nullptr;
    EXPECT_EQ(load_under_cupti(&library, ptx.c_str()), CUDA_SUCCESS);
    source->finish(sink_);
    driver.source = nullptr;
    reasons.clear();
    const Delivered delivered = ring_.read();
    for (const NoticeEvent& notice : delivered.all<NoticeEvent>()) reasons += delivered.text(notice.text) + "\n";
    return driver.libraries[library];
  };
  const std::string first = load();
  EXPECT_TRUE(std::regex_search(
      reasons, std::regex("rewrite: compiling patched code took [0-9.]+ s; the next run finds it in the cache")))
      << reasons;
  EXPECT_NE(first.find("__wic_state"), std::string::npos);
  EXPECT_EQ(compilations(), (std::vector<std::string>{first, first}));  // the trial, and the program's load
  EXPECT_NE(reasons.find(" compiler "), std::string::npos) << reasons;
  EXPECT_EQ(load(), first);
  EXPECT_EQ(compilations(), std::vector<std::string>{first});
  EXPECT_NE(reasons.find("the load took "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find(" compiler "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find(" analysis "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find("--prewarm"), std::string::npos) << reasons;
  // Nor is anything of ours compiled.
  if (asked_module().machine_code != nullptr) {
    for (const std::string& image : driver.images) EXPECT_TRUE(image == first || !image.starts_with(".")) << image;
  }
  unsetenv("XDG_CACHE_HOME");
}
TEST_F(RewriteCache, CodeThatIsNotWhatWasStoredIsNotFound) {
  const CodeCache cache(folder);
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const std::filesystem::path code = cache.code_file(key), entry = folder / (key + ".json");
  const auto made = [&] { return patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps); };
  const rewriter::Replacement first = made();
  const auto is_made_again = [&](const char* damage) {
    EXPECT_FALSE(cache.find(key)) << damage;
    const std::size_t before = compilations().size();
    EXPECT_EQ(made().text, first.text) << damage;
    EXPECT_EQ(compilations().size(), before + 1) << damage;
    EXPECT_TRUE(cache.find(key)) << damage;
  };
  std::filesystem::resize_file(code, 3);
  is_made_again("cut");
  std::ofstream(code) << std::string(first.text.size(), 'x');
  is_made_again("replaced by bytes of the same size");
  std::filesystem::remove(code);
  is_made_again("gone");
  std::filesystem::resize_file(entry, std::filesystem::file_size(entry) / 2);
  is_made_again("half an entry");
  std::ofstream(entry) << R"({"left_alone": 7, "bytes": "many"})";
  is_made_again("an entry of other types");
  std::ofstream(entry) << std::string(100, '\0');
  is_made_again("an entry of zeros");
}

TEST_F(RewriteCache, WhereNothingCanBeKeptTheCodeIsMadeEachTime) {
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const auto is_made = [&](const CodeCache& cache, const char* why) {
    EXPECT_FALSE(patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps).text.empty()) << why;
    EXPECT_FALSE(cache.find(key)) << why;
  };
  is_made(CodeCache({}), "no folder");
  std::ofstream(folder.string()) << "a file";
  is_made(CodeCache(folder), "a file in the place of the folder");
  std::filesystem::remove(folder);
  std::filesystem::create_directories(folder / (key + ".json"));
  is_made(CodeCache(folder), "a folder in the place of the entry");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / (key + ".ptx"));
  is_made(CodeCache(folder), "a folder in the place of the code");
  std::filesystem::remove_all(folder);
  // A full disk, as far as this process can tell.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  is_made(CodeCache(folder), "no space");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(folder));  // no half file
}

TEST_F(RewriteCache, WhatTheDriverRefusesIsLeftAlone) {
  for (const char* step : {"load", "load_patched", "kernel", "attribute"}) {
    driver.failing = {step};
    const auto made = patched_code_of(api, CodeCache(folder), step, ptx.c_str(), ptx, {0, 90}, steps);
    EXPECT_EQ(made.text, "") << step;
    EXPECT_NE(made.left_alone, "") << step;
    EXPECT_EQ(driver.loads, driver.unloads) << step;
    driver.failing.clear();
    EXPECT_FALSE(patched_code_of(api, CodeCache(folder), step, ptx.c_str(), ptx, {0, 90}, steps).text.empty()) << step;
  }
}

TEST_F(RewriteCache, MachineCodeHasItsPtxInTritonsCache) {
  std::filesystem::create_directories(folder / "HASH");
  std::ofstream(folder / "HASH" / "kernel.cubin") << "some code";
  std::ofstream(folder / "HASH" / "kernel.ptx") << ptx;
  setenv("TRITON_CACHE_DIR", folder.c_str(), 1);
  EXPECT_EQ(ptx_beside("some code"), ptx);
  EXPECT_EQ(ptx_beside("same size"), "");
  const std::filesystem::path beside = folder / "HASH" / "kernel.ptx";
  std::filesystem::permissions(beside, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_EQ(ptx_beside("some code"), "");
  std::filesystem::remove(beside);
  ASSERT_EQ(mkfifo(beside.c_str(), 0600), 0);
  EXPECT_EQ(ptx_beside("some code"), "");
  unsetenv("TRITON_CACHE_DIR");
}

}  // namespace
}  // namespace wicprof::collector
