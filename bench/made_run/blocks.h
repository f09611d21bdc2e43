// The kernel of bench/made_run: each block does the actions of one thread of a made program's script.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wic/site.h"

namespace bench {

struct alignas(16) Four {
  std::uint32_t v[4];
};

/// A word of the program, in a line of its own.
struct alignas(128) Word {
  std::uint32_t value = 0;
};

enum class Does : std::uint8_t { work, signal, wait_at_least, wait_equal, clear, wait_cleared };

struct BlockAction {
  Does does = Does::work;
  std::uint32_t word = 0, value = 0, iteration = 0;  ///< iteration 0: none is named
  std::uint32_t site = 0;                            ///< in the text a number from 1; on devices a wic::SiteId
  std::uint32_t elements = 0;                        ///< of work
  wic::Payload payload;
};

/// The actions of a block.
struct BlockText {
  std::uint32_t begin = 0, end = 0;
};

/// As wic::AtLeast, but the trace does not record the value wanted.
struct HasReached {
  std::uint32_t goal;
  WIC_DEVICE bool operator()(std::uint32_t value) const { return static_cast<std::int32_t>(value - goal) >= 0; }
};
struct Equals {
  std::uint32_t goal;
  WIC_DEVICE bool operator()(std::uint32_t value) const { return value == goal; }
};

struct RunBlocks {
  static constexpr int kMaxThreads = 128, kMinBlocksPerSm = 1;

  wic::DeviceView view;
  std::uint64_t timeout_ns;
  const BlockAction* actions;
  const BlockText* blocks;
  Word* words;
  Four* data;
  std::size_t elements;     ///< of `data`, per block
  std::uint32_t iteration;  ///< before this launch
  bool names_wanted;
  std::uint32_t* missed;  ///< pinned host memory

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const BlockText text = blocks[thread.block()];
    std::uint32_t at = 0;  // of this block's data
    for (std::uint32_t a = text.begin; a < text.end; ++a) {
      if (!act(thread, actions[a], at)) {
        if (thread.index() == 0) thread.fetch_add(missed, 1);
        return;
      }
    }
  }

 private:
  WIC_DEVICE bool act(const wic::Thread& thread, const BlockAction& action, std::uint32_t& at) const {
    const wic::Site site{view, static_cast<wic::SiteId>(action.site), timeout_ns};
    const std::uint32_t number = action.iteration == 0 ? 0 : iteration + action.iteration;
    std::uint32_t* const word = &words[action.word].value;
    switch (action.does) {
      case Does::work:
        work(thread, action.elements, at);
        return true;
      case Does::signal:
        thread.sync_block();
        if (thread.index() == 0) site.signal(thread, number, word, action.value, action.payload);
        return true;
      case Does::wait_at_least:
        if (names_wanted) return static_cast<bool>(site.wait(thread, number, word, wic::AtLeast{action.value}));
        return static_cast<bool>(site.wait(thread, number, word, HasReached{action.value}));
      case Does::wait_equal:
        return static_cast<bool>(site.wait(thread, number, word, Equals{action.value}));
      case Does::clear:
        thread.sync_block();
        if (thread.index() == 0) thread.store_release(word, 0);
        return true;
      case Does::wait_cleared:
        return wait_cleared(thread, word);
    }
    return true;
  }

  // The program's own loop, which the trace does not show.
  WIC_DEVICE bool wait_cleared(const wic::Thread& thread, const std::uint32_t* word) const {
    const std::uint64_t begin = thread.clock_ns();
    bool cleared = true;
    if (thread.index() == 0) {
      while (thread.load(word) != 0 && cleared) {
        cleared = thread.clock_ns() - begin < timeout_ns;
        thread.step();
      }
      if (!cleared) thread.fetch_add(missed, 1);
    }
    thread.sync_block();
    return true;
  }

  WIC_DEVICE void work(const wic::Thread& thread, std::uint32_t count, std::uint32_t& at) const {
    Four* const mine = data + thread.block() * elements;
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      Four& four = mine[(at + i) % elements];
      Four next = four;
      for (std::uint32_t& v : next.v) v += i;
      four = next;
      thread.step();
    }
    at += count;
  }
};

}  // namespace bench
