// The memory of another process of this machine, whose threads may run meanwhile: what it has mapped, and its bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace wicprof::cli {

struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;  ///< offset: in the file
  std::string rights;                            ///< "r-xp"
  std::string device;
  std::uint64_t inode = 0;  ///< 0: of no file
  std::string path;         ///< as the process sees it; "[stack]", "[vdso]"; empty: of nothing

  bool executable() const { return rights.size() > 2 && rights[2] == 'x'; }
  bool same_file(const Mapping& other) const { return inode == other.inode && device == other.device; }
  /// "libc.so.6"
  std::string_view file_name() const { return std::string_view(path).substr(path.rfind('/') + 1); }
};

/// One thread at a time. Needs the right to trace the process.
class AddressSpace {
 public:
  explicit AddressSpace(pid_t pid) : pid_(pid) { refresh(); }

  pid_t pid() const { return pid_; }
  /// Looks at /proc/PID/maps again, and forgets what has been read.
  void refresh();
  /// Forgets what has been read: the process may have changed it.
  void forget() { pages_.clear(); }

  const std::vector<Mapping>& mappings() const { return mappings_; }
  /// nullptr: nothing is mapped there.
  const Mapping* at(std::uint64_t address) const;

  /// False: not all of it can be read. Each page is read once between two forget().
  bool read(std::uint64_t address, void* to, std::size_t bytes);
  template <class Value>
  std::optional<Value> value(std::uint64_t address) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value found;
    if (!read(address, static_cast<void*>(&found), sizeof found)) return std::nullopt;
    return found;
  }
  /// Up to its NUL; nullopt: not readable, or longer than `most`.
  std::optional<std::string> text(std::uint64_t address, std::size_t most);
  /// False: not all of it was written.
  bool write(std::uint64_t address, const void* from, std::size_t bytes);

 private:
  static constexpr std::size_t kPage = 4096;
  const char* page(std::uint64_t begin);

  pid_t pid_;
  std::vector<Mapping> mappings_;
  std::unordered_map<std::uint64_t, std::string> pages_;
};

}  // namespace wicprof::cli
