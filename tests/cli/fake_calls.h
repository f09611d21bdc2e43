// The callbacks of CUPTI around the calls of the test's driver. A file of its own, since fake_libcuda.cpp declares the
// driver's functions.
#pragma once

/// Once the library that CUDA_INJECTION64_PATH names is loaded, which loads the test's CUPTI.
void find_fake_cupti();
