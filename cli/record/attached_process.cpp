#include "cli/record/attached_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/files/exe_path.h"
#include "cli/join/join_process.h"
#include "cli/record/loadable.h"
#include "cli/terminal/messages.h"
#include "protocol/environment.h"
#include "protocol/file_text.h"
#include "protocol/own_file.h"
#include "protocol/process.h"
#include "protocol/session.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kAnswers = 10 * kSecond;  // until an awake library counts as one that does not answer
constexpr TimeNs kLeaves = 5 * kSecond;    // until it counts as one that stays for now
constexpr TimeNs kLook = 2 * kMillisecond;

std::string proc(pid_t pid, const char* what) { return fmt::format("/proc/{}/{}", pid, what); }

/// "process 4242 (python3)"
std::string words_of(pid_t pid) {
  return fmt::format("process {} ({})", pid, executable_name_of(static_cast<std::uint32_t>(pid)));
}

/// State and start time, as the system has them; empty: the process is gone.
struct Life {
  char state = 0;
  std::string started;
  bool over() const { return started.empty() || state == 'Z' || state == 'X'; }
};
Life life_of(pid_t pid) {
  const std::string stat = file_text(proc(pid, "stat"));
  const std::size_t name_end = stat.rfind(')');  // then " STATE PPID ...", the start time being the 20th of these
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return {};
  Life life{stat[name_end + 2], {}};
  std::size_t at = name_end + 2;
  for (int field = 3; field < 22 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at != std::string::npos) life.started = stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
  return life;
}

std::uint64_t namespace_of(pid_t pid) {
  struct stat info {};
  return stat(proc(pid, "ns/pid").c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_ino) : 0;
}

/// What a process has mapped, as far as that matters here.
struct Mapped {
  std::string page;  ///< path of its dormant library's page; empty: none
  std::uint64_t inode = 0;
  bool library = false, cuda = false;
};
Mapped mapped_by(pid_t pid) {
  Mapped found;
  std::ifstream maps(proc(pid, "maps"));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(path);
    found.library = found.library || name.ends_with(kInjectionLibrary);
    found.cuda = found.cuda || name.find("libcuda.so") != std::string_view::npos;
    const std::string own = fmt::format("/{}.", pid);
    const std::size_t file = name.rfind('/');
    if (!name.ends_with(kDormantSuffix) || !name.substr(file).starts_with(own)) continue;
    found.page = name;
    const std::size_t before = line.find_last_not_of(' ', path - 1);  // of the inode's last digit
    const std::size_t begin = line.rfind(' ', before) + 1;
    std::from_chars(line.data() + begin, line.data() + path, found.inode);
  }
  return found;
}

std::string environment_of(pid_t pid, const std::string& name) {
  const std::string all = file_text(proc(pid, "environ"));
  for (std::size_t at = 0; at < all.size(); at = std::min(all.find('\0', at), all.size()) + 1) {
    if (all.compare(at, name.size() + 1, name + "=") == 0) return std::string(all.c_str() + at + name.size() + 1);
  }
  return {};
}

/// Our library; empty: it is not where wic-prof has it.
std::string own_library() { return beside_binary(std::string("../lib/") + kInjectionLibrary).value_or(std::string()); }

/// How to start a program so that it needs no ptrace.
std::string cure() {
  const std::string library = own_library();
  return fmt::format(
      "start it with {}={} in its environment, which costs nothing until you attach, or with wic-prof run",
      kCudaInjectionVariable, library.empty() ? std::string("/path/to/") + kInjectionLibrary : library);
}

Error not_used_yet(const std::string& who) {
  return unavailable(fmt::format("{} has not used CUDA yet, so there is nothing to record; attach once it has", who));
}

/// Why a process without a page cannot be attached, and the cure.
Error why_no_page(pid_t pid, const Mapped& mapped) {
  const std::string who = words_of(pid);
  if (const std::string session = environment_of(pid, kSessionVariable); !session.empty()) {
    return unavailable(
        fmt::format("{} was started by wic-prof run, which records it: see wic-prof sessions, and dump, "
                    "toggle and stuck",
                    who));
  }
  if (mapped.library) {
    return unavailable(
        fmt::format("the library in {} cannot be woken: the system refused it a thread or a file in the "
                    "folder of sessions, it is a child of a process that has the library, or somebody "
                    "has removed its file; start the program anew",
                    who));
  }
  const std::string named = environment_of(pid, kCudaInjectionVariable);
  if (named.ends_with(kInjectionLibrary)) return not_used_yet(who);
  return unavailable(fmt::format("{} has no library of wic-prof{}; {}", who,
                                 named.empty() ? "" : fmt::format(" ({} is {})", kCudaInjectionVariable, named),
                                 cure()));
}

