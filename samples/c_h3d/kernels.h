// A device's two kernels an iteration, in one stream: `Exchange`, then `Boundary`.
#pragma once

#include "c_h3d/copy.h"
#include "c_h3d/neighbours.h"
#include "c_h3d/stencil.h"
#include "wic/signal.h"
#include "wic/wait.h"

namespace sample::h3d {

/// What has gone wrong on a device, in its memory.
struct DeviceTrouble {
  std::uint32_t failed_at;  ///< the iteration of the first deadline that passed; 0 = none
  std::uint32_t missed;     ///< deadlines that passed
  std::uint32_t overruns;   ///< messages found overwritten
  std::uint32_t message;    ///< that of the first deadline

  /// Called by one thread of those that waited.
  WIC_DEVICE void report(const wic::Thread& thread, std::uint32_t iteration, std::uint32_t of_message) {
    if (thread.fetch_add(&missed, 1) == 0) thread.store(&message, of_message);
    thread.store(&failed_at, iteration);
  }
};

/// The first kMessages blocks exchange a message each, and wait for it. The others do what needs no message meanwhile:
/// the copies within the rank, then the interior. No two blocks touch the same cell: packing and the interior read own
/// cells of `current`, unpacking and the copies write its ghosts, each direction its own, and the interior writes
/// `next`.
struct Exchange {
  // As many threads an SM as the averages alone would leave room for: what waiting needs of registers beyond that it
  // keeps in memory.
  static constexpr int kMaxThreads = 512, kMinBlocksAnSm = 3;
  static constexpr std::uint32_t kLine = 8;  ///< cells along z that a thread averages in one go

  wic::DeviceView view;
  Neighbours neighbours;
  Brick brick;
  Cell* current;
  Cell* next;
  DeviceTrouble* trouble;
  std::uint32_t iteration;
  std::uint64_t timeout_ns;

  /// How many threads the interior can keep busy.
  WIC_DEVICE std::uint32_t lines() const {
    const Box inner = brick.interior();
    return inner.nx * inner.ny * ((inner.nz + kLine - 1) / kLine);
  }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    // After a passed deadline nothing more is sent, so that the ring comes to a stop. All threads decide alike: only
    // earlier iterations count, and those are over.
    const std::uint32_t failed_at = thread.load(&trouble->failed_at);
    if (failed_at != 0 && failed_at < iteration) return;
    if (thread.block() < kMessages) {
      exchange(thread, thread.block());
    } else {
      compute(thread);
    }
  }

 private:
  WIC_DEVICE void exchange(const wic::Thread& thread, std::uint32_t message) const {
    const Direction direction = direction_of(message);
    const auto step = [&] { thread.step(); };
    pack(brick, own_box(brick, direction), current, neighbours.outgoing(message, iteration), thread.index(),
         thread.block_size(), step);
    thread.sync_block();
    if (thread.index() == 0) {
      wic::signal(thread, view, neighbours.outgoing_site(message), iteration,
                  neighbours.outgoing_word(message, iteration), iteration, neighbours.outgoing_payload(message));
    }
    const wic::WaitResult wait =
        wic::wait_until(thread, view, wic::block_group(thread), neighbours.sites.of(message), iteration,
                        neighbours.incoming_word(message, iteration), wic::AtLeast{iteration}, timeout_ns);
    if (wait.status != wicprof::WaitStatus::satisfied) {
      if (thread.index() == 0) trouble->report(thread, iteration, message);
      return;
    }
    if (wait.value != iteration && thread.index() == 0) thread.fetch_add(&trouble->overruns, 1);
    unpack(brick, ghost_box(brick, direction), neighbours.incoming(message, iteration), current, thread.index(),
           thread.block_size(), step);
  }

 public:
  /// What the other blocks do; bench/own_overhead.cpp runs it beside an exchange without the backend.
  WIC_DEVICE void compute(const wic::Thread& thread) const {
    const std::uint32_t first = (thread.block() - kMessages) * thread.block_size() + thread.index();
    compute_share(thread, first, (thread.block_count() - kMessages) * thread.block_size());
  }

  /// What needs no message, shared among `stride` threads, of which this is number `first`.
  WIC_DEVICE void compute_share(const wic::Thread& thread, std::uint32_t first, std::uint32_t stride) const {
    copy_self(brick, current, first, stride, [&] { thread.step(); });
    const Box inner = brick.interior();
    const std::uint32_t count = lines();
    for (std::uint32_t i = first; i < count; i += stride) {
      const std::uint32_t column = i % (inner.nx * inner.ny);
      const std::uint32_t done = i / (inner.nx * inner.ny) * kLine;
      const std::uint32_t left = inner.nz - done;
      const std::uint32_t at = brick.index(inner.x + column % inner.nx, inner.y + column / inner.nx, inner.z + done);
      average_line(current, next, at, left < kLine ? left : kLine, brick.step_z(), 1, brick.step_y());
      thread.step();
    }
  }
};

