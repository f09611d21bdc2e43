// A kernel of a known length.
#pragma once

namespace {

constexpr unsigned long long kLongest = 100'000'000;  // ns: no kernel runs longer

/// Runs for so many ns, then counts itself, unless `count` is nullptr.
__global__ void busy(unsigned long long ns, unsigned* count) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < ns && now - begin < kLongest);
  if (count != nullptr) atomicAdd(count, 1u);
}

}  // namespace
