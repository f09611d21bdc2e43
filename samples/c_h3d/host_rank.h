// The CPU's rank: a thread team does the steps of a device's two kernels.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "c_h3d/copy.h"
#include "c_h3d/inbox.h"
#include "c_h3d/neighbours.h"
#include "c_h3d/stencil.h"
#include "common/host_team.h"
#include "wic/runtime.h"

namespace sample::h3d {

/// Averages the cells of a box, row by row; the team's members share the rows.
inline void average_box(const Brick& brick, const Box& box, const Cell* from, Cell* to, std::uint32_t member,
                        std::uint32_t members) {
  const std::uint64_t rows = std::uint64_t{box.ny} * box.nz;
  if (box.nx == 0) return;
  const auto end = static_cast<std::uint32_t>(rows * (member + 1) / members);
  for (auto row = static_cast<std::uint32_t>(rows * member / members); row < end; ++row) {
    const std::uint32_t at = brick.index(box.x, box.y + row % box.ny, box.z + row / box.ny);
    average_line(from, to, at, box.nx, 1, brick.step_y(), brick.step_z());
  }
}

class HostRank {
 public:
  HostRank(wic::Runtime& runtime, const Neighbours& neighbours, Brick brick, std::uint32_t threads)
      : runtime_(runtime),
        neighbours_{neighbours, neighbours},
        brick_(brick),
        team_(threads),
        current_(brick.stored_cells()),
        next_(brick.stored_cells()) {}

  /// Sets the neighbours for iterations with the naive way of waiting.
  void use_naively(const Neighbours& neighbours) { neighbours_[1] = neighbours; }

  /// Sends messages to the left and to the right through these from now on; nullptr: the receiver reads the outbox.
  void copy_into(Inbox* left, Inbox* right) {
    inboxes_[0] = left;
    inboxes_[1] = right;
  }

  std::vector<Cell>& field() { return current_; }
  std::uint32_t missed() const { return missed_.load(); }
  std::uint32_t first_missed() const { return first_missed_.load(); }  ///< message of the first missed deadline
  std::uint32_t overruns() const { return overruns_.load(); }

  /// False if a deadline passed; the field is then invalid. `naive_step`: see AnyExchange.
  bool iterate(std::uint32_t iteration, wic::TimeNs timeout, std::uint32_t naive_step = 0) {
    team_.run([&](std::uint32_t member, std::uint32_t members) {
      exchange(iteration, timeout, naive_step, member, members);
    });
    if (missed() != 0) return false;
    team_.run([&](std::uint32_t member, std::uint32_t members) {
      for (std::uint32_t b = 0; b < Brick::kShellBoxes; ++b) {
        average_box(brick_, brick_.shell(b), current_.data(), next_.data(), member, members);
      }
    });
    std::swap(current_, next_);
    return true;
  }

 private:
  void exchange(std::uint32_t iteration, wic::TimeNs timeout, std::uint32_t naive_step, std::uint32_t member,
                std::uint32_t members) {
    const Neighbours& around = neighbours_[naive_step != 0 ? 1 : 0];
    for (std::uint32_t m = member; m < kMessages; m += members) {
      pack(brick_, own_box(brick_, direction_of(m)), current_.data(), around.outgoing(m, iteration), 0, 1, NoStep{});
      signal(around, m, iteration, naive_step);
    }
    copy_self(brick_, current_.data(), member, members, NoStep{});
    average_box(brick_, brick_.interior(), current_.data(), next_.data(), member, members);
    for (std::uint32_t m = member; m < kMessages; m += members) {
      const wic::WaitResult wait = runtime_.wait_until(
          around.sites.of(m), iteration, around.incoming_word(m, iteration), wic::AtLeast{iteration}, timeout);
      if (!wait) {
        if (missed_.fetch_add(1) == 0) first_missed_ = m;
        return;
      }
      if (wait.value != iteration) overruns_.fetch_add(1);
      unpack(brick_, ghost_box(brick_, direction_of(m)), around.incoming(m, iteration), current_.data(), 0, 1,
             NoStep{});
    }
  }

  void signal(const Neighbours& around, std::uint32_t m, std::uint32_t iteration, std::uint32_t naive_step) {
    const wic::SiteId site = around.outgoing_site(m);
    std::uint32_t* const word = around.outgoing_word(m, iteration);
    if (Inbox* const inbox = inboxes_[side_of(m)]; inbox != nullptr) {
      const wic::TimeNs at = wic::now_ns();
      inbox->push(around.mine, m, iteration);
      runtime_.record_signal(site, iteration, &inbox->outbox().flag(m, iteration)->word, at, iteration,
                             around.outgoing_payload(m));
    } else if (naive_step == 0) {
      runtime_.signal(site, iteration, word, iteration, around.outgoing_payload(m));
    } else {
      const wic::TimeNs at = wic::now_ns();
      std::atomic_ref(*word).fetch_add(naive_step, std::memory_order_acq_rel);
      runtime_.record_signal(site, iteration, word, at, iteration, around.outgoing_payload(m));
    }
  }

  wic::Runtime& runtime_;
  Neighbours neighbours_[2];                // [1]: for the naive way of waiting
  Inbox* inboxes_[2] = {nullptr, nullptr};  // by side
  Brick brick_;
  HostTeam<> team_;
  std::vector<Cell> current_, next_;
  std::atomic<std::uint32_t> missed_{0};
  std::atomic<std::uint32_t> first_missed_{0};
  std::atomic<std::uint32_t> overruns_{0};
};

}  // namespace sample::h3d
