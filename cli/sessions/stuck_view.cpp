#include "cli/sessions/stuck_view.h"

#include <cxxabi.h>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "analyzer/stuck/trace_rows.h"
#include "analyzer/stuck/view_text.h"
#include "cli/sessions/open_entries.h"
#include "cli/stacks/child_processes.h"
#include "cli/stacks/native_stack.h"
#include "cli/stacks/python_stacks.h"
#include "protocol/file_text.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : symbol;
}

/// A word of another process; nothing where the system does not allow the look.
std::optional<std::uint32_t> word_of(std::uint32_t pid, std::uint64_t address) {
  std::uint32_t value = 0;
  const iovec to{&value, sizeof value};
  const iovec from{reinterpret_cast<void*>(address), sizeof value};
  if (process_vm_readv(static_cast<pid_t>(pid), &to, 1, &from, 1, 0) != sizeof value) return std::nullopt;
  return value;
}

void add_threads(std::uint32_t pid, std::vector<analyzer::SeenThread>& to) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  DIR* const folder = opendir(tasks.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const std::string task = tasks + "/" + entry->d_name;
    const std::string stat = file_text(task + "/stat");
    const std::size_t begin = stat.find('('), end = stat.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end + 2 >= stat.size()) continue;
    analyzer::SeenThread thread;
    thread.process = pid;
    thread.thread = static_cast<std::uint32_t>(std::atoi(entry->d_name));
    thread.name = stat.substr(begin + 1, end - begin - 1);
    thread.state = stat[end + 2];
    thread.kernel_place = file_text(task + "/wchan");
    if (thread.kernel_place == "0") thread.kernel_place.clear();
    to.push_back(std::move(thread));
  }
  closedir(folder);
}

/// The thread's number in its own PID namespace.
std::uint32_t own_number(const analyzer::SeenThread& thread) {
  const std::string status = file_text(fmt::format("/proc/{}/task/{}/status", thread.process, thread.thread));
  const std::size_t at = status.find("NSpid:");
  if (at == std::string::npos) return thread.thread;
  const std::string line = status.substr(at, status.find('\n', at) - at);
  return static_cast<std::uint32_t>(std::atoi(line.c_str() + line.find_last_of("\t ") + 1));
}

/// Gone, or a zombie: whose parent has not asked for its end.
bool has_ended(std::uint32_t pid) {
  if (process_is_gone(pid)) return true;
  std::vector<analyzer::SeenThread> threads;
  add_threads(pid, threads);
  return threads.size() == 1 && threads.front().state == 'Z';
}

