// Waits for one or all of several words, and searches.
#include "cases.h"

CASE(wait_any_of) {
  unsigned i = 0;
  while (volatile_load(WORD(i)) == 0) i = (i + 1) % 16;
  out[ELEMENT] = i;
}
CASE(wait_any_of_count) {
  unsigned i = 0;
  const unsigned count = n % 16 + 1;
  while (volatile_load(WORD(i)) != want) {
    if (++i == count) i = 0;
  }
  out[ELEMENT] = i;
}
CASE(wait_any_of_nested) {
  unsigned found = ~0u;
  while (found == ~0u) {
    for (unsigned i = 0; i < 16; ++i) {
      if (load_acquire(WORD(i)) >= want) {
        found = i;
        break;
      }
    }
  }
  out[ELEMENT] = found;
}
CASE(wait_all_in_turn) {
  for (unsigned i = 0; i < 16; ++i) {
    while (volatile_load(WORD(i)) == 0) {
    }
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_four_unrolled) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    while (load_acquire(WORD(i)) < want) {
    }
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_either) {
  while (volatile_load(WORD(0)) == 0 && volatile_load(WORD(1)) == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_both) {
  while (volatile_load(WORD(0)) == 0 || volatile_load(WORD(1)) == 0) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_count_of_set) {
  unsigned set;
  do {
    set = 0;
    for (unsigned i = 0; i < 8; ++i) set += volatile_load(WORD(i));
  } while (set < 8 * want);
  out[ELEMENT] = set;
}
CASE(work_linear_search) {
  int i = blockIdx.x;
  while (i + 1 < (int)kElements && index[i] != (int)(ELEMENT * n % kElements)) ++i;
  out[ELEMENT] = i;
}
CASE(work_volatile_search) {
  const volatile int* at = index;
  while (*at != (int)(ELEMENT * 2 % 65536)) ++at;
  out[ELEMENT] = at - index;
}
CASE(work_length) {
  const char* text = (const char*)data + blockIdx.x;
  unsigned length = 0;
  while (text[length] != 0 || length < 16 * n) ++length;
  out[ELEMENT] = length;
}
CASE(work_binary_search) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned low = 0, high = kElements;
    const float key = data[(ELEMENT + i) % kElements];
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (*(volatile float*)&data[middle] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    sum += low;
  }
  out[ELEMENT] = sum;
}
CASE(work_maximum) {
  float most = 0;
  for (unsigned i = 0; i < 4 * n; ++i) most = fmaxf(most, data[(ELEMENT + 4096 * i) % kElements]);
  out[ELEMENT] = most;
}
