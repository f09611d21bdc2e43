// The 26 directions of the exchange: 18 lead to other ranks and 8 back to the same rank.
//
// The ranks form a ring along x, and each rank is its own neighbour along y and z. Directions with x = -1 or +1 are
// messages: each side has 1 face, 4 edges and 4 corners. Directions with x = 0 are copies within the rank. Every ghost
// cell belongs to one direction and is written once per iteration, in any order.
#pragma once

#include "c_h3d/brick.h"

namespace sample::h3d {

struct Direction {
  int x, y, z;

  WIC_DEVICE Direction opposite() const { return {-x, -y, -z}; }
};

/// The content of a message; each class has a separate wait site.
enum class MessageClass : std::uint32_t { face = 0, edge = 1, corner = 2 };
inline constexpr std::uint32_t kMessageClasses = 3;

inline constexpr std::uint32_t kPerSide = 9;
inline constexpr std::uint32_t kMessages = 2 * kPerSide;  ///< 0..8 to the left, 9..17 to the right

WIC_DEVICE inline std::uint32_t side_of(std::uint32_t message) { return message / kPerSide; }

/// The k-th direction towards x: 0 a face, 1..4 an edge, 5..8 a corner.
WIC_DEVICE inline Direction across(int x, std::uint32_t k) {
  if (k == 0) return {x, 0, 0};
  const int last_bit = (k - 1) % 2 == 0 ? -1 : 1;
  if (k < 3) return {x, last_bit, 0};
  if (k < 5) return {x, 0, last_bit};
  return {x, k < 7 ? -1 : 1, last_bit};
}
WIC_DEVICE inline Direction direction_of(std::uint32_t message) {
  return across(side_of(message) == 0 ? -1 : 1, message % kPerSide);
}
WIC_DEVICE inline MessageClass class_of(std::uint32_t message) {
  const std::uint32_t k = message % kPerSide;
  return k == 0 ? MessageClass::face : k < 5 ? MessageClass::edge : MessageClass::corner;
}

/// The message in the opposite direction.
WIC_DEVICE inline std::uint32_t opposite_of(std::uint32_t message) {
  const std::uint32_t k = message % kPerSide;
  const std::uint32_t back = k == 0 ? 0 : k < 5 ? (k - 1) / 2 * 2 + 1 + k % 2 : 13 - k;
  return (1 - side_of(message)) * kPerSide + back;
}

inline constexpr std::uint32_t kSelfCopies = 8;
WIC_DEVICE inline Direction self_direction(std::uint32_t copy) { return across(0, copy + 1); }

namespace detail {

struct Reach {
  std::uint32_t begin, size;
};
WIC_DEVICE inline Reach own_reach(std::uint32_t n, int d) {
  if (d == 0) return {1, n};
  return {d > 0 ? n : 1, 1};
}
WIC_DEVICE inline Reach ghost_reach(std::uint32_t n, int d) {
  if (d == 0) return {1, n};
  return {d > 0 ? n + 1 : 0, 1};
}
WIC_DEVICE inline Box box_of(Reach x, Reach y, Reach z) { return {x.begin, y.begin, z.begin, x.size, y.size, z.size}; }

}  // namespace detail

/// The outermost own cells in a direction: the content of the message sent there.
WIC_DEVICE inline Box own_box(const Brick& brick, Direction d) {
  return detail::box_of(detail::own_reach(brick.nx, d.x), detail::own_reach(brick.n, d.y),
                        detail::own_reach(brick.n, d.z));
}
/// The ghost cells in a direction: filled by the message received from there.
WIC_DEVICE inline Box ghost_box(const Brick& brick, Direction d) {
  return detail::box_of(detail::ghost_reach(brick.nx, d.x), detail::ghost_reach(brick.n, d.y),
                        detail::ghost_reach(brick.n, d.z));
}

}  // namespace sample::h3d
