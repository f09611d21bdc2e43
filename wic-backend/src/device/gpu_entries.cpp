#include "src/device/gpu_entries.h"

#include <mutex>

#include "wic/gpu_entry.h"

namespace wic::detail {

namespace {

struct Entries {
  std::mutex mutex;
  std::vector<const void*> list;
};

Entries& entries() {
  static Entries* const all = new Entries;  // constructed at the first registration, in no order with other statics
  return *all;
}

}  // namespace

bool register_gpu_entry(const void* entry) {
  const std::lock_guard lock(entries().mutex);
  entries().list.push_back(entry);
  return true;
}

std::vector<const void*> gpu_entries() {
  const std::lock_guard lock(entries().mutex);
  return entries().list;
}

}  // namespace wic::detail
