// The CPU's rank: a thread team does the steps of a device's kernels.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "common/host_team.h"
#include "krylov/device_rank.h"
#include "krylov/host_memory.h"

namespace sample::krylov {

class HostRank {
 public:
  /// Rank 0. `lanes`: one pair per other rank, in rank order. The plan must outlive this.
  HostRank(const RankPlan& plan, const std::vector<double>& b, const std::vector<Lanes>& lanes, std::uint32_t threads)
      : plan_(plan), lanes_(lanes), memory_(plan, b), team_(threads) {
    for (const Outgoing& out : plan.outgoing) payloads_.push_back(wic::payload_of(out.global, sizeof(double)));
  }

  std::vector<double>& x() { return memory_.x(); }
  void reset() { std::fill(x().begin(), x().end(), 0.0); }

  /// Runs an iteration and returns the dot products that its messages carried. Errors: wic::failed when a deadline
  /// passed or a message belonged to another iteration.
  wic::Result<Dots> iterate(Kind kind, bool first, std::uint32_t number, wic::TimeNs timeout) {
    RankView& view = memory_.view();
    const std::uint32_t chunks = chunks_of(view.rows);
    Dots dots{0, 0};
    if (kind != Kind::residual) dots = sum_of_chunks(view.chunks, chunks);
    if (view.sharing == Sharing::sum) {
      team_.in_ranges(view.rows - view.interior, [&](std::uint32_t i) { view.multiply_boundary(kind, i); });
    }
    if (auto sent = send(kind, dots, number, timeout); !sent) return sent.error();
    team_.in_ranges(view.interior, [&](std::uint32_t row) { view.multiply_interior(kind, row); });
    for (std::size_t p = 0; p < lanes_.size(); ++p) {
      const auto others = receive(p, number, timeout);
      if (!others) return others.error();
      if (kind != Kind::residual) dots = dots + *others;
    }
    Coefficients c{0, 0};
    if (kind == Kind::step) {
      c = coefficients_of(state_, dots, first);
      state_ = {dots.gamma, c.alpha};
    }
    team_.in_turn(chunks, [&](std::uint32_t chunk) { finish_chunk(view, kind, c, chunk); });
    view.advance(kind);
    return dots;
  }

 private:
  static wic::Error late(const Lane& lane, const char* site, std::uint32_t number) {
    return wic::failed("the deadline of the CPU's wait at " + lane.spec().name + site + " passed in iteration " +
                       std::to_string(number) + "; raise --timeout if the machine is busy");
  }

  wic::Result<> send(Kind kind, const Dots& dots, std::uint32_t number, wic::TimeNs timeout) {
    for (std::size_t p = 0; p < lanes_.size(); ++p) {
      const Lane::Turn turn = lanes_[p].out->turn(number);
      const auto place = turn.channel->place(0, turn.cycle, timeout);
      if (place.data.empty()) return late(*lanes_[p].out, ".room", number);
      auto* const message = reinterpret_cast<double*>(place.data.data());
      const std::vector<std::uint32_t>& from = plan_.outgoing[p].from;
      const double* const values = memory_.view().sent(kind);
      message[kGammaAt] = dots.gamma;
      message[kDeltaAt] = dots.delta;
      message[kIterationAt] = number;
      team_.in_ranges(static_cast<std::uint32_t>(from.size()),
                      [&](std::uint32_t i) { message[kHead + i] = values[from[i]]; });
      const std::uint32_t bytes = message_bytes(static_cast<std::uint32_t>(from.size()));
      if (auto sent = turn.channel->publish(0, turn.cycle, bytes, payloads_[p]); !sent) return sent;
    }
    return wic::ok();
  }

  /// Stores the received values as ghosts and returns the other rank's share of the dot products.
  wic::Result<Dots> receive(std::size_t p, std::uint32_t number, wic::TimeNs timeout) {
    const Lane::Turn turn = lanes_[p].in->turn(number);
    const auto message = turn.channel->receive(0, turn.cycle, timeout);
    if (message.wait.status != wic::WaitStatus::satisfied) return late(*lanes_[p].in, ".data", number);
    const Incoming& in = plan_.incoming[p];
    const auto* const values = reinterpret_cast<const double*>(message.data.data());
    if (message.data.size() != message_bytes(static_cast<std::uint32_t>(in.global.size())) ||
        values[kIterationAt] != number) {
      return wic::failed("the CPU's rank received a message of another iteration than " + std::to_string(number));
    }
    if (!in.global.empty()) {
      std::memcpy(memory_.view().ghosts + in.ghost_begin, values + kHead, in.global.size() * sizeof(double));
    }
    const Dots dots{values[kGammaAt], values[kDeltaAt]};
    turn.channel->release(0, turn.cycle);
    return dots;
  }

  const RankPlan& plan_;
  const std::vector<Lanes> lanes_;
  std::vector<wic::Payload> payloads_;
  HostMemory memory_;
  HostTeam<SpinningGate> team_;
  CgState state_{0, 0};
};

}  // namespace sample::krylov
