// Blocks that contend for a lock, for a reader-writer lock or for the slots of a bounded queue, all in device memory.
#pragma once

#include "common/mix.h"
#include "common/ranks.h"
#include "field/neighbour.h"
#include "wic/site.h"

namespace sample::locks {

inline constexpr std::uint32_t kLineWords = 32;
inline constexpr std::uint32_t kSlots = 64;  ///< of the bounded queue

enum class Kind : std::uint8_t {
  test_and_set,  ///< looks until the lock is free, then tries to take it; sleeps longer after each failure
  ticket,        ///< first come, first served
  read_write,    ///< the same; readers that follow each other are inside together
  queue,         ///< half of the blocks put, half take; a ticket names the slot (Vyukov's bounded queue)
};

/// The lock is free.
struct IsFree {
  WIC_DEVICE bool operator()(std::uint32_t value) const { return value == 0; }
};

/// Words on lines of their own, in device memory; zero before the first launch. The queue's slot i holds i at first.
struct Words {
  std::uint32_t* at;

  WIC_DEVICE std::uint32_t* line(std::uint32_t number) const { return at + std::size_t{number} * kLineWords; }
  WIC_DEVICE std::uint32_t* next() const { return line(0); }     ///< tickets drawn; of the queue: puts
  WIC_DEVICE std::uint32_t* serving() const { return line(1); }  ///< whose turn it is: as a writer
  WIC_DEVICE std::uint32_t* reading() const { return line(2); }  ///< as a reader
  WIC_DEVICE std::uint32_t* taken() const { return line(3); }    ///< 1 while the test-and-set lock is held
  WIC_DEVICE std::uint32_t* takes() const { return line(4); }    ///< of the queue
  WIC_DEVICE std::uint32_t* guarded() const { return line(5); }  ///< two equal words, and the sum of what was taken
  WIC_DEVICE std::uint32_t* torn() const { return line(6); }     ///< readers that saw different words
  WIC_DEVICE std::uint32_t* slot(std::uint32_t i) const { return line(8 + i); }  ///< its turn, then its value
  static constexpr std::size_t kLines = 8 + kSlots;
};

/// Whether a block comes as a reader; three of four times.
WIC_DEVICE constexpr bool is_reader(std::uint32_t block, std::uint32_t round) {
  return scrambled(std::uint64_t{round} << 32 | block) % 4 != 0;
}
/// What a block puts into the queue.
WIC_DEVICE constexpr std::uint32_t value_put(std::uint32_t block, std::uint32_t round) {
  return scrambled(std::uint64_t{block} << 32 | round);
}

struct Contend {
  static constexpr int kMaxThreads = 64, kMinBlocksPerSm = 12;
  /// A waiter that is further from its turn does not look at the word that changes with each turn: it sleeps for as
  /// long as the turns before it take (Mellor-Crummey and Scott's proportional backoff), or is parked.
  static constexpr std::uint32_t kNear = 8;