/// Loads our library into a process without it.
Result<> join(pid_t pid, const Mapped& mapped, bool quiet) {
  std::error_code unknown;
  const std::string who = words_of(pid), library = std::filesystem::canonical(own_library(), unknown).string();
  // A library that came by itself has tried to make its page. One that ptrace has loaded may not have been started.
  const bool prepared = environment_of(pid, kCudaInjectionVariable).ends_with(kInjectionLibrary);
  if (!environment_of(pid, kSessionVariable).empty() || (mapped.library && prepared)) return why_no_page(pid, mapped);
  if (!mapped.cuda) return not_used_yet(who);
  const auto refused = [&](const std::string& why) {
    return unavailable(fmt::format("cannot load the library of wic-prof into {}: {}. Or {}", who, why, cure()));
  };
  if (const std::string why = why_not_loadable(proc(pid, "exe"), library); !why.empty()) return refused(why);
  const Result<Joined> joined = join_process(pid, library, "InitializeInjection");
  if (!joined) return refused(joined.error().message);
  if (!quiet) {
    note(fmt::format("loaded wic-prof's library into {} by ptrace, which stopped one thread for {:.1f} ms", who,
                     static_cast<double>(joined->stopped) / kMillisecond));
  }
  return ok();
}

/// Whether this user may attach, as far as the process's owner and container say.
Result<> may_attach(pid_t pid) {
  struct stat info {};
  if (pid <= 0 || stat(fmt::format("/proc/{}", pid).c_str(), &info) != 0 || life_of(pid).over())
    return bad_input(fmt::format("there is no process {}", pid));
  if (info.st_uid != geteuid()) {
    return unavailable(fmt::format("{} belongs to user {}, and you are user {}: run wic-prof attach as its user",
                                   words_of(pid), info.st_uid, geteuid()));
  }
  const std::uint64_t of_process = namespace_of(pid);
  if (of_process == 0)
    return unavailable(fmt::format("the system does not show {} to you: {}", words_of(pid), std::strerror(errno)));
  if (of_process != pid_namespace_of_this_process())
    return unavailable(fmt::format("{} runs in another container: run wic-prof attach there", words_of(pid)));
  return ok();
}

/// The user's processes with a dormant library; with `join`, those that use CUDA without one.
std::vector<pid_t> attachable_processes(bool join) {
  std::vector<pid_t> found;
  DIR* const all = opendir("/proc");
  if (all == nullptr) return found;
  while (const dirent* entry = readdir(all)) {
    pid_t pid = 0;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc() || !may_attach(pid)) continue;
    const Mapped mapped = mapped_by(pid);
    if (join ? mapped.cuda && mapped.page.empty() : !mapped.page.empty()) found.push_back(pid);
  }
  closedir(all);
  std::sort(found.begin(), found.end());
  return found;
}

