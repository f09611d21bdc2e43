// Where a kernel may store, as far as its code shows: through which pointer parameters, and to which variables of the
// module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rewriter/text/module.h"

namespace wicprof::rewriter {

/// Stores and atomic operations that go through one pointer.
struct StoreTarget {
  int parameter = -1;  ///< index of the kernel's parameter that holds the pointer; -1: none
  std::string symbol;  ///< of the module's variable, where there is no parameter
  /// The store is at pointer + `offset`; else at a distance that the code computes.
  bool exact = false;
  std::int64_t offset = 0;  ///< bytes

  bool operator==(const StoreTarget&) const = default;
};

struct KernelStores {
  std::string kernel;  ///< symbol
  std::vector<StoreTarget> targets;
  bool elsewhere = false;  ///< it also stores through pointers that it loads, or calls functions
};

/// Of all kernels of the module that store to global memory.
std::vector<KernelStores> stores_of(const Module& module);

}  // namespace wicprof::rewriter
