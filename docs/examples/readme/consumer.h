// The code of README.md, which compiles as it stands.
#pragma once

// [consumer]
#include "wic/runtime.h"

struct Consumer {
  wic::Site site;  // on the host: runtime.site(*runtime.add_site({.name = "app.flag"}), wic::kSecond)
  std::uint32_t iteration;
  const std::uint32_t* flag;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (!site.wait(thread, iteration, flag, wic::AtLeast{iteration})) return;  // a passed deadline is a result
    // ... use what the producer wrote before it raised the flag ...
  }
};
// [end]