  Kind kind;
  bool backs_off;  ///< the program's own way of waiting
  wic::Site far_site, near_site;
  Words words;
  std::uint32_t rounds;   ///< of a block in a launch
  std::uint32_t hold_ns;  ///< in the critical section
  std::uint32_t think_ns;
  Failure* failure;
  NeighbourStop neighbour;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (!one_round(thread, round)) break;
      pass_time(thread, think_ns / 2 + scrambled(std::uint64_t{thread.block()} << 32 | round) % (think_ns + 1));
      thread.sync_block();
    }
    if (thread.index() == 0) neighbour.block_ends(thread);
  }

 private:
  WIC_DEVICE bool one_round(const wic::Thread& thread, std::uint32_t round) const {
    switch (kind) {
      case Kind::test_and_set:
        return with_lock(thread);
      case Kind::ticket:
        return with_ticket(thread, false);
      case Kind::read_write:
        return with_ticket(thread, is_reader(thread.block(), round));
      case Kind::queue:
        return thread.block() % 2 == 0 ? put(thread, round) : take(thread);
    }
    return false;
  }

  WIC_DEVICE static void pass_time(const wic::Thread& thread, std::uint32_t ns) {
    const std::uint64_t end = thread.clock_ns() + ns;
    while (thread.clock_ns() < end) thread.step();
  }

  WIC_DEVICE bool fail(const wic::Thread& thread) const {
    if (thread.index() == 0) failure->report(thread, 1, 0, thread.block(), false);
    return false;
  }

  /// The leader's number, for the whole block.
  WIC_DEVICE std::uint32_t draw(const wic::Thread& thread, std::uint32_t* from) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    if (thread.index() == 0) shared[0] = thread.fetch_add(from, 1);
    thread.sync_block();
    const std::uint32_t number = shared[0];
    thread.sync_block();
    return number;
  }

  WIC_DEVICE bool wait_for_turn(const wic::Thread& thread, const std::uint32_t* word, std::uint32_t turn) const {
    if (backs_off) {
      if (thread.index() == 0) {
        const std::uint64_t end = thread.clock_ns() + near_site.timeout_ns;
        for (;;) {
          const auto before = static_cast<std::int32_t>(turn - thread.load(word));
          if (before <= static_cast<std::int32_t>(kNear) || thread.clock_ns() > end) break;
          const std::uint32_t turns = static_cast<std::uint32_t>(before) - kNear;
          thread.sleep_ns(turns < 200 ? turns * (hold_ns + 500) / 2 : 100 * (hold_ns + 500));
        }
      }
      thread.sync_block();
    } else if (turn >= kNear && !far_site.wait(thread, turn, word, wic::AtLeast{turn - kNear})) {
      return false;
    }
    return static_cast<bool>(near_site.wait(thread, turn, word, wic::AtLeast{turn}));
  }

  WIC_DEVICE void write_guarded(const wic::Thread& thread) const {
    if (thread.index() == 0) {
      std::uint32_t* const guarded = words.guarded();
      thread.store(&guarded[0], thread.load(&guarded[0]) + 1);
      pass_time(thread, hold_ns);
      thread.store(&guarded[1], thread.load(&guarded[1]) + 1);
    }
    thread.sync_block();
  }
  WIC_DEVICE void read_guarded(const wic::Thread& thread) const {
    if (thread.index() == 0) {
      const std::uint32_t first = thread.load(&words.guarded()[1]);
      pass_time(thread, hold_ns);
      if (first != thread.load(&words.guarded()[0])) thread.fetch_add(words.torn(), 1);
    }
    thread.sync_block();
  }

  // Ticket lock, and Mellor-Crummey and Scott's fair reader-writer lock, of which it is the case without readers.
  WIC_DEVICE bool with_ticket(const wic::Thread& thread, bool reads) const {
    const std::uint32_t turn = draw(thread, words.next());
    if (!wait_for_turn(thread, reads ? words.reading() : words.serving(), turn)) return fail(thread);
    if (reads) {
      // The next one, if it reads too, may come in at once.
      if (thread.index() == 0) near_site.signal(thread, turn + 1, words.reading(), turn + 1);
      read_guarded(thread);
      if (thread.index() == 0) thread.fetch_add_acq_rel(words.serving(), 1);  // readers leave in any order
    } else {
      write_guarded(thread);
      if (thread.index() == 0 && kind == Kind::ticket) {
        near_site.signal(thread, turn + 1, words.serving(), turn + 1);
      } else if (thread.index() == 0) {
        near_site.signal(thread, turn + 1, words.reading(), turn + 1);
        // A reader that has come in meanwhile may have gone already: a store would undo its addition.
        thread.fetch_add_acq_rel(words.serving(), 1);
      }
    }
    return true;
  }

  /// A random time, longer the more tries have failed (exponential back-off).
  WIC_DEVICE std::uint32_t pause_ns(const wic::Thread& thread, std::uint32_t tries) const {
    const std::uint32_t most = (hold_ns + 64) << (tries < 6 ? tries : 6);
    return scrambled(std::uint64_t{thread.block()} << 32 | tries) % (most < 200'000 ? most : 200'000);
  }

  WIC_DEVICE bool with_lock(const wic::Thread& thread) const {
    auto* const shared = static_cast<std::uint32_t*>(thread.shared());
    std::uint32_t tries = 0;  // the leader's
    for (;;) {
      if (backs_off && thread.index() == 0) {
        const std::uint64_t end = thread.clock_ns() + near_site.timeout_ns;
        while (thread.load(words.taken()) != 0 && thread.clock_ns() < end) thread.sleep_ns(pause_ns(thread, tries++));
      }
      thread.sync_block();
      if (!near_site.wait(thread, 1, words.taken(), IsFree{})) return fail(thread);
      if (thread.index() == 0) {
        shared[0] = thread.exchange(words.taken(), 1);
        thread.fence_acquire();
        if (shared[0] != 0) thread.sleep_ns(pause_ns(thread, tries++));
      }
      thread.sync_block();
      const bool mine = shared[0] == 0;
      thread.sync_block();
      if (mine) break;
    }
    write_guarded(thread);
    if (thread.index() == 0) near_site.signal(thread, 1, words.taken(), 0);
    return true;
  }

  WIC_DEVICE bool put(const wic::Thread& thread, std::uint32_t round) const {
    const std::uint32_t ticket = draw(thread, words.next());
    std::uint32_t* const slot = words.slot(ticket % kSlots);
    if (!near_site.wait(thread, ticket, slot, wic::AtLeast{ticket})) return fail(thread);
    if (thread.index() == 0) {
      slot[1] = value_put(thread.block(), round);
      near_site.signal(thread, ticket + 1, slot, ticket + 1);
    }
    return true;
  }
  WIC_DEVICE bool take(const wic::Thread& thread) const {
    const std::uint32_t ticket = draw(thread, words.takes());
    std::uint32_t* const slot = words.slot(ticket % kSlots);
    if (!near_site.wait(thread, ticket + 1, slot, wic::AtLeast{ticket + 1})) return fail(thread);
    if (thread.index() == 0) {
      thread.fetch_add(&words.guarded()[0], slot[1]);
      near_site.signal(thread, ticket + kSlots, slot, ticket + kSlots);
    }
    return true;
  }
};

}  // namespace sample::locks
