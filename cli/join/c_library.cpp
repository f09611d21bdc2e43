#include "cli/join/c_library.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace wicprof::cli {

namespace {

constexpr std::string_view kNotWithin[] = {
    // the allocator's locks
    "malloc", "calloc", "realloc", "reallocarray", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc",
    "pvalloc", "malloc_trim", "malloc_info", "malloc_stats", "mallinfo", "mallinfo2", "mallopt", "__libc_malloc",
    "__libc_calloc", "__libc_realloc", "__libc_free", "__libc_memalign", "__libc_freeres",
    // the loader's
    "dlopen", "dlmopen", "dlclose", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dlerror", "dl_iterate_phdr",
    "__libc_dlopen_mode", "__libc_dlsym", "__libc_dlclose",
    // those of threads, and of what is called at the end of a thread, a fork or the program
    "pthread_create", "thrd_create", "pthread_exit", "thrd_exit", "pthread_getattr_np", "__register_atfork",
    "pthread_atfork", "exit", "quick_exit", "abort", "__cxa_finalize", "__cxa_atexit", "__cxa_at_quick_exit", "on_exit",
    "__cxa_thread_atexit_impl", "fork", "_Fork", "__fork", "__libc_fork", "vfork", "posix_spawn", "posix_spawnp",
    "system", "popen", "daemon",
    // those of the environment
    "setenv", "putenv", "unsetenv", "clearenv"};
constexpr std::string_view kOfMutex[] = {
    // of mutexes
    "pthread_mutex_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "mtx_lock", "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    // of what threads wait for
    "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_barrier_wait", "pthread_once",
    "sem_wait",
    // any system call
    "syscall"};

/// Where these bytes are in the code of an object; 0: nowhere.
std::uint64_t find_code(AddressSpace& memory, const MappedObject& object, std::string_view bytes) {
  for (const Mapping& mapping : memory.mappings()) {
    if (!mapping.executable()) continue;
    const auto of = MappedObject::of(memory, mapping);
    if (!of || of->begin() != object.begin()) continue;
    std::string code(mapping.end - mapping.begin, '\0');
    if (!memory.read(mapping.begin, code.data(), code.size())) continue;
    const std::size_t at = code.find(bytes);
    if (at != std::string::npos) return mapping.begin + at;
  }
  return 0;
}

/// Whether one of these functions calls `callee` directly.
bool calls(AddressSpace& memory, const std::vector<CodeRange>& functions, std::uint64_t callee) {
  for (const CodeRange& function : functions) {
    std::string code(function.end - function.begin, '\0');
    if (!memory.read(function.begin, code.data(), code.size())) continue;
    for (std::size_t at = code.find('\xe8'); at != std::string::npos; at = code.find('\xe8', at + 1)) {
      std::int32_t distance = 0;
      if (at + 1 + sizeof distance > code.size()) break;
      std::memcpy(&distance, code.data() + at + 1, sizeof distance);
      if (function.begin + at + 5 + static_cast<std::uint64_t>(std::int64_t{distance}) == callee) return true;
    }
  }
  return false;
}

/// From the code of __errno_location(): mov DISTANCE(%rip), %rax; add %fs:0, %rax; ret.
std::optional<std::int64_t> find_errno(AddressSpace& memory, std::uint64_t function) {
  constexpr std::array<std::uint8_t, 4> kBranchTarget{0xf3, 0x0f, 0x1e, 0xfa};
  if (memory.value<std::array<std::uint8_t, 4>>(function) == kBranchTarget) function += kBranchTarget.size();
  constexpr std::array<std::uint8_t, 3> kLoad{0x48, 0x8b, 0x05};
  constexpr std::array<std::uint8_t, 10> kAdd{0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3};
  const auto distance = memory.value<std::int32_t>(function + kLoad.size());
  const std::uint64_t next = function + kLoad.size() + 4;
  if (memory.value<std::array<std::uint8_t, 3>>(function) != kLoad || !distance ||
      memory.value<std::array<std::uint8_t, 10>>(next) != kAdd)
    return std::nullopt;
  return memory.value<std::int64_t>(next + static_cast<std::uint64_t>(std::int64_t{*distance}));
}

/// Of a function that is one call of the system and nothing else, where the call is; 0: it is not.
std::uint64_t bare_call(AddressSpace& memory, std::uint64_t function, std::uint8_t number) {
  const std::array<std::uint8_t, 8> expected{0xb8, number, 0, 0, 0, 0x0f, 0x05, 0xc3};
  for (const std::uint64_t at : {function, function + 4})
    if (memory.value<std::array<std::uint8_t, 8>>(at) == expected) return at + 5;
  return 0;
}

/// "libc.so.6" is a link to "libc-2.31.so" before glibc 2.34.
bool is_file(const Mapping& mapping, std::string_view name, std::string_view end) {
  const std::string_view file = mapping.file_name();
  if (!file.starts_with(name)) return false;
  return file.substr(name.size()).starts_with(end) || file.substr(name.size()).starts_with("-2.");
}

/// The parts of a C library that a process has mapped; nullopt for one that it has not.
struct Parts {
  std::optional<MappedObject> c, threads, loading;
  bool several = false;
};
Parts parts_of(AddressSpace& memory) {
  Parts parts;
  for (const Mapping& mapping : memory.mappings()) {
    if (!mapping.executable()) continue;
    std::optional<MappedObject>* const part = is_file(mapping, "libc", ".so.6")         ? &parts.c
                                              : is_file(mapping, "libpthread", ".so.0") ? &parts.threads
                                              : is_file(mapping, "libdl", ".so.2")      ? &parts.loading
                                                                                        : nullptr;
    if (part == nullptr) continue;
    const auto object = MappedObject::of(memory, mapping);
    if (!object) continue;
    parts.several = parts.several || (*part && (*part)->begin() != object->begin());
    if (!*part) *part = object;
  }
  return parts;
}

}  // namespace