/// Has the collectors read the words of patched loops that wait, and waits for it; not for long, since a driver may not
/// answer.
void ask_for_words(OpenWork& work) {
  const bool any = std::any_of(std::begin(work.waits), std::end(work.waits), [](const OpenEntry<OpenWait>& entry) {
    const std::optional<OpenWait> wait = entry.read();
    return wait && wait->source == WaitSource::patched && !process_is_gone(entry.pid());
  });
  if (!any) return;
  const std::uint32_t number = work.asked.fetch_add(1) + 1;
  constexpr TimeNs kPatience = 500 * kMillisecond;
  for (const TimeNs until = now_ns() + kPatience; work.answered.load() != number && now_ns() < until;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The writers that the collectors have named meanwhile are in the trace a moment later.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

analyzer::StuckView look_at_work(const OpenWork& work, std::uint32_t app) {
  analyzer::StuckView view;
  view.waits = entries(work.waits);
  view.calls = entries(work.calls);
  std::erase_if(view.calls, [](const auto& call) { return call.value.begin == 0; });
  view.mpi_calls = entries(work.mpi_calls, true);
  for (auto& [process, call] : view.mpi_calls)  // what else is there is of earlier calls
    std::fill(call.awaited.begin() + std::min<std::uint32_t>(call.requests, call.awaited.size()), call.awaited.end(),
              OpenMpiRequest());
  view.communicators = entries(work.communicators, true);
  view.nccl = entries(work.nccl, true);
  view.kernels = entries(work.kernels);
  std::sort(view.kernels.begin(), view.kernels.end(),
            [](const auto& a, const auto& b) { return a.value.launched < b.value.launched; });
  for (auto& kernel : view.kernels) copy_name(kernel.value.name, readable(kernel.value.name));
  view.sees_calls = work.watches_calls.load() != 0;
  view.sees_launches = work.watches_launches.load() != 0;
  for (const auto* const left_out :
       {&work.calls_left_out, &work.kernels_left_out, &work.waits_left_out, &work.mpi_left_out, &work.nccl_left_out}) {
    view.left_out += left_out->load();
  }
  for (const auto& [process, call] : view.calls) {
    view.call_values.push_back(call.waits_for_word != 0 ? word_of(process, call.handle) : std::nullopt);
  }
  std::set<std::uint32_t> pids{app};
  const auto add = [&](const auto& all) {
    for (const auto& of : all) pids.insert(of.process);
  };
  add(view.waits), add(view.calls), add(view.mpi_calls), add(view.communicators), add(view.nccl), add(view.kernels);
  for (const std::uint32_t pid : pids) {
    add_threads(pid, view.threads);
    view.processes.push_back({pid, "", {}, {}, !has_ended(pid), is_sharer(work, pid)});
  }
  view.now = now_ns();
  return view;
}

void add_children(analyzer::StuckView& view) {
  std::set<std::uint32_t> known;
  for (const analyzer::SeenProcess& process : view.processes) known.insert(process.pid);
  const std::size_t parents = view.processes.size();
  for (std::size_t i = 0; i < parents; ++i) {
    const std::uint32_t parent = view.processes[i].pid;
    const Result<std::vector<pid_t>> children = child_processes(static_cast<pid_t>(parent));
    if (!children) continue;  // it has ended, or the system has no such list
    for (const pid_t child_pid : *children) {
      const auto pid = static_cast<std::uint32_t>(child_pid);
      if (!known.insert(pid).second) continue;
      analyzer::SeenProcess& child = view.processes.emplace_back();
      child.pid = pid;
      child.parent = parent;
      add_threads(pid, view.threads);
    }
  }
}

std::vector<std::uint32_t> add_stacks(analyzer::StuckView& view, TimeNs patience) {
  std::map<std::uint32_t, std::vector<analyzer::SeenThread*>> of_process;
  for (analyzer::SeenThread& thread : view.threads) of_process[thread.process].push_back(&thread);
  std::vector<std::uint32_t> refused;
  const TimeNs begin = now_ns();
  for (const auto& [pid, threads] : of_process) {
    if (now_ns() - begin > patience) break;
    PythonStacks stacks = python_stacks(static_cast<pid_t>(pid));
    if (stacks.refused) refused.push_back(pid);
    analyzer::SeenThread* first = nullptr;
    for (analyzer::SeenThread* const thread : threads) {
      if (thread->thread == pid) first = thread;
      const auto found = stacks.threads.find(own_number(*thread));
      if (found == stacks.threads.end()) continue;
      thread->python = std::move(found->second);
      stacks.threads.erase(found);
    }
    // Python keeps the number that the thread had in the process from which this one was forked.
    if (first != nullptr && first->python.empty() && stacks.threads.size() == 1)
      first->python = std::move(stacks.threads.begin()->second);
    if (first != nullptr && first->python.empty())
      first->native = native_stack(static_cast<pid_t>(pid), static_cast<pid_t>(pid));
  }
  return refused;
}

Result<SeenSession> look_at_session(const SessionInfo& session, const SessionStatus& status) {
  const Result<SessionMap> map = SessionMap::attach(session.path);
  if (!map) return map.error();
  const auto app = static_cast<std::uint32_t>(status.app_pid), tool = static_cast<std::uint32_t>(status.tool_pid);
  ask_for_words(map->open_work());
  SeenSession seen{look_at_work(map->open_work(), app), {}};
  analyzer::StuckView& view = seen.view;
  const std::size_t known = view.processes.size();
  const Result<store::Reader> reader = store::Reader::open(status.output);
  const auto rows = reader ? analyzer::load_stuck_rows(*reader, status.output) : reader.error();
  if (rows) {
    add_rows(*rows, view);
  } else {
    seen.not_seen.push_back(rows.error().message);
  }
  std::erase_if(view.processes, [&](const analyzer::SeenProcess& process) { return process.pid == tool; });
  // Of processes that have begun nothing the trace alone knows.
  for (std::size_t i = known; i < view.processes.size(); ++i) {
    analyzer::SeenProcess& process = view.processes[i];
    process.alive = !has_ended(process.pid);
    process.shares_memory = is_sharer(map->open_work(), process.pid);
    if (process.alive) add_threads(process.pid, view.threads);
  }
  add_children(view);
  for (const std::uint32_t pid : add_stacks(view)) {
    seen.not_seen.push_back(fmt::format(
        "the Python functions of process {}: the system lets only its user and its parents look into it (sysctl "
        "kernel.yama.ptrace_scope). The trace of a job of ranks that hangs has them: wic-prof stuck TRACE",
        pid));
  }
  return seen;
}

SeenSession joined(std::vector<SeenSession> sessions) {
  SeenSession all;
  for (SeenSession& session : sessions) {
    all.not_seen.insert(all.not_seen.end(), session.not_seen.begin(), session.not_seen.end());
    append_view(all.view, std::move(session.view));
  }
  return all;
}

}  // namespace wicprof::cli
