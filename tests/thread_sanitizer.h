// ThreadSanitizer clears 0.8 MB for each thread of a simulated block, which is most of such a test's time: where the
// number of threads is not what is tested, a block has fewer of them there.
#pragma once

namespace wicprof {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace wicprof