bool is_c_library(const Mapping& mapping) {
  return is_file(mapping, "libc", ".so.6") || is_file(mapping, "libpthread", ".so.0") ||
         is_file(mapping, "libdl", ".so.2");
}

bool is_loader(const Mapping& mapping) { return is_file(mapping, "ld", "-linux"); }

Result<CLibrary> find_c_library(AddressSpace& memory) {
  const Parts parts = parts_of(memory);
  if (!parts.c) return unavailable("it has no glibc (libc.so.6): it is linked statically, or uses another C library");
  if (parts.several) return unavailable("it has more than one C library");
  CLibrary found;
  const auto function = [&](std::string_view name) {
    for (const std::optional<MappedObject>* part : {&parts.c, &parts.threads, &parts.loading}) {
      if (!*part) continue;
      if (const auto address = (*part)->function(memory, name)) return *address;
    }
    return std::uint64_t{0};
  };
  constexpr std::uint8_t kGetParent = 110;
  constexpr std::string_view kSignalReturn("\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
  found.create_thread = function("pthread_create");
  found.open_library = function("dlopen");
  found.load_error = function("dlerror");
  found.describe_address = function("dladdr");
  found.lock_files = function("_IO_list_lock");
  found.unlock_files = function("_IO_list_unlock");
  found.landing = function("getppid");
  found.landing_call = bare_call(memory, found.landing, kGetParent);
  found.signal_return = find_code(memory, *parts.c, kSignalReturn);
  const auto errno_offset = find_errno(memory, function("__errno_location"));
  const std::uint64_t needed[] = {found.create_thread, found.open_library, found.load_error,   found.describe_address,
                                  found.lock_files,    found.unlock_files, found.landing_call, found.signal_return};
  if (std::find(std::begin(needed), std::end(needed), 0) != std::end(needed) || !errno_offset)
    return unavailable("its C library is of a kind that wic-prof does not know");
  found.errno_offset = *errno_offset;
  const auto collect = [&](std::string_view name, std::vector<CodeRange>& to) {
    for (const std::optional<MappedObject>* part : {&parts.c, &parts.threads, &parts.loading}) {
      if (!*part) continue;
      const std::vector<CodeRange> ranges = (*part)->functions(memory, name);
      to.insert(to.end(), ranges.begin(), ranges.end());
    }
  };
  found.fork_locks_files = calls(memory, parts.c->functions(memory, "fork"), found.lock_files);
  for (const std::string_view name : kNotWithin) collect(name, found.not_within);
  for (const std::string_view name : kOfMutex) collect(name, found.of_mutex);
  return found;
}

}  // namespace wicprof::cli
