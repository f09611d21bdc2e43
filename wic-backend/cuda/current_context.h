// Makes a GPU's context the calling thread's current one for a scope. The thread's own choice of a GPU, or that it has
// made none, is the same again afterwards: a program's threads call into the backend between calls of their own.
#pragma once

#include <cuda.h>

#include "protocol/result.h"

namespace wic::cuda {

/// The context that the CUDA runtime library uses on GPU number `ordinal`; creates the context if nobody has. The
/// process keeps the context, since the runtime library keeps it, too. Error: no driver, no such GPU, no memory.
wicprof::Result<CUcontext> primary_context(int ordinal);

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
