#include "import/trace/host_waits.h"

#include <algorithm>
#include <optional>

#include "protocol/events/site.h"
#include "protocol/python_frame.h"

namespace wicprof::imports {

namespace {

constexpr TimeNs kNotKnown = -1;
/// An asynchronous copy of so many bytes from memory that is not pinned to a device waits
/// (collector/waits/host_copy.h).
constexpr std::uint64_t kTooLongForBuffers = std::uint64_t{4} << 20;

std::uint64_t key_of(Ring ring, std::uint32_t correlation) { return std::uint64_t{ring} << 32 | correlation; }

bool has_digits_to_end(std::string_view text, std::size_t from) {
  return from < text.size() && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                                           [](char c) { return c >= '0' && c <= '9'; });
}

/// The name without a number that differs in each iteration: "ProfilerStep#7", "aten::mm, seq = 12, op_id = 88".
std::string_view stable_name(std::string_view name) {
  for (const std::string_view mark : {", seq = ", ", op_id = "}) {
    if (const std::size_t at = name.find(mark); at != std::string_view::npos) name = name.substr(0, at);
  }
  const std::size_t last = name.find_last_of("# _-:");
  if (last != std::string_view::npos && last > 0 && has_digits_to_end(name, last + 1)) name = name.substr(0, last);
  return name;
}

}  // namespace

std::uint32_t HostWaits::number_of(std::string_view name) {
  const auto known = numbers_.find(std::string(name));
  if (known != numbers_.end()) return known->second;
  if (names_.size() > kMostNames) return 0;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

void HostWaits::call(Ring ring, const CallEvent& call, std::string_view name) {
  const KnownCall known = known_call(name);
  if (known.kind == CallKind::other) return;
  if (known.kind == CallKind::copies) synchronous_.insert(key_of(ring, call.correlation));
  threads_[{ring, call.thread}].waits.push_back({call.start_ns, call.end_ns, call.correlation, number_of(name), known});
}

bool HostWaits::copies_synchronously(Ring ring, std::uint32_t correlation) const {
  return synchronous_.contains(key_of(ring, correlation));
}

void HostWaits::copy(Ring ring, const CopyEvent& copy) {
  if (copy.kind == CopyKind::memset || copy.correlation == 0) return;
  Copied& last = copies_[key_of(ring, copy.correlation)];
  if (last.end <= copy.end_ns) last = {copy.end_ns, copy.bytes, copy.kind, copy.source, copy.destination};
}

void HostWaits::scope(Ring ring, std::uint32_t thread, ScopeKind kind, std::string_view name, TimeNs begin,
                      TimeNs end) {
  if (kind == ScopeKind::function) {
    const std::optional<PythonFrame> frame = python_frame(name);
    if (!frame || !is_programs(*frame)) return;
  }
  if (kind == ScopeKind::range && name.starts_with("ProfilerStep#")) kind = ScopeKind::step;
  if (const std::uint32_t number = number_of(stable_name(name)); number != 0)
    threads_[{ring, thread}].scopes.push_back({begin, end, number, kind});
}

// A synchronizing call waits. A copy waits if the call lasted until the copy's end, and is of the kinds that do
// (collector/waits/host_copy.h).
bool HostWaits::waited(Ring ring, const Wait& wait) const {
  if (wait.known.kind == CallKind::synchronizes) return true;
  const auto found = copies_.find(key_of(ring, wait.correlation));
  if (found == copies_.end() || wait.end < found->second.end) return false;
  const Copied& copy = found->second;
  const bool of_host = copy.kind == CopyKind::host_to_device || copy.kind == CopyKind::device_to_host ||
                       copy.kind == CopyKind::host_to_host;
  if (wait.known.kind == CallKind::copies) return of_host;
  if (copy.kind == CopyKind::device_to_host) return copy.destination == CopyMemory::pageable;
  return copy.kind == CopyKind::host_to_device && copy.source == CopyMemory::pageable &&
         copy.bytes >= kTooLongForBuffers;
}

/// `open`: by their begins. Of one kind the innermost names the wait.
const HostWaits::Scope* HostWaits::scope_of(const std::vector<Scope*>& open, const Wait& wait) const {
  const Scope* best = nullptr;
  for (auto at = open.rbegin(); at != open.rend(); ++at) {
    const Scope& scope = **at;
    if (scope.end >= wait.end && (best == nullptr || scope.kind < best->kind)) best = &scope;
    if (best != nullptr && best->kind == ScopeKind::range) break;
  }
  return best;
}

HostWaits::Site& HostWaits::site_of(Target& target, Ring ring, const Wait& wait, const Scope* scope) {
  std::string name = names_[wait.call], place;
  if (scope != nullptr) {
    const std::string& where = names_[scope->name];
    name += " in ";
    if (const auto frame = scope->kind == ScopeKind::function ? python_frame(where) : std::nullopt) {
      name += frame->function;
      place = std::string(frame->file) + ':' + std::string(frame->line);
    } else {
      name += where;
      if (scope->kind != ScopeKind::operation) place = "NVTX range";
    }
  }
  const std::string key = name + '\n' + place;
  if (scope != nullptr && sites_.size() >= kMostSites && !sites_.contains(key))
    return site_of(target, ring, wait, nullptr);
  Site& site = sites_[key];
  if (site.id == 0) {
    site.id = static_cast<SiteId>(sites_.size());
    auto event = make_event<SiteEvent>();
    event.site = site.id;
    event.name = target.text(ring, name);
    event.side = SiteSide::host;
    event.place = target.text(ring, place);
    target.add(ring, event);
  }
  return site;
}

void HostWaits::write(Target& target, Ring ring, std::uint32_t number, Thread& thread) {
  const auto by_begin = [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::sort(thread.waits.begin(), thread.waits.end(), by_begin);
  std::sort(thread.scopes.begin(), thread.scopes.end(), by_begin);
  std::vector<Scope*> open;
  auto next = thread.scopes.begin();
  TimeNs waited_until = kNotKnown;
  for (const Wait& wait : thread.waits) {
    // A call of the runtime waits in a call of the driver: one wait.
    if (wait.end <= waited_until || !waited(ring, wait)) continue;
    waited_until = wait.end;
    std::erase_if(open, [&](const Scope* scope) { return scope->end < wait.begin; });
    for (; next != thread.scopes.end() && next->begin <= wait.begin; ++next) {
      if (next->end >= wait.begin) open.push_back(&*next);
    }
    Site& site = site_of(target, ring, wait, scope_of(open, wait));
    auto event = make_event<HostWaitEvent>();
    event.site = site.id;
    event.call = target.text(ring, names_[wait.call]);
    event.thread = number;
    event.iteration = site.waits[{ring, number}]++;
    event.begin_ns = wait.begin;
    event.end_ns = wait.end;
    event.cpu_ns = cpu_times_.within(ring, number, wait.begin, wait.end).value_or(kNotKnown);
    knows_cpu_time_ = knows_cpu_time_ || event.cpu_ns != kNotKnown;
    event.correlation = wait.correlation;
    event.involuntary_switches = HostWaitEvent::kUnknownSwitches;
    event.run_delay_ns = kNotKnown;
    event.awaited = wait.known.awaited;
    target.add(ring, event);
  }
}

void HostWaits::finish(Target& target) {
  cpu_times_.settle();
  for (auto& [owner, thread] : threads_) write(target, owner.first, owner.second, thread);
}

}  // namespace wicprof::imports
