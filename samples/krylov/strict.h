// Sums and products with separate rounding. Compilers may contract a * b + c into one rounding: nvcc does, and g++ may
// on some processors. Here CPU and GPU must agree in every bit, so that runs can be compared for equality.
#pragma once

#include "wic/platform.h"

namespace sample::krylov {

WIC_DEVICE inline double times(double a, double b) {
#if WIC_ON_GPU
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

WIC_DEVICE inline double plus(double a, double b) {
#if WIC_ON_GPU
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

WIC_DEVICE inline double minus(double a, double b) { return plus(a, -b); }

}  // namespace sample::krylov
