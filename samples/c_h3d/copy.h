// Copies of boxes of cells: into a message, out of a message, and within a rank. `stride` workers share a copy; this
// one is number `first`. The functions call `step` regularly, where a kernel on the CPU device yields.
#pragma once

#include "c_h3d/message.h"

namespace sample::h3d {

struct NoStep {
  WIC_DEVICE void operator()() const {}
};

template <class Step>
WIC_DEVICE void pack(const Brick& brick, const Box& box, const Cell* field, Cell* buffer, std::uint32_t first,
                     std::uint32_t stride, const Step& step) {
  const std::uint32_t cells = box.cells();
  for (std::uint32_t i = first; i < cells; i += stride) {
    buffer[i] = field[brick.index(box, i)];
    step();
  }
}

/// A GPU reads the buffer across the bus, where a read takes microseconds, so each thread keeps several reads in
/// flight.
template <class Step>
WIC_DEVICE void unpack(const Brick& brick, const Box& box, const Cell* buffer, Cell* field, std::uint32_t first,
                       std::uint32_t stride, const Step& step) {
  constexpr std::uint32_t kInFlight = 8;
  const std::uint32_t cells = box.cells();
  for (std::uint32_t begin = first; begin < cells; begin += kInFlight * stride) {
    Cell values[kInFlight] = {};
    for (std::uint32_t k = 0; k < kInFlight; ++k) {
      if (begin + k * stride < cells) values[k] = buffer[begin + k * stride];
    }
    for (std::uint32_t k = 0; k < kInFlight; ++k) {
      if (begin + k * stride < cells) field[brick.index(box, begin + k * stride)] = values[k];
    }
    step();
  }
}

/// Copies the ghosts of the eight directions in which a rank is its own neighbour.
template <class Step>
WIC_DEVICE void copy_self(const Brick& brick, Cell* field, std::uint32_t first, std::uint32_t stride,
                          const Step& step) {
  for (std::uint32_t copy = 0; copy < kSelfCopies; ++copy) {
    const Direction d = self_direction(copy);
    const Box from = own_box(brick, d.opposite());
    const Box to = ghost_box(brick, d);
    const std::uint32_t cells = to.cells();
    for (std::uint32_t i = first; i < cells; i += stride) {
      field[brick.index(to, i)] = field[brick.index(from, i)];
      step();
    }
  }
}

}  // namespace sample::h3d
