// The loops of before.cu and before_host.h through wic: the "after" of docs/waiting.md.
#pragma once

#include "wic/runtime.h"
#include "wic/signal.h"
#include "wic/wait.h"

// [consume]
struct Consume {
  wic::DeviceView view;
  wicprof::SiteId site;
  std::uint32_t round;
  std::uint64_t timeout_ns;
  const std::uint32_t* flag;
  const float* data;
  float* out;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const wic::WaitResult wait =
        wic::wait_until(thread, view, wic::block_group(thread), site, round, flag, wic::AtLeast{round}, timeout_ns);
    if (wait.status != wicprof::WaitStatus::satisfied) return;  // the whole block leaves; its data is not there
    const std::uint32_t i = thread.block() * thread.block_size() + thread.index();
    out[i] = 2 * data[i];
  }
};
// [end]

// [consume_by_warps]
struct ConsumeByWarps {
  wic::DeviceView view;
  wicprof::SiteId site;  // declared with Pollers::each_thread
  std::uint32_t round;
  std::uint64_t timeout_ns;
  const std::uint32_t* flag;
  const float* data;
  float* out;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t half = thread.block_size() / 2;  // whole warps
    if (thread.index() < half) return;                   // ... these warps compute something else ...
    const wic::Group waiters = wic::warps_group(half / wic::kWarpSize, half / wic::kWarpSize, /*barrier=*/1);
    const wic::WaitResult wait =
        wic::wait_until(thread, view, waiters, site, round, flag, wic::AtLeast{round}, timeout_ns);
    if (wait.status != wicprof::WaitStatus::satisfied) return;
    const std::uint32_t i = thread.block() * half + thread.index() - half;
    out[i] = 2 * data[i];
  }
};
// [end]

// [produce]
struct Produce {
  wic::DeviceView view;
  wicprof::SiteId site;  // the one at which the consumers of `flags` wait
  std::uint32_t round;
  float* data;
  std::uint32_t* flags;  // one a block, 128 bytes apart

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    data[thread.block() * thread.block_size() + thread.index()] = static_cast<float>(round);
    thread.sync_block();
    if (thread.index() == 0) wic::signal(thread, view, site, round, &flags[thread.block() * 32], round);
  }
};
// [end]

// [host]
inline bool wait_for_result(wic::Runtime& runtime, wicprof::SiteId site, const std::uint32_t* done,
                            std::uint32_t round) {
  const wic::WaitResult wait = runtime.wait_until(site, round, done, wic::AtLeast{round}, 5 * wicprof::kSecond);
  return wait.status == wicprof::WaitStatus::satisfied;
}

inline void publish(wic::Runtime& runtime, wicprof::SiteId site, std::uint32_t* flag, std::uint32_t round) {
  runtime.signal(site, round, flag, round);
}
// [end]

// [sites]
struct Sites {
  wicprof::SiteId input, halo, done;
};

inline wicprof::Result<Sites> declare_sites(wic::Runtime& runtime) {
  using wicprof::Pollers;
  using wicprof::WordMemory;
  // All blocks wait on ONE word, which lies in pinned host memory; thread 0 polls.
  const auto input = runtime.add_site({"app.input", WordMemory::pinned_host, Pollers::leader, /*shared_word=*/true});
  if (!input) return input.error();
  // Each block waits on a word of its own in device memory; every thread polls.
  const auto halo = runtime.add_site({"app.halo", WordMemory::device, Pollers::each_thread, /*shared_word=*/false});
  if (!halo) return halo.error();
  // A host thread waits; shared_word, so that `auto` lets it sleep.
  const auto done = runtime.add_site({"app.done", WordMemory::pinned_host, Pollers::leader, /*shared_word=*/true});
  if (!done) return done.error();
  return Sites{*input, *halo, *done};
}
// [end]