std::string list_of(const std::vector<pid_t>& pids) {
  std::vector<std::string> words;
  for (const pid_t pid : pids)
    words.push_back(fmt::format("{} ({})", pid, command_line_of(static_cast<std::uint32_t>(pid)).substr(0, 60)));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

DormantProgram::DormantProgram(DormantProgram&& other) noexcept
    : pid_(other.pid_), file_(std::exchange(other.file_, -1)) {}

DormantProgram::~DormantProgram() {
  if (file_ >= 0) close(file_);
}

Result<DormantProgram> DormantProgram::find(pid_t pid) {
  if (const Result<> may = may_attach(pid); !may) return may.error();
  const Mapped mapped = mapped_by(pid);
  if (mapped.page.empty()) return why_no_page(pid, mapped);
  struct stat info {};
  const int file = open(mapped.page.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  DormantProgram program(pid, file);
  if (file < 0 || fstat(file, &info) != 0 || !is_own(info) || static_cast<std::uint64_t>(info.st_ino) != mapped.inode) {
    return unavailable(fmt::format("cannot open {}, by which {} can be woken: {}", mapped.page, words_of(pid),
                                   file < 0 ? std::strerror(errno) : "it is another file now"));
  }
  DormantFile content;
  if (pread(file, static_cast<void*>(&content), sizeof content, 0) != static_cast<ssize_t>(sizeof content) ||
      content.version != kSessionVersion) {
    return unavailable(fmt::format(
        "the library in {} is of another release; use the wic-prof and the libraries of one release", words_of(pid)));
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return unavailable(
        fmt::format("{} is attached already; end that wic-prof attach first (Ctrl-C there)", words_of(pid)));
  }
  return program;
}

Result<DormantProgram> DormantProgram::find_or_join(pid_t pid, bool quiet) {
  if (const Result<> may = may_attach(pid); !may) return may.error();
  if (const Mapped mapped = mapped_by(pid); mapped.page.empty()) {
    if (const Result<> joined = join(pid, mapped, quiet); !joined) return joined.error();
  }
  return find(pid);
}

bool DormantProgram::still_there() const {
  struct stat info {};
  return fstat(file_, &info) == 0 && mapped_by(pid_).inode == static_cast<std::uint64_t>(info.st_ino);
}

Result<pid_t> process_to_attach(const std::string& named, bool join) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(named.data(), named.data() + named.size(), pid);
  if (error == std::errc() && end == named.data() + named.size()) return pid;
  const auto fitting_of = [&](const std::vector<pid_t>& all) {
    std::vector<pid_t> fitting;
    std::copy_if(all.begin(), all.end(), std::back_inserter(fitting), [&](pid_t each) {
      const std::string thread = file_text(proc(each, "comm"));
      return executable_name_of(static_cast<std::uint32_t>(each)) == named || thread == named + "\n";
    });
    return fitting;
  };
  std::vector<pid_t> known = attachable_processes(false), fitting = fitting_of(known);
  if (fitting.empty() && join) {
    const std::vector<pid_t> others = attachable_processes(true);
    fitting = fitting_of(others);
    known.insert(known.end(), others.begin(), others.end());
  }
  if (fitting.size() == 1) return fitting.front();
  if (!fitting.empty()) return bad_input(fmt::format("several processes are '{}': {}", named, list_of(fitting)));
  return bad_input(fmt::format(
      "no process '{}' of yours {}; {}", named, join ? "uses CUDA" : "has wic-prof's library in it",
      known.empty() ? "nor does another: name a pid to learn why" : "those that can be attached: " + list_of(known)));
}

AttachedProcess::AttachedProcess(DormantProgram program, WakeRequest request, ControlBlock& control)
    : program_(std::move(program)),
      request_(std::move(request)),
      control_(control),
      started_(life_of(program_.pid()).started) {}

std::string AttachedProcess::text() const {
  const AttachControl& attach = control_.attach;
  return std::string(attach.text, strnlen(attach.text, sizeof attach.text));
}

bool AttachedProcess::wait_for_change(AttachState than, TimeNs patience) {
  for (const TimeNs until = now_ns() + patience; state() == than && now_ns() < until && !ended();)
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLook));
  return state() != than;
}

Result<> AttachedProcess::start() {
  if (const Result<> woken = program_.wake(request_); !woken) return woken;
  (void)wait_for_change(AttachState::asleep, kAnswers);
  if (state() == AttachState::recording) return ok();
  if (ended()) return unavailable(fmt::format("process {} has ended", pid()));
  if (state() == AttachState::failed) return unavailable(fmt::format("cannot record {}: {}", words_of(pid()), text()));
  control_.attach.leave.store(1, std::memory_order_release);  // in case it wakes up later
  futex_wake_all(control_.attach.leave);
  return unavailable(fmt::format(
      "the library in {} does not answer: the process is stopped, or leaves an earlier recording only once a call of "
      "CUDA returns; try again",
      words_of(pid())));
}

std::optional<AppEnd> AttachedProcess::ended() {
  const Life life = life_of(pid());
  if (!life.over() && life.started == started_) return std::nullopt;
  return AppEnd{};
}

bool AttachedProcess::has_left() const { return state() == AttachState::left; }

std::string AttachedProcess::leave() {
  control_.attach.leave.store(1, std::memory_order_release);
  futex_wake_all(control_.attach.leave);
  if (wait_for_change(AttachState::recording, kLeaves)) return text();
  if (ended()) return {};
  if (!program_.still_there()) return "the process runs another program now (exec)";
  return "wic-prof's library is still in a call of the program, or the process is stopped: it leaves once that call "
         "returns";
}

}  // namespace wicprof::cli
