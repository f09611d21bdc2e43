// The long forms of wait and signal, which need nothing but wic/wait.h.
#pragma once

#include "wic/wait.h"

// [relay]
struct Relay {
  wic::DeviceView view;
  wic::SiteId from, to;
  std::uint32_t round;
  const std::uint32_t* input;
  std::uint32_t* output;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!wic::wait_until(thread, view, wic::block_group(thread), from, round, input, wic::AtLeast{round},
                         /*timeout_ns=*/5'000'000'000)) {
      return;
    }
    if (thread.index() == 0) wic::signal(thread, view, to, round, output, round);
  }
};
// [end]
