#pragma once
__device__ inline void spin(volatile unsigned* flag) {
  while (*flag == 0) {
  }
}
