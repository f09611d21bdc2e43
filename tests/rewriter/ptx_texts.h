// Small PTX modules for tests.
#pragma once

#include <string>

namespace wicprof::rewriter {

/// A module with one kernel, which has enough registers and its pointer in %rd1. `functions` stand before the kernel.
inline std::string kernel(const std::string& body, const std::string& functions = "") {
  return R"(.version 8.0
.target sm_90
.address_size 64

.extern .func helper
;
)" + functions +
         R"(.visible .entry k(
	.param .u64 k_param_0,
	.param .u32 k_param_1
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<20>;
	.reg .b64 	%rd<20>;

	ld.param.u64 	%rd2, [k_param_0];
	ld.param.u32 	%r1, [k_param_1];
	cvta.to.global.u64 	%rd1, %rd2;
)" + body +
         R"(
	ret;
}
)";
}

}  // namespace wicprof::rewriter
