// The CPU's rank: the same steps as a device's two kernels, done by a team of threads.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "c_h3d/copy.h"
#include "c_h3d/host_team.h"
#include "c_h3d/neighbours.h"
#include "c_h3d/stencil.h"
#include "wic/runtime.h"

namespace sample::h3d {

/// Averages the cells of a box, row by row; the rows are shared among the team.
inline void average_box(const Cube& cube, const Box& box, const Cell* from, Cell* to, std::uint32_t member,
                        std::uint32_t members) {
  const std::uint64_t rows = std::uint64_t{box.ny} * box.nz;
  if (box.nx == 0) return;
  const auto end = static_cast<std::uint32_t>(rows * (member + 1) / members);
  for (auto row = static_cast<std::uint32_t>(rows * member / members); row < end; ++row) {
    const std::uint32_t at = cube.index(box.x, box.y + row % box.ny, box.z + row / box.ny);
    average_line(from, to, at, box.nx, 1, cube.step_y(), cube.step_z());
  }
}

class HostRank {
 public:
  HostRank(wic::Runtime& runtime, const Neighbours& neighbours, Cube cube, std::uint32_t threads)
      : runtime_(runtime),
        neighbours_(neighbours),
        cube_(cube),
        team_(threads),
        current_(cube.stored_cells()),
        next_(cube.stored_cells()) {}

  std::vector<Cell>& field() { return current_; }
  std::uint32_t missed() const { return missed_.load(); }
  std::uint32_t overruns() const { return overruns_.load(); }

  /// False when a deadline has passed; what the field then holds is of no use.
  bool iterate(std::uint32_t iteration, wicprof::TimeNs timeout) {
    team_.run([&](std::uint32_t member, std::uint32_t members) { exchange(iteration, timeout, member, members); });
    if (missed() != 0) return false;
    team_.run([&](std::uint32_t member, std::uint32_t members) {
      for (std::uint32_t b = 0; b < Cube::kShellBoxes; ++b) {
        average_box(cube_, cube_.shell(b), current_.data(), next_.data(), member, members);
      }
    });
    std::swap(current_, next_);
    return true;
  }

 private:
  void exchange(std::uint32_t iteration, wicprof::TimeNs timeout, std::uint32_t member, std::uint32_t members) {
    for (std::uint32_t m = member; m < kMessages; m += members) {
      pack(cube_, own_box(cube_, direction_of(m)), current_.data(), neighbours_.outgoing(m, iteration), 0, 1, NoStep{});
      runtime_.signal(neighbours_.outgoing_site(m), iteration, neighbours_.outgoing_word(m, iteration), iteration);
    }
    copy_self(cube_, current_.data(), member, members, NoStep{});
    average_box(cube_, cube_.interior(), current_.data(), next_.data(), member, members);
    for (std::uint32_t m = member; m < kMessages; m += members) {
      const wic::WaitResult wait =
          runtime_.wait_until(neighbours_.sites.of(m), iteration, neighbours_.incoming_word(m, iteration),
                              wic::AtLeast{iteration}, timeout);
      if (wait.status != wicprof::WaitStatus::satisfied) {
        missed_.fetch_add(1);
        return;
      }
      if (wait.value != iteration) overruns_.fetch_add(1);
      unpack(cube_, ghost_box(cube_, direction_of(m)), neighbours_.incoming(m, iteration), current_.data(), 0, 1,
             NoStep{});
    }
  }

  wic::Runtime& runtime_;
  Neighbours neighbours_;
  Cube cube_;
  HostTeam team_;
  std::vector<Cell> current_, next_;
  std::atomic<std::uint32_t> missed_{0};
  std::atomic<std::uint32_t> overruns_{0};
};

}  // namespace sample::h3d
