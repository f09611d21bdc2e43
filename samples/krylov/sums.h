// The order in which the terms of a dot product are added: the same whoever adds them, and how many threads do.
//
// A chunk is 512 rows. Row i of it belongs to slot i % 256, which adds its two rows; the 256 slots fold into 16 columns
// (slots t, t + 16, ..., in this order) and the columns into one sum. The sums of the chunks go over 256 slots in the
// same way, and the sums of the ranks are added in the order of the ranks.
#pragma once

#include <cstdint>

#include "krylov/strict.h"
#include "wic/thread.h"

namespace sample::krylov {

inline constexpr std::uint32_t kSlots = 256;
inline constexpr std::uint32_t kColumns = 16;
inline constexpr std::uint32_t kChunkRows = 512;

WIC_DEVICE constexpr std::uint32_t chunks_of(std::uint32_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }

/// The two dot products that an iteration needs, or parts of them.
struct Dots {
  double gamma;  ///< (r, r)
  double delta;  ///< (w, r)

  WIC_DEVICE Dots operator+(const Dots& other) const { return {plus(gamma, other.gamma), plus(delta, other.delta)}; }
};

/// What a fold needs of memory: a block's shared memory, or a thread's own.
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

/// The slots, which the caller has filled.
inline Dots fold(FoldScratch& scratch) {
  for (std::uint32_t t = 0; t < kColumns; ++t) scratch.columns[t] = fold_column(scratch, t);
  return fold_columns(scratch);
}

/// The same by a block, all of whose threads call it after each has filled its slots. The answer is for thread 0 alone;
/// the scratch may be filled again when the call returns.
WIC_DEVICE inline Dots block_fold(const wic::Thread& thread, FoldScratch& scratch) {
  thread.sync_block();
  if (thread.index() < kColumns) scratch.columns[thread.index()] = fold_column(scratch, thread.index());
  thread.sync_block();
  return thread.index() == 0 ? fold_columns(scratch) : Dots{0, 0};
}

/// What a slot adds of the chunks' sums.
WIC_DEVICE inline Dots slot_of_chunks(const Dots* chunks, std::uint32_t count, std::uint32_t slot) {
  Dots sum{0, 0};
  for (std::uint32_t c = slot; c < count; c += kSlots) sum = sum + chunks[c];
  return sum;
}

/// The sum of a rank, from those of its chunks.
inline Dots sum_of_chunks(const Dots* chunks, std::uint32_t count) {
  FoldScratch scratch;
  for (std::uint32_t s = 0; s < kSlots; ++s) scratch.slots[s] = slot_of_chunks(chunks, count, s);
  return fold(scratch);
}

}  // namespace sample::krylov
