// The 8-node hexahedron: trilinear shape functions, and the stiffness matrix with 2 x 2 x 2 Gauss points.
#pragma once

#include <array>
#include <cstdint>

namespace sample::fe {

using Vec3 = std::array<double, 3>;
inline constexpr std::uint32_t kCorners = 8;  ///< bits 0, 1 and 2 of a corner's number are its x, y and z coordinates

using ElementMatrix = std::array<std::array<double, kCorners>, kCorners>;

/// The derivatives of a corner's shape function along the element's local axes, each from -1 to 1.
inline Vec3 shape_gradient(std::uint32_t corner, const Vec3& at) {
  Vec3 factor{}, sign{};
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    sign[axis] = (corner >> axis & 1) != 0 ? 1.0 : -1.0;
    factor[axis] = (1 + sign[axis] * at[axis]) / 2;
  }
  return {sign[0] / 2 * factor[1] * factor[2], factor[0] * sign[1] / 2 * factor[2],
          factor[0] * factor[1] * sign[2] / 2};
}

/// The Jacobian's determinant and the shape functions' derivatives along x, y and z at one point.
struct PointGradients {
  double determinant;
  std::array<Vec3, kCorners> gradients;
};

inline PointGradients gradients_at(const std::array<Vec3, kCorners>& corners, const Vec3& at) {
  std::array<Vec3, kCorners> own;
  double j[3][3] = {};  // j[a][d]: derivative of coordinate d along local axis a
  for (std::uint32_t c = 0; c < kCorners; ++c) {
    own[c] = shape_gradient(c, at);
    for (int a = 0; a < 3; ++a) {
      for (int d = 0; d < 3; ++d) j[a][d] += own[c][a] * corners[c][d];
    }
  }
  const auto cofactor = [&](int a, int d) {
    const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
    return j[a1][d1] * j[a2][d2] - j[a1][d2] * j[a2][d1];
  };
  PointGradients result{};
  for (int d = 0; d < 3; ++d) result.determinant += j[0][d] * cofactor(0, d);
  for (std::uint32_t c = 0; c < kCorners; ++c) {
    for (int d = 0; d < 3; ++d) {
      double sum = 0;
      for (int a = 0; a < 3; ++a) sum += cofactor(a, d) * own[c][a];
      result.gradients[c][d] = sum / result.determinant;
    }
  }
  return result;
}

/// The element's part of the Laplace operator: integrals of products of the shape functions' gradients. The corners
/// must span a hexahedron without folds.
inline ElementMatrix stiffness(const std::array<Vec3, kCorners>& corners) {
  constexpr double kPoint = 0.57735026918962576;  // 1 / sqrt(3); each point's weight is 1
  ElementMatrix matrix{};
  for (std::uint32_t point = 0; point < 8; ++point) {
    const auto along = [&](std::uint32_t axis) { return (point >> axis & 1) != 0 ? kPoint : -kPoint; };
    const PointGradients at = gradients_at(corners, {along(0), along(1), along(2)});
    for (std::uint32_t i = 0; i < kCorners; ++i) {
      for (std::uint32_t k = 0; k < kCorners; ++k) {
        double product = 0;
        for (int d = 0; d < 3; ++d) product += at.gradients[i][d] * at.gradients[k][d];
        matrix[i][k] += at.determinant * product;
      }
    }
  }
  return matrix;
}

}  // namespace sample::fe
