#include "cli/sessions/stuck_view.h"

#include <cxxabi.h>
#include <dirent.h>
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "cli/sessions/open_entries.h"
#include "store/read/reader.h"

namespace wicprof::cli {

namespace {

// The collector sums samples over half a second; the flush and the drain take less than that.
constexpr TimeNs kRecentSamples = 2 * kSecond;

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

/// Gone, or a zombie: whose parent has not asked for its end.
bool has_ended(std::uint32_t pid) {
  if (process_is_gone(pid)) return true;
  std::vector<analyzer::SeenThread> threads;
  add_threads(pid, threads);
  return threads.size() == 1 && threads.front().state == 'Z';
}

void add_messages(const store::Reader& reader, SeenSession& to) {
  const auto messages = reader.last_messages();
  if (!messages) return to.not_seen.push_back(messages.error().message);
  for (const auto& row : *messages)
    to.view.messages.push_back({row.process, row.received, row.communicator, row.peer, row.tag, row.number, row.at});
}

void add_trace(const store::Reader& reader, const OpenWork& work, std::uint32_t tool, SeenSession& to) {
  const auto processes = reader.rows<store::ProcessTable>();
  const auto sites = reader.rows<store::SiteTable>();
  const auto signals = reader.last_signals();
  const auto samples = reader.pc_totals();
  for (const Error& error : {processes ? Error{} : processes.error(), sites ? Error{} : sites.error(),
                             signals ? Error{} : signals.error(), samples ? Error{} : samples.error()}) {
    if (!error.message.empty()) to.not_seen.push_back(error.message);
  }
  if (processes) {
    for (const store::ProcessRow& row : *processes) {
      if (row.id == tool) continue;
      to.view.processes.push_back({row.id, row.name, row.rank, row.ranks, !has_ended(row.id), is_sharer(work, row.id)});
    }
  }
  add_messages(reader, to);
  std::map<SiteId, std::string> names;
  if (sites) {
    for (const store::SiteRow& site : *sites) names[site.id] = site.name;
  }
  if (signals) {
    for (const auto& [process, row] : *signals) {
      to.view.signals.push_back({names[row.site], process.value_or(0), row.device, row.block, row.sm, row.iteration,
                                 row.value, row.word, row.thread, row.at, row.writer});
    }
  }
  if (const auto candidates = reader.rows<store::WriterCandidateTable>()) {
    for (const store::WriterCandidateRow& row : *candidates) {
      to.view.candidates.push_back({names[row.site], row.kernel, row.word.value_or(0), row.exact});
    }
  } else {
    to.not_seen.push_back(candidates.error().message);
  }
  if (samples) {
    const TimeNs recent = now_ns() - kRecentSamples;
    for (const store::PcTotalRow& row : *samples) {
      if (row.end < recent) continue;
      to.view.samples.push_back({row.function, row.reason, row.file, row.offset, row.samples, row.line});
    }
    std::stable_sort(to.view.samples.begin(), to.view.samples.end(),
                     [](const auto& a, const auto& b) { return a.samples > b.samples; });
  }
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

Result<SeenSession> look_at_session(const SessionInfo& session, const SessionStatus& status) {
  const Result<SessionMap> map = SessionMap::attach(session.path);
  if (!map) return map.error();
  OpenWork& work = map->open_work();
  ask_for_words(work);
  SeenSession seen;
  analyzer::StuckView& view = seen.view;
  view.waits = entries(work.waits);
  view.calls = entries(work.calls);
  std::erase_if(view.calls, [](const auto& call) { return call.value.begin == 0; });
  view.mpi_calls = entries(work.mpi_calls, true);
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
  const Result<store::Reader> reader = store::Reader::open(status.output);
  if (reader) {
    add_trace(*reader, work, static_cast<std::uint32_t>(status.tool_pid), seen);
  } else {
    seen.not_seen.push_back(reader.error().message);
  }
  std::set<std::uint32_t> pids{static_cast<std::uint32_t>(status.app_pid)};
  for (const analyzer::SeenProcess& process : view.processes) {
    if (process.alive) pids.insert(process.pid);
  }
  for (const std::uint32_t pid : pids) add_threads(pid, view.threads);
  view.now = now_ns();
  return seen;
}

SeenSession joined(std::vector<SeenSession> sessions) {
  SeenSession all;
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  for (SeenSession& session : sessions) {
    analyzer::StuckView &to = all.view, &from = session.view;
    append(all.not_seen, session.not_seen);
    append(to.waits, from.waits);
    append(to.calls, from.calls);
    append(to.call_values, from.call_values);
    append(to.kernels, from.kernels);
    append(to.mpi_calls, from.mpi_calls);
    append(to.communicators, from.communicators);
    append(to.nccl, from.nccl);
    append(to.messages, from.messages);
    append(to.threads, from.threads);
    append(to.processes, from.processes);
    append(to.signals, from.signals);
    append(to.candidates, from.candidates);
    append(to.samples, from.samples);
    to.sees_calls = to.sees_calls || from.sees_calls;
    to.sees_launches = to.sees_launches || from.sees_launches;
    to.left_out += from.left_out;
    to.now = std::max(to.now, from.now);
  }
  return all;
}

}  // namespace wicprof::cli
