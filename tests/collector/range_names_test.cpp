#include "collector/waits/range_names.h"

#include <generated_nvtx_meta.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

namespace wicprof::collector {
namespace {

void call(CUpti_CallbackId id, const void* params, const void* result = nullptr) {
  RangeNames::callback(id, {nullptr, params, result});
}
void push(const char* name) {
  const nvtxRangePushA_params params{name};
  call(CUPTI_CBID_NVTX_nvtxRangePushA, &params);
}
void pop() { call(CUPTI_CBID_NVTX_nvtxRangePop, nullptr); }
std::string innermost() {
  const RangeName* name = RangeNames::innermost();
  return name == nullptr ? "-" : std::string(name->str());
}

TEST(RangeNames, TheInnermostRangeCounts) {
  EXPECT_EQ(innermost(), "-");
  pop();  // of a range that began before the callbacks did
  push("outer");
  push("inner");
  EXPECT_EQ(innermost(), "inner");
  std::thread([] { EXPECT_EQ(innermost(), "-"); }).join();
  pop();
  EXPECT_EQ(innermost(), "outer");
  pop();
  EXPECT_EQ(innermost(), "-");
}

TEST(RangeNames, DomainsHaveRangesOfTheirOwnAndNamesMayBeRegistered) {
  const auto domain = reinterpret_cast<nvtxDomainHandle_t>(8);
  const auto handle = reinterpret_cast<nvtxStringHandle_t>(16);
  const nvtxDomainRegisterStringA_params text{domain, "registered"};
  call(CUPTI_CBID_NVTX_nvtxDomainRegisterStringA, &text, &handle);
  nvtxEventAttributes_t attributes{};
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = handle;
  const nvtxDomainRangePushEx_params params{domain, {&attributes}};
  call(CUPTI_CBID_NVTX_nvtxDomainRangePushEx, &params);
  EXPECT_EQ(innermost(), "registered");
  push("default");
  const nvtxDomainRangePop_params end{domain};
  call(CUPTI_CBID_NVTX_nvtxDomainRangePop, &end);
  EXPECT_EQ(innermost(), "default");
  pop();
  EXPECT_EQ(innermost(), "-");
}

TEST(RangeNames, RangesOfLibrariesNameNothing) {
  const auto create = [](const char* name, std::uintptr_t handle) {
    const nvtxDomainCreateA_params params{name};
    const auto domain = reinterpret_cast<nvtxDomainHandle_t>(handle);
    call(CUPTI_CBID_NVTX_nvtxDomainCreateA, &params, &domain);
    return domain;
  };
  const auto push_into = [](nvtxDomainHandle_t domain, const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    const nvtxDomainRangePushEx_params params{domain, {&attributes}};
    call(CUPTI_CBID_NVTX_nvtxDomainRangePushEx, &params);
  };
  const auto pop_from = [](nvtxDomainHandle_t domain) {
    const nvtxDomainRangePop_params params{domain};
    call(CUPTI_CBID_NVTX_nvtxDomainRangePop, &params);
  };
  const nvtxDomainHandle_t nccl = create("NCCL", 24), mine = create("my program", 32);
  push_into(nccl, "ncclCommInitRank");
  EXPECT_EQ(innermost(), "-");
  push_into(mine, "step");
  push_into(nccl, "ncclAllReduce");
  EXPECT_EQ(innermost(), "step");
  pop_from(nccl);
  EXPECT_EQ(innermost(), "step");
  pop_from(mine);
  EXPECT_EQ(innermost(), "-");  // NCCL's first range never closed
  push_into(nullptr, "default");
  EXPECT_EQ(innermost(), "default");
  pop_from(nullptr);
}

TEST(RangeNames, DeepRangesEndInTheirOrder) {
  for (int i = 0; i < 100; ++i) push(("range " + std::string(i % 26 + 1, 'x')).c_str());
  for (int i = 0; i < 99; ++i) pop();
  EXPECT_EQ(innermost(), "range x");
  pop();
  EXPECT_EQ(innermost(), "-");
}

TEST(RangeNames, NumbersAndArgumentsTellNothingApart) {
  EXPECT_EQ(RangeName::of("step 17").str(), "step");
  EXPECT_EQ(RangeName::of("epoch=3").str(), "epoch");
  EXPECT_EQ(RangeName::of("conv2").str(), "conv2");
  EXPECT_EQ(RangeName::of("2024").str(), "2024");
  EXPECT_EQ(RangeName::of("aten::item, op_id = 12").str(), "aten::item");
  EXPECT_EQ(RangeName::of("step 17").key, RangeName::of("step 18").key);
  EXPECT_NE(RangeName::of("step").key, RangeName::of("stop").key);
  EXPECT_EQ(RangeName::of(std::string(100, 'x')).str().size(), RangeName::kMost);
}

}  // namespace
}  // namespace wicprof::collector
