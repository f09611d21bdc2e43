// From an image that a program loads to the code that it gets in its place, or the reason why it keeps its own.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

#include "collector/rewrite/code_cache.h"
#include "collector/rewrite/load_steps.h"
#include "collector/rewrite/rewrite_driver.h"
#include "rewriter/load/replacement.h"

namespace wicprof::collector {

/// The device that code is for.
struct CodeTarget {
  CUdevice device = 0;
  int architecture = 0;  ///< 90 for sm_90
};

/// Tells builds of the library that holds `code` apart: the driver's version is that of its interface alone.
std::string build_of(const void* code);

/// The name in the cache of what becomes of an image; empty: it is not kept, since there is no PTX in it. It differs
/// for other builds of the driver, and for settings of the environment with which the driver compiles nothing.
std::string cache_key(const RewriteDriver& driver, std::string_view bytes, const CodeTarget& target);

/// From the cache, without any load by the driver; or analysed, tried beside the original, and kept under `key`.
/// `bytes` are those of `image`, which the driver can load. Makes calls of the driver: within OwnCode.
rewriter::Replacement patched_code_of(const RewriteDriver& driver, const CodeCache& cache, const std::string& key,
                                      const void* image, std::string_view bytes, const CodeTarget& target,
                                      LoadSteps& steps);

/// Only analysed: what the image's PTX is, in Replacement::unpatched.
rewriter::Replacement analysed(std::string_view bytes, const CodeTarget& target);

}  // namespace wicprof::collector
