// A device's two kernels per iteration, queued in one stream: `Exchange`, then `Boundary`.
#pragma once

#include "c_h3d/copy.h"
#include "c_h3d/neighbours.h"
#include "c_h3d/stencil.h"
#include "wic/signal.h"
#include "wic/wait.h"

namespace sample::h3d {

/// Missed deadlines and overruns on one device, in device memory.
struct DeviceFailure {
  std::uint32_t failed_at;  ///< iteration of the first missed deadline; 0 = none
  std::uint32_t missed;     ///< number of missed deadlines
  std::uint32_t overruns;   ///< messages found overwritten
  std::uint32_t message;    ///< message of the first missed deadline

  /// Called by one thread of the waiting group.
  WIC_DEVICE void report(const wic::Thread& thread, std::uint32_t iteration, std::uint32_t of_message) {
    if (thread.fetch_add(&missed, 1) == 0) thread.store(&message, of_message);
    thread.store(&failed_at, iteration);
  }
};

/// Each of the first kMessages blocks sends one message and waits for one. The other blocks do the work that needs no
/// message: the copies within the rank, then the interior. There are no data races: packing and the interior read own
/// cells of `current`, unpacking and the copies write disjoint ghosts of `current`, and the interior writes `next`.
struct Exchange {
  // Chosen so that waiting does not reduce the threads per SM of the averages; the compiler spills the registers that
  // waiting needs beyond that.
  static constexpr int kMaxThreads = 512, kMinBlocksPerSm = 3;
  static constexpr std::uint32_t kLine = 8;  ///< cells along z that a thread averages in one call

  wic::DeviceView view;
  Neighbours neighbours;
  Brick brick;
  Cell* current;
  Cell* next;
  DeviceFailure* failure;
  std::uint32_t iteration;
  std::uint64_t timeout_ns;

  /// Number of threads that the interior can keep busy.
  WIC_DEVICE std::uint32_t lines() const {
    const Box inner = brick.interior();
    return inner.nx * inner.ny * ((inner.nz + kLine - 1) / kLine);
  }

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    // Send nothing after a missed deadline, so that the ring stops. All threads agree, because only earlier iterations
    // count and those have ended.
    const std::uint32_t failed_at = thread.load(&failure->failed_at);
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
    if (!wait) {
      if (thread.index() == 0) failure->report(thread, iteration, message);
      return;
    }
    if (wait.value != iteration && thread.index() == 0) thread.fetch_add(&failure->overruns, 1);
    unpack(brick, ghost_box(brick, direction), neighbours.incoming(message, iteration), current, thread.index(),
           thread.block_size(), step);
  }

 public:
  /// The work of the other blocks. bench/own_overhead.cpp also runs it with an exchange that does not use the backend.
  WIC_DEVICE void compute(const wic::Thread& thread) const {
    const std::uint32_t first = (thread.block() - kMessages) * thread.block_size() + thread.index();
    compute_share(thread, first, (thread.block_count() - kMessages) * thread.block_size());
  }

  /// The work that needs no message, shared by `stride` threads; this thread is number `first`.
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

/// A slower, general Exchange: for fewer blocks than messages, where a block handles several, and for the naive way of
/// waiting.
///
/// The naive way is Algorithm 1 of the WIC paper: flags and data are in managed memory, one thread per block polls its
/// flag with atomicAdd(flag, 0) and takes the data while the others wait at the block's barrier, and an atomic addition
/// raises a flag. The paper adds 1; this kernel adds the difference to the iteration number, so that flags need no
/// reset.
struct AnyExchange {
  static constexpr int kMaxThreads = Exchange::kMaxThreads, kMinBlocksPerSm = Exchange::kMinBlocksPerSm;

  Exchange whole;            ///< with the neighbours of the current way of waiting
  std::uint32_t naive_step;  ///< increment that raises a flag to this iteration's number; 0: not the naive way

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t failed_at = thread.load(&whole.failure->failed_at);
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
    const wic::SiteId site = to.outgoing_site(message);
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
    if (!wait) {
      if (thread.index() == 0) whole.failure->report(thread, iteration, message);
      return false;
    }
    if (wait.value != iteration && thread.index() == 0) thread.fetch_add(&whole.failure->overruns, 1);
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
