// The loops of before.cu and before_host.h through wic: the "after" of docs/waiting.md.
#pragma once

#include "wic/runtime.h"

// [site]
inline wic::Site site_for_kernels(const wic::Runtime& runtime, wic::SiteId site) {
  return runtime.site(site, 5 * wic::kSecond, /*device=*/0);
}
// [end]

// [consume]
struct Consume {
  wic::Site site;
  std::uint32_t round;
  const std::uint32_t* flag;
  const float* data;
  float* out;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!site.wait(thread, round, flag, wic::AtLeast{round})) return;  // no data in time: the whole block leaves
    const std::uint32_t i = thread.block() * thread.block_size() + thread.index();
    out[i] = 2 * data[i];
  }
};
// [end]

// [long_form]
struct ConsumeByLongForm {
  wic::DeviceView view;
  wic::SiteId site;
  std::uint32_t round;
  std::uint64_t timeout_ns;
  const std::uint32_t* flag;
  const float* data;
  float* out;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::WaitResult wait =
        wic::wait_until(thread, view, wic::block_group(thread), site, round, flag, wic::AtLeast{round}, timeout_ns);
    if (wait.status != wic::WaitStatus::satisfied) return;
    const std::uint32_t i = thread.block() * thread.block_size() + thread.index();
    out[i] = 2 * data[i];
  }
};
// [end]

// [consume_by_warps]
struct ConsumeByWarps {
  wic::Site site;  // declared with Pollers::each_thread
  std::uint32_t round;
  const std::uint32_t* flag;
  const float* data;
  float* out;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t half = thread.block_size() / 2;  // whole warps
    if (thread.index() < half) return;                   // ... these warps compute something else ...
    const wic::Group waiters = wic::warps_group(half / wic::kWarpSize, half / wic::kWarpSize, /*barrier=*/1);
    if (!site.wait(thread, waiters, round, flag, wic::AtLeast{round})) return;
    const std::uint32_t i = thread.block() * half + thread.index() - half;
    out[i] = 2 * data[i];
  }
};
// [end]

// [produce]
struct Produce {
  wic::Site site;  // where the consumers of `flags` wait
  std::uint32_t round;
  float* data;
  std::uint32_t* flags;  // one per block, 128 bytes apart

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    data[thread.block() * thread.block_size() + thread.index()] = static_cast<float>(round);
    thread.sync_block();
    if (thread.index() == 0) site.signal(thread, round, &flags[thread.block() * 32], round);
  }
};
// [end]

// [host]
inline bool wait_for_result(wic::Runtime& runtime, wic::SiteId site, const std::uint32_t* done, std::uint32_t round) {
  const wic::WaitResult wait = runtime.wait_until(site, round, done, wic::AtLeast{round}, 5 * wic::kSecond);
  return wait.status == wic::WaitStatus::satisfied;
}

inline void publish(wic::Runtime& runtime, wic::SiteId site, std::uint32_t* flag, std::uint32_t round) {
  runtime.signal(site, round, flag, round);
}
// [end]

// [sites]
struct Sites {
  wic::SiteId input, halo, done;
};

inline wic::Result<Sites> declare_sites(wic::Runtime& runtime) {
  // All blocks wait on ONE word in pinned host memory; thread 0 polls.
  const auto input =
      runtime.add_site({.name = "app.input", .word_memory = wic::WordMemory::pinned_host, .shared_word = true});
  if (!input) return input.error();
  // Each block waits on its own word in device memory; every thread polls.
  const auto halo = runtime.add_site(
      {.name = "app.halo", .word_memory = wic::WordMemory::device, .pollers = wic::Pollers::each_thread});
  if (!halo) return halo.error();
  // A host thread waits; with shared_word, `auto` lets it sleep.
  const auto done =
      runtime.add_site({.name = "app.done", .word_memory = wic::WordMemory::pinned_host, .shared_word = true});
  if (!done) return done.error();
  return Sites{*input, *halo, *done};
}
// [end]
