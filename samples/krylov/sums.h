// The fixed order in which the terms of a dot product are added, independent of processor and number of threads.
//
// A chunk is 512 rows. Row i of a chunk belongs to slot i % 256, which adds its two rows; the 256 slots fold into 16
// columns (slots t, t + 16, ..., in this order) and the columns into one sum. The chunks' sums go through 256 slots in
// the same way, and the ranks' sums are added in rank order.
#pragma once

#include <cstdint>

#include "krylov/strict.h"
#include "wic/thread.h"

namespace sample::krylov {

inline constexpr std::uint32_t kSlots = 256;
inline constexpr std::uint32_t kColumns = 16;
inline constexpr std::uint32_t kChunkRows = 512;

WIC_DEVICE constexpr std::uint32_t chunks_of(std::uint32_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }

/// The two dot products of an iteration, or partial sums of them.
struct Dots {
  double gamma;  ///< (r, r)
  double delta;  ///< (w, r)

  WIC_DEVICE Dots operator+(const Dots& other) const { return {plus(gamma, other.gamma), plus(delta, other.delta)}; }
};

/// Memory for a fold: a block's shared memory, or a thread's local memory.
struct FoldScratch {
  Dots slots[kSlots];
  Dots columns[kColumns];
};

WIC_DEVICE inline Dots fold_column(const FoldScratch& scratch, std::uint32_t column) {
  Dots sum{0, 0};
  for (std::uint32_t i = column; i < kSlots; i += kColumns) sum = sum + scratch.slots[i];
  return sum;
}
WIC_DEVICE inline Dots fold_columns(const FoldScratch& scratch) {
  Dots sum{0, 0};
  for (std::uint32_t t = 0; t < kColumns; ++t) sum = sum + scratch.columns[t];
  return sum;
}

/// Adds up the slots, which the caller has filled.
inline Dots fold(FoldScratch& scratch) {
  for (std::uint32_t t = 0; t < kColumns; ++t) scratch.columns[t] = fold_column(scratch, t);
  return fold_columns(scratch);
}

/// fold() by a block. All threads call it after filling their slots. The result is valid only in thread 0. The slots
/// may be refilled when the call returns.
WIC_DEVICE inline Dots block_fold(const wic::Thread& thread, FoldScratch& scratch) {
  thread.sync_block();
  if (thread.index() < kColumns) scratch.columns[thread.index()] = fold_column(scratch, thread.index());
  thread.sync_block();
  return thread.index() == 0 ? fold_columns(scratch) : Dots{0, 0};
}

/// A slot's sum over the chunks' sums.
WIC_DEVICE inline Dots slot_of_chunks(const Dots* chunks, std::uint32_t count, std::uint32_t slot) {
  Dots sum{0, 0};
  for (std::uint32_t c = slot; c < count; c += kSlots) sum = sum + chunks[c];
  return sum;
}

/// A rank's sum, from its chunks' sums.
inline Dots sum_of_chunks(const Dots* chunks, std::uint32_t count) {
  FoldScratch scratch;
  for (std::uint32_t s = 0; s < kSlots; ++s) scratch.slots[s] = slot_of_chunks(chunks, count, s);
  return fold(scratch);
}

}  // namespace sample::krylov
