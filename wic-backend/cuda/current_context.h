// Makes a GPU's context the calling thread's current one for a scope. The thread's own choice of a GPU, or that it has
// made none, is the same again afterwards: a program's threads call into the backend between calls of their own.
#pragma once

#include <cuda.h>

#include "protocol/result.h"

namespace wic::cuda {

/// The context in which the program uses GPU number `ordinal`: the calling thread's current one, if it is of that GPU,
/// else the one that the CUDA runtime library uses, which is created if nobody has. The process keeps the latter, since
/// the runtime library keeps it, too. Error: no driver, no such GPU, no memory.
wicprof::Result<CUcontext> program_context(int ordinal);

/// Costs some tens of nanoseconds. Any thread; scopes nest.
class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

 private:
  bool pushed_ = false;
};

}  // namespace wic::cuda