/// The same where it cannot be as fast: with fewer blocks than messages, so that a block has several, and in the naive
/// way.
///
/// The naive way is Algorithm 1 of the WIC paper: flags and data lie in managed memory, one thread of a block polls its
/// flag by atomicAdd(flag, 0) and takes the data, the others stand at the block's barrier, and a flag is raised by an
/// atomic add. The paper adds 1; here it is what makes the flag the iteration's number, so that nobody has to set it
/// back.
struct AnyExchange {
  static constexpr int kMaxThreads = Exchange::kMaxThreads, kMinBlocksAnSm = Exchange::kMinBlocksAnSm;

  Exchange whole;            ///< its neighbours are those of the way
  std::uint32_t naive_step;  ///< what raises a flag to this iteration's number; 0: not the naive way

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t failed_at = thread.load(&whole.trouble->failed_at);
    if (failed_at != 0 && failed_at < whole.iteration) return;
    const std::uint32_t blocks = thread.block_count();
    for (std::uint32_t message = thread.block(); message < kMessages; message += blocks) send(thread, message);
    if (blocks <= kMessages) {
      whole.compute_share(thread, thread.block() * thread.block_size() + thread.index(), blocks * thread.block_size());
    } else if (thread.block() >= kMessages) {
      whole.compute(thread);
    }
    for (std::uint32_t message = thread.block(); message < kMessages; message += blocks) {
      if (!receive(thread, message)) return;
    }
  }

 private:
  WIC_DEVICE void send(const wic::Thread& thread, std::uint32_t message) const {
    const Neighbours& to = whole.neighbours;
    const std::uint32_t iteration = whole.iteration;
    pack(whole.brick, own_box(whole.brick, direction_of(message)), whole.current, to.outgoing(message, iteration),
         thread.index(), thread.block_size(), [&] { thread.step(); });
    thread.sync_warp();
    thread.sync_block();
    if (thread.index() != 0) return;
    std::uint32_t* const word = to.outgoing_word(message, iteration);
    const wicprof::SiteId site = to.outgoing_site(message);
    const wic::Payload payload = to.outgoing_payload(message);
    if (naive_step == 0) {
      wic::signal(thread, whole.view, site, iteration, word, iteration, payload);
    } else {
      const std::uint64_t at = thread.clock_ns();
      thread.fetch_add_acq_rel_system(word, naive_step);
      wic::write_record(thread, whole.view,
                        wic::signal_record(site, iteration, at, iteration, wic::word_tag(word), payload));
    }
  }

  WIC_DEVICE bool receive(const wic::Thread& thread, std::uint32_t message) const {
    const Neighbours& from = whole.neighbours;
    const std::uint32_t iteration = whole.iteration;
    const wic::WaitResult wait =
        wic::wait_until(thread, whole.view, wic::block_group(thread), from.sites.of(message), iteration,
                        from.incoming_word(message, iteration), wic::AtLeast{iteration}, whole.timeout_ns);
    if (wait.status != wicprof::WaitStatus::satisfied) {
      if (thread.index() == 0) whole.trouble->report(thread, iteration, message);
      return false;
    }
    if (wait.value != iteration && thread.index() == 0) thread.fetch_add(&whole.trouble->overruns, 1);
    const bool naive = naive_step != 0;
    if (!naive || thread.index() == 0) {
      unpack(whole.brick, ghost_box(whole.brick, direction_of(message)), from.incoming(message, iteration),
             whole.current, thread.index(), naive ? 1 : thread.block_size(), [&] { thread.step(); });
    }
    thread.sync_warp();
    return true;
  }
};

/// The cells that need ghosts.
struct Boundary {
  Brick brick;
  const Cell* current;
  Cell* next;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t first = thread.block() * thread.block_size() + thread.index();
    const std::uint32_t stride = thread.block_count() * thread.block_size();
    for (std::uint32_t b = 0; b < Brick::kShellBoxes; ++b) {
      const Box box = brick.shell(b);
      const std::uint32_t cells = box.cells();
      for (std::uint32_t i = first; i < cells; i += stride) {
        average_line(current, next, brick.index(box, i), 1, brick.step_z(), 1, brick.step_y());
        thread.step();
      }
    }
  }
};

}  // namespace sample::h3d
