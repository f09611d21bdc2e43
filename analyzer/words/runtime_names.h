// Which kernels and threads are not the program's own, and what the program calls its kernels.
#pragma once

#include <string>
#include <string_view>

namespace wicprof::analyzer {

/// What the program calls the kernel `function`, a readable name without result type and parameters: the runtime wraps
/// each kernel that it launches, so that "wic::detail::gpu_entry<app::Step>" is "app::Step". Other names stay.
std::string without_wrapper(std::string function);
/// Whether the kernel is the runtime's own, such as the one that compares clocks.
bool is_runtime_kernel(std::string_view name);
/// Whether the kernel is one of NCCL's, also where no call of NCCL is known for it.
bool is_kernel_of_nccl(std::string_view name);
/// Whether a thread of this name belongs to the recorder, to the runtime or to the CUDA driver. Threads without a name
/// of their own have the program's.
bool is_runtime_thread(std::string_view name);

}  // namespace wicprof::analyzer
