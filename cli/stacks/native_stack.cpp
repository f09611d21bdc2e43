#include "cli/stacks/native_stack.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "cli/stacks/stack_walk.h"
#include "protocol/file_text.h"
#include "protocol/symbol_name.h"
#include "rewriter/images/elf.h"

namespace wicprof::cli {

namespace {

constexpr off_t kLargestFile = off_t{64} << 20;

/// Where a thread sleeps in a call of the system; all other registers are 0, with which no frame is found. nullopt: it
/// runs, or the system does not tell.
std::optional<FrameValues> place_of(pid_t pid, pid_t thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, thread));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  FrameValues values{};
  // The number of the call and its six arguments come first.
  const int found = std::sscanf(line.c_str(), "%*d %*s %*s %*s %*s %*s %*s %" SCNx64 " %" SCNx64,
                                &values[kStackPointer], &values[kReturnAddress]);
  return found == 2 ? std::optional(values) : std::nullopt;
}

/// The file of a mapping as the process sees it; empty: replaced since, too large, or gone.
std::string file_of(pid_t pid, const Mapping& mapping) {
  const std::string path = fmt::format("/proc/{}/root{}", pid, mapping.path);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || status.st_ino != mapping.inode || status.st_size > kLargestFile) return {};
  return file_text(path);
}

/// Names the frames whose addresses, as the file has them, are the keys.
void name_frames(const rewriter::Elf& file, std::uint32_t table,
                 const std::multimap<std::uint64_t, analyzer::NativeFrame*>& frames) {
  rewriter::for_each_function(file, table, [&](const rewriter::ElfFunction& function) {
    if (!function.is_defined) return true;
    for (auto at = frames.lower_bound(function.address);
         at != frames.end() && at->first - function.address < function.bytes; ++at) {
      if (at->second->function.empty()) at->second->function = demangled(function.name());
    }
    return true;
  });
}

}  // namespace

std::vector<analyzer::NativeFrame> native_stack(pid_t pid, pid_t thread) {
#if defined(__x86_64__)
  const std::optional<FrameValues> place = place_of(pid, thread);
  if (!place) return {};
  AddressSpace memory(pid);
  StackWalk walk = walk_stack(memory, *place);
  if (place_of(pid, thread) != place) return {};  // it has gone on meanwhile
  if (walk.frames.size() > kMostNativeFrames) walk.frames.resize(kMostNativeFrames);
  std::vector<analyzer::NativeFrame> frames(walk.frames.size());
  std::map<const Mapping*, std::multimap<std::uint64_t, analyzer::NativeFrame*>> of_objects;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::uint64_t code = walk.frames[i].code;
    const Mapping* const mapping = memory.at(code);
    const auto object = mapping == nullptr || mapping->inode == 0 ? std::nullopt : MappedObject::of(memory, *mapping);
    frames[i].object = mapping == nullptr ? "" : std::string(mapping->file_name());
    if (object) of_objects[mapping].emplace(code - object->bias(), &frames[i]);
  }
  for (const auto& [mapping, of_object] : of_objects) {
    const std::string bytes = file_of(pid, *mapping);
    const Result<rewriter::Elf> file = rewriter::read_elf(bytes);
    if (!file) continue;
    name_frames(*file, SHT_SYMTAB, of_object);
    name_frames(*file, SHT_DYNSYM, of_object);
  }
  return frames;
#else
  (void)pid, (void)thread;
  return {};
#endif
}

}  // namespace wicprof::cli
