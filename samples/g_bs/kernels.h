// The kernels of a sort, queued in one stream per device: `SortPieces`, then for each phase that reaches beyond a piece
// some `Merge` kernels, which compare keys in different pieces of one device, and an `Exchange`.
#pragma once

#include "common/ranks.h"
#include "g_bs/layout.h"
#include "wic/receiver.h"
#include "wic/sender.h"

namespace sample::bs {

inline constexpr std::uint32_t kMaxDeviceBits = 3;

/// One step of a phase within a piece, which is in the block's shared memory. `first`: g of the piece's first key.
WIC_DEVICE inline void step_in_piece(const wic::Thread& thread, Record* piece, const Layout& layout,
                                     std::uint32_t first, std::uint32_t phase, std::uint32_t bit) {
  for (std::uint32_t i = thread.index(); i < layout.piece_keys() / 2; i += thread.block_size()) {
    const std::uint32_t low = ((i >> bit) << (bit + 1)) | (i & ((1u << bit) - 1));
    const std::uint32_t high = low | (1u << bit);
    const Record a = piece[low], b = piece[high];
    if ((a > b) == upwards(first + low, phase)) {
      piece[low] = b;
      piece[high] = a;
    }
  }
  thread.sync_block();
}

/// Generates the keys and sorts each piece: the first phases of the network.
struct SortPieces {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  Layout layout;
  std::uint32_t device;
  std::uint64_t seed;
  Record* records;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    auto* const piece = static_cast<Record*>(thread.shared());
    for (std::uint32_t p = thread.block(); p < layout.pieces(); p += thread.block_count()) {
      const std::uint32_t first = layout.global(device, p << layout.piece_bits);
      for (std::uint32_t i = thread.index(); i < layout.piece_keys(); i += thread.block_size()) {
        piece[i] = layout.first_record(seed, first + i);
      }
      thread.sync_block();
      for (std::uint32_t phase = 1; phase <= layout.piece_bits; ++phase) {
        for (std::uint32_t bit = phase; bit-- > 0;) step_in_piece(thread, piece, layout, first, phase, bit);
      }
      Record* const to = records + (std::size_t{p} << layout.piece_bits);
      for (std::uint32_t i = thread.index(); i < layout.piece_keys(); i += thread.block_size()) to[i] = piece[i];
      thread.sync_block();
    }
  }
};

/// kSteps steps of a phase at once, from `bit` downwards, between keys in different pieces of this device.
template <std::uint32_t kSteps>
struct Merge {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  Layout layout;
  std::uint32_t device;
  std::uint32_t phase;
  std::uint32_t bit;
  Record* records;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    constexpr std::uint32_t kWidth = 1u << kSteps;
    const std::uint32_t low_bit =
        bit - layout.device_bits - (kSteps - 1);  // of the last step, as a bit of the device's local index
    const std::uint32_t first = thread.block() * thread.block_size() + thread.index();
    const std::uint32_t stride = thread.block_count() * thread.block_size();
    for (std::uint32_t i = first; i < layout.local_keys() / kWidth; i += stride) {
      const std::uint32_t base = ((i >> low_bit) << (low_bit + kSteps)) | (i & ((1u << low_bit) - 1));
      // The phase's bit, which is above all of the steps' bits, sets the direction.
      const bool up = upwards(layout.global(device, base), phase);
      Record values[kWidth];
      for (std::uint32_t e = 0; e < kWidth; ++e) values[e] = records[base + (e << low_bit)];
      for (std::uint32_t half = kWidth / 2; half > 0; half /= 2) {
        for (std::uint32_t e = 0; e < kWidth; ++e) {
          if ((e & half) != 0) continue;
          const Record a = values[e], b = values[e | half];
          const bool swap = (a > b) == up;
          values[e] = swap ? b : a;
          values[e | half] = swap ? a : b;
        }
      }
      for (std::uint32_t e = 0; e < kWidth; ++e) records[base + (e << low_bit)] = values[e];
      thread.step();
    }
  }
};

/// The steps of a phase with other devices, then the steps within the pieces. A block sends all its messages and
/// receives them one by one: before it waits for a message it finishes the pieces of the previous one (C1), and after
/// the wait it compares its own keys with the received keys (C2).
struct Exchange {
  static constexpr int kMaxThreads = 1024, kMinBlocksPerSm = 1;

