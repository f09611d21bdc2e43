#include "collector/program/modules.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

namespace wicprof::collector {

namespace {

// What module_number() hashes: this many bytes at each end, and this many 8-byte words spread evenly between them.
constexpr std::size_t kEdgeBytes = 16 << 10;
constexpr std::size_t kSampledWords = 2048;

constexpr std::size_t kMaxModuleBytes = std::size_t{256} << 20;  // larger modules are not copied

class Fnv {
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace

std::uint64_t module_number(const void* cubin, std::size_t bytes) {
  const char* begin = static_cast<const char*>(cubin);
  Fnv sum;
  sum.add(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  if (bytes <= 2 * kEdgeBytes + kSampledWords * sizeof(std::uint64_t)) {
    sum.add(begin, bytes);
    return sum.value();
  }
  sum.add(begin, kEdgeBytes);
  sum.add(begin + bytes - kEdgeBytes, kEdgeBytes);
  const std::size_t step = (bytes - 2 * kEdgeBytes) / kSampledWords;
  for (std::size_t i = 0; i < kSampledWords; ++i) sum.add(begin + kEdgeBytes + i * step, sizeof(std::uint64_t));
  return sum.value();
}

std::uint64_t Modules::add(const void* cubin, std::size_t bytes) {
  if (cubin == nullptr || bytes == 0) return 0;
  const std::uint64_t number = module_number(cubin, bytes);
  const std::lock_guard lock(mutex_);
  Module& module = modules_[number];
  module.addresses.push_back(cubin);
  module.bytes = bytes;
  if (module.copy == nullptr) module.copy_tried = false;
  return number;
}

void Modules::forget(const void* cubin) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, module] : modules_) {
    const auto address = std::find(module.addresses.begin(), module.addresses.end(), cubin);
    if (address != module.addresses.end()) module.addresses.erase(address);
  }
}

Modules::Bytes Modules::copy(std::uint64_t number) {
  static const Bytes& none = *new Bytes(std::make_shared<const std::vector<char>>());  // leaked: exit handlers use it
  const std::lock_guard lock(mutex_);
  const auto found = modules_.find(number);
  if (found == modules_.end()) return none;
  Module& module = found->second;
  if (module.copy != nullptr) return module.copy;
  if (std::exchange(module.copy_tried, true) || module.addresses.empty() || module.bytes > kMaxModuleBytes) return none;
  // Copies by system call: if the driver has already freed the memory, the call fails where memcpy() would crash.
  std::vector<char> bytes;
  try {
    bytes.resize(module.bytes);
  } catch (const std::bad_alloc&) {
    return none;
  }
  const iovec to{bytes.data(), bytes.size()};
  const iovec from{const_cast<void*>(module.addresses.back()), bytes.size()};
  const ssize_t read = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  if (read != static_cast<ssize_t>(bytes.size()) || module_number(bytes.data(), bytes.size()) != number) return none;
  module.copy = std::make_shared<const std::vector<char>>(std::move(bytes));
  return module.copy;
}

void Modules::save_copies() {
  std::vector<std::pair<std::uint64_t, Bytes>> unsaved;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, module] : modules_) {
      if (module.copy != nullptr && !module.saved) unsaved.emplace_back(number, module.copy);
    }
  }
  // Writes without the lock, so that the program can load modules meanwhile.
  for (const auto& [number, bytes] : unsaved) {
    save(number, *bytes);
    const std::lock_guard lock(mutex_);
    if (const auto found = modules_.find(number); found != modules_.end()) found->second.saved = true;
  }
}

std::vector<std::uint64_t> Modules::unloaded() const {
  std::vector<std::uint64_t> numbers;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, module] : modules_) {
    if (module.addresses.empty()) numbers.push_back(number);
  }
  return numbers;
}

void Modules::drop(const std::vector<std::uint64_t>& numbers) {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t number : numbers) {
    const auto found = modules_.find(number);
    if (found == modules_.end() || !found->second.addresses.empty()) continue;
    if (found->second.copy == nullptr || found->second.saved) modules_.erase(found);
  }
}

void Modules::save(std::uint64_t number, const std::vector<char>& bytes) const {
  if (folder_.empty()) return;
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.cubin", static_cast<unsigned long long>(number));
  // Renames the file once it is complete, so that readers never see a partial module.
  const std::string path = folder_ + name, partial = path + "." + std::to_string(getpid());
  std::FILE* file = std::fopen(partial.c_str(), "wbe");
  if (file == nullptr) return;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(partial.c_str(), path.c_str()) != 0) unlink(partial.c_str());
}

}  // namespace wicprof::collector
