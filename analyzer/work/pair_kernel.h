// Kernels by name and launch shape: numbered, and described with their waves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/work/launch_shape.h"

namespace wicprof::analyzer {

/// A kernel whose launches all have the same shape.
struct PairKernel {
  std::string name;
  std::uint64_t blocks = 0;
  std::uint32_t threads_per_block = 0;
  std::uint32_t blocks_per_sm = 0;       ///< at once; 0: not known
  std::uint32_t blocks_per_cluster = 0;  ///< 0: no clusters
  /// The same number of blocks on each SM, all at once (nearly so with clusters): such a kernel usually computes
  /// several tiles per block. Its number of tiles, and so what its last wave of tiles leaves idle, is not in the trace.
  bool persistent = false;
  double waves = 0, last_wave_fill = 0;  ///< 0: not known
};

/// A kernel in one launch shape.
struct Launched {
  store::Name name;
  LaunchShape shape;
  bool operator==(const Launched&) const = default;
};

/// Numbers launches by name and shape, in order of first appearance.
class LaunchedNumbers {
 public:
  std::uint32_t number(const store::KernelRow& row);
  const Launched& operator[](std::uint32_t number) const { return list_[number]; }

 private:
  struct Hash {
    std::size_t operator()(const Launched& kernel) const;
  };
  std::unordered_map<Launched, std::uint32_t, Hash> numbers_;
  std::vector<Launched> list_;
};

PairKernel describe(const TraceModel& model, const Launched& kernel);

/// The places for the kernel's blocks. A persistent kernel has no more blocks per SM by choice.
std::uint32_t places_per_sm(const PairKernel& kernel, std::uint32_t sm_count);

}  // namespace wicprof::analyzer
