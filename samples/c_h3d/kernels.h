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
  Cube cube;
  Cell* current;
  Cell* next;
  DeviceTrouble* trouble;
  std::uint32_t iteration;
  std::uint64_t timeout_ns;

  /// How many threads the interior can keep busy.
  WIC_DEVICE std::uint32_t lines() const {
    const Box inner = cube.interior();
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
    pack(cube, own_box(cube, direction), current, neighbours.outgoing(message, iteration), thread.index(),
         thread.block_size(), step);
    thread.sync_block();
    if (thread.index() == 0) {
      wic::signal(thread, view, neighbours.outgoing_site(message), iteration,
                  neighbours.outgoing_word(message, iteration), iteration);
    }
    const wic::WaitResult wait =
        wic::wait_until(thread, view, wic::block_group(thread), neighbours.sites.of(message), iteration,
                        neighbours.incoming_word(message, iteration), wic::AtLeast{iteration}, timeout_ns);
    if (wait.status != wicprof::WaitStatus::satisfied) {
      if (thread.index() == 0) {
        thread.store(&trouble->failed_at, iteration);
        thread.fetch_add(&trouble->missed, 1);
      }
      return;
    }
    if (wait.value != iteration && thread.index() == 0) thread.fetch_add(&trouble->overruns, 1);
    unpack(cube, ghost_box(cube, direction), neighbours.incoming(message, iteration), current, thread.index(),
           thread.block_size(), step);
  }

 public:
  /// What the other blocks do; bench/own_overhead.cpp runs it beside an exchange without the backend.
  WIC_DEVICE void compute(const wic::Thread& thread) const {
    const std::uint32_t first = (thread.block() - kMessages) * thread.block_size() + thread.index();
    const std::uint32_t stride = (thread.block_count() - kMessages) * thread.block_size();
    copy_self(cube, current, first, stride, [&] { thread.step(); });
    const Box inner = cube.interior();
    const std::uint32_t count = lines();
    for (std::uint32_t i = first; i < count; i += stride) {
      const std::uint32_t column = i % (inner.nx * inner.ny);
      const std::uint32_t done = i / (inner.nx * inner.ny) * kLine;
      const std::uint32_t left = inner.nz - done;
      const std::uint32_t at = cube.index(inner.x + column % inner.nx, inner.y + column / inner.nx, inner.z + done);
      average_line(current, next, at, left < kLine ? left : kLine, cube.step_z(), 1, cube.step_y());
      thread.step();
    }
  }
};

/// The cells that need ghosts.
struct Boundary {
  Cube cube;
  const Cell* current;
  Cell* next;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    const std::uint32_t first = thread.block() * thread.block_size() + thread.index();
    const std::uint32_t stride = thread.block_count() * thread.block_size();
    for (std::uint32_t b = 0; b < Cube::kShellBoxes; ++b) {
      const Box box = cube.shell(b);
      const std::uint32_t cells = box.cells();
      for (std::uint32_t i = first; i < cells; i += stride) {
        average_line(current, next, cube.index(box, i), 1, cube.step_z(), 1, cube.step_y());
        thread.step();
      }
    }
  }
};

}  // namespace sample::h3d
