// Preloaded by test_join.py: an allocator of a program's own, in so far as it is another library's.
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t bytes);  // NOLINT: glibc's name
__attribute__((visibility("default"))) void* malloc(std::size_t bytes) { return __libc_malloc(bytes); }
}