  Layout layout;
  Cut cut;
  std::uint32_t device;
  std::uint32_t phase;
  std::uint32_t steps;  ///< with other devices; the first is with the farthest device, the last has bit piece_bits
  // Index of the arrays: bit of the step - piece_bits.
  wic::Sender senders[kMaxDeviceBits];
  wic::Receiver receivers[kMaxDeviceBits];
  std::uint32_t send_cycles[kMaxDeviceBits];
  std::uint32_t receive_cycles[kMaxDeviceBits];
  std::uint32_t iteration;  ///< of the first step; the other steps count on
  Record* records;
  Failure* failure;
  std::uint64_t timeout_ns;

  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    if (failure->stops(thread, iteration)) return;
    const wic::Group group = wic::block_group(thread);
    for (std::uint32_t tag = thread.block(); tag < cut.tags; tag += thread.block_count()) {
      if (!send(thread, group, steps - 1, tag)) return;
    }
    for (std::uint32_t step = steps; step-- > 0;) {
      for (std::uint32_t tag = thread.block(); tag < cut.tags; tag += thread.block_count()) {
        if (step == 0 && tag >= thread.block_count()) finish(thread, tag - thread.block_count());
        if (!receive(thread, group, step, tag)) return;
        if (step > 0 && !send(thread, group, step - 1, tag)) return;
      }
    }
    if (thread.block() >= cut.tags) return;
    finish(thread, thread.block() + (cut.tags - 1 - thread.block()) / thread.block_count() * thread.block_count());
  }

 private:
  WIC_DEVICE std::uint32_t iteration_of(std::uint32_t step) const { return iteration + (steps - 1 - step); }

  WIC_DEVICE std::uint32_t partner(std::uint32_t step) const { return device ^ (1u << step); }

  /// Local index of key i of a message.
  WIC_DEVICE std::uint32_t local(std::uint32_t tag, std::uint32_t i) const {
    const std::uint32_t piece = tag + (i >> layout.piece_bits) * cut.tags;
    return (piece << layout.piece_bits) | (i & (layout.piece_keys() - 1));
  }

  // Gathers the pieces of the message. In the list of all keys they are devices * tags pieces apart.
  WIC_DEVICE bool send(const wic::Thread& thread, const wic::Group& group, std::uint32_t step,
                       std::uint32_t tag) const {
    const wic::Cycle cycle{send_cycles[step], iteration_of(step)};
    const wic::Place place = senders[step].place(thread, group, tag, cycle, timeout_ns);
    if (place.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, cycle.iteration, partner(step), tag, true);
      return false;
    }
    auto* const to = reinterpret_cast<Record*>(place.data);
    const std::uint32_t count = cut.count(tag) << layout.piece_bits;
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      to[i] = records[local(tag, i)];
      thread.step();
    }
    const std::uint32_t piece_bytes = layout.piece_keys() * static_cast<std::uint32_t>(sizeof(Record));
    const std::uint64_t first = layout.global(device, tag << layout.piece_bits);
    senders[step].publish(
        thread, group, tag, cycle, count * static_cast<std::uint32_t>(sizeof(Record)),
        wic::Payload::strided(first * sizeof(Record), piece_bytes,
                              std::uint64_t{piece_bytes} * layout.devices() * cut.tags, cut.count(tag)));
    return true;
  }

  // Keeps the smaller or the greater key of each pair; the partner keeps the other one.
  WIC_DEVICE bool receive(const wic::Thread& thread, const wic::Group& group, std::uint32_t step,
                          std::uint32_t tag) const {
    const wic::Cycle cycle{receive_cycles[step], iteration_of(step)};
    const wic::Message message = receivers[step].receive(thread, group, tag, cycle, timeout_ns);
    if (message.data == nullptr) {
      if (thread.index() == 0) failure->report(thread, cycle.iteration, partner(step), tag, false);
      return false;
    }
    const auto* const theirs = reinterpret_cast<const Record*>(message.data);
    const std::uint32_t count = message.bytes / static_cast<std::uint32_t>(sizeof(Record));
    for (std::uint32_t i = thread.index(); i < count; i += thread.block_size()) {
      const std::uint32_t at = local(tag, i);
      const Record mine = records[at], other = theirs[i];
      const bool smaller = keeps_smaller(layout.global(device, at), phase, layout.piece_bits + step);
      if ((other < mine) == smaller) records[at] = other;
      thread.step();
    }
    receivers[step].release(thread, group, tag, cycle);
    return true;
  }

  // The remaining steps of the phase within the pieces of a message.
  WIC_DEVICE void finish(const wic::Thread& thread, std::uint32_t tag) const {
    auto* const piece = static_cast<Record*>(thread.shared());
    for (std::uint32_t p = tag; p < cut.pieces; p += cut.tags) {
      Record* const at = records + (std::size_t{p} << layout.piece_bits);
      for (std::uint32_t i = thread.index(); i < layout.piece_keys(); i += thread.block_size()) piece[i] = at[i];
      thread.sync_block();
      const std::uint32_t first = layout.global(device, p << layout.piece_bits);
      for (std::uint32_t bit = layout.piece_bits; bit-- > 0;) step_in_piece(thread, piece, layout, first, phase, bit);
      for (std::uint32_t i = thread.index(); i < layout.piece_keys(); i += thread.block_size()) at[i] = piece[i];
      thread.sync_block();
    }
  }
};

}  // namespace sample::bs
