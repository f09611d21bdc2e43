#include "analyzer/trace/memory.h"

#include <malloc.h>

namespace wicprof::analyzer {

void prepare_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that may be asked for
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace wicprof::analyzer
