#include "protocol/owner.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string_view>

namespace wicprof {

namespace {

// Whether one line of /proc/PID/maps ("begin-end ... path") shows the session's file at that address.
bool shows(std::string_view line, std::uint64_t address, std::string_view file_name) {
  std::uint64_t begin = 0, end = 0;
  const auto first = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
  if (first.ec != std::errc() || first.ptr == line.data() + line.size() || *first.ptr != '-') return false;
  if (std::from_chars(first.ptr + 1, line.data() + line.size(), end, 16).ec != std::errc()) return false;
  return begin <= address && address < end && line.find(file_name) != std::string_view::npos;
}

enum class Mapped { yes, no, unknown };

Mapped mapped(std::uint32_t pid, std::uint64_t address, const std::string& session_path) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) return Mapped::unknown;
  const std::string file_name = session_path.substr(session_path.rfind('/') + 1);
  for (std::string line; std::getline(maps, line);) {
    if (shows(line, address, file_name)) return Mapped::yes;
  }
  return maps.bad() ? Mapped::unknown : Mapped::no;  // the file of an ending process is empty
}

}  // namespace

std::uint64_t pid_namespace_of_this_process() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

bool Owner::claim(const void* session) {
  std::uint32_t free = 0;
  if (!pid.compare_exchange_strong(free, static_cast<std::uint32_t>(getpid()))) return false;
  claims.fetch_add(1, std::memory_order_relaxed);
  pid_namespace.store(pid_namespace_of_this_process(), std::memory_order_relaxed);
  mapping.store(reinterpret_cast<std::uintptr_t>(session), std::memory_order_release);
  return true;
}

void Owner::give_back() {
  mapping.store(0, std::memory_order_relaxed);
  pid_namespace.store(0, std::memory_order_relaxed);
  pid.store(0, std::memory_order_release);
}

void Owner::let_go(const void* session) {
  if (pid.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(getpid())) return;
  std::uint64_t own = reinterpret_cast<std::uintptr_t>(session);
  mapping.compare_exchange_strong(own, kLetGo, std::memory_order_release);
}

bool Owner::take_back(std::uint32_t gone) {
  constexpr std::uint32_t kNobody = 0xffffffff;  // neither free nor held
  if (!pid.compare_exchange_strong(gone, kNobody)) return false;
  give_back();
  return true;
}

std::uint32_t gone_owner(const Owner& owner, const std::string& session_path, OwnerLook look) {
  const std::uint32_t claims = owner.claims.load(std::memory_order_acquire);
  const std::uint32_t pid = owner.pid.load(std::memory_order_acquire);
  const std::uint64_t address = owner.mapping.load(std::memory_order_acquire);
  if (pid == 0 || address == 0) return 0;
  if (address == Owner::kLetGo) return pid;
  static const std::uint64_t own_namespace = pid_namespace_of_this_process();
  const std::uint64_t of_owner = owner.pid_namespace.load(std::memory_order_relaxed);
  if (of_owner == 0 || of_owner != own_namespace) return 0;
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return pid;
  if (look == OwnerLook::quick || mapped(pid, address, session_path) != Mapped::no) return 0;
  // A leaving holder gives back before it unmaps the session, so check that it has not just done so. It may have come
  // again, too, with the session at the same address.
  const bool is_the_same = owner.mapping.load(std::memory_order_acquire) == address &&
                           owner.claims.load(std::memory_order_relaxed) == claims;
  return is_the_same ? pid : 0;
}

}  // namespace wicprof
