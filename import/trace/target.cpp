#include "import/trace/target.h"

#include <algorithm>
#include <cstring>

#include "protocol/events/notice.h"
#include "protocol/events/process.h"
#include "protocol/events/text.h"

namespace wicprof::imports {

void Target::next_file() {
  ++file_;
  of_file_.clear();
}

Ring Target::process(std::uint32_t pid) {
  const auto [known, is_new] = of_file_.try_emplace(pid, processes_.size());
  if (!is_new) return known->second;
  std::uint32_t free = std::max(pid, 1u);  // 0 would be no process
  while (!pids_.insert(free).second) free = free == ~0u ? 1 : free + 1;
  processes_.push_back({{free, {}, {}}, {}});
  recorder_.set_ring_process(known->second, free);
  return known->second;
}

void Target::describe(Ring ring, const ForeignProcess& process) {
  ForeignProcess& known = processes_[ring].described;
  if (!process.name.empty()) known.name = process.name;
  if (process.rank) known.rank = process.rank;
}

DeviceId Target::device(std::uint32_t ordinal, const std::string& uuid) {
  const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const auto& entry) {
    const Device& device = entry.second;
    if (!uuid.empty() && !device.described.uuid.empty()) return device.described.uuid == uuid;
    return device.file == file_ && device.ordinal == ordinal;
  });
  if (known != devices_.end()) return known->first;
  DeviceId free = static_cast<DeviceId>(std::min<std::uint32_t>(ordinal, kSimtDeviceBase - 1));
  while (devices_.contains(free)) free = free + 1 == kSimtDeviceBase ? 2 * kSimtDeviceBase : free + 1;
  Device device{file_, ordinal, {}};
  device.described.uuid = uuid;
  devices_.emplace(free, std::move(device));
  return free;
}

TextId Target::text(Ring ring, std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() > kMaxTextLength) text = text.substr(0, kMaxTextLength);
  if (texts_.size() >= kMostTexts) {
    texts_.clear();
    next_text_ = 1;
    for (Process& process : processes_) process.bound.clear();
  }
  const auto [known, is_new] = texts_.try_emplace(std::string(text), next_text_);
  if (is_new) ++next_text_;
  const TextId id = known->second;
  std::vector<bool>& bound = processes_[ring].bound;
  if (bound.size() <= id) bound.resize(std::max<std::size_t>(id + 1, 2 * bound.size()));
  if (bound[id]) return id;
  bound[id] = true;
  alignas(TextEvent) std::array<std::byte, sizeof(TextEvent) + kMaxTextLength + 8> bytes{};
  auto event = make_event<TextEvent>();
  event.id = id;
  event.length = static_cast<std::uint32_t>(text.size());
  event.header.size = static_cast<std::uint16_t>(sizeof event + (text.size() + 7) / 8 * 8);
  std::memcpy(bytes.data(), &event, sizeof event);
  std::memcpy(bytes.data() + sizeof event, text.data(), text.size());
  recorder_.add(ring, reinterpret_cast<const TextEvent*>(bytes.data())->header);
  return id;
}

void Target::saw(TimeNs begin, TimeNs end) {
  begin_ = any_ ? std::min(begin_, begin) : begin;
  end_ = any_ ? std::max(end_, end) : end;
  any_ = true;
}

std::optional<std::pair<TimeNs, TimeNs>> Target::seen() const {
  if (!any_) return std::nullopt;
  return std::pair{begin_, end_};
}

std::string Target::program() const {
  for (const Process& process : processes_) {
    if (!process.described.name.empty()) return process.described.name;
  }
  return {};
}

void Target::finish() {
  for (Ring ring = 0; ring < processes_.size(); ++ring) {
    const ForeignProcess& process = processes_[ring].described;
    auto event = make_event<ProcessEvent>();
    event.pid = process.pid;
    event.name = text(ring, process.name);
    event.rank = process.rank.value_or(-1);
    event.local_rank = -1;
    event.seen_ns = begin_;
    add(ring, event);
  }
  if (processes_.empty()) return;
  constexpr Ring kAny = 0;
  for (const auto& [id, device] : devices_) {
    const ForeignDevice& from = device.described;
    auto event = make_event<DeviceEvent>();
    event.device = id;
    event.name = text(kAny, from.name.empty() ? "GPU " + std::to_string(id) : from.name);
    event.uuid = text(kAny, from.uuid);
    event.kind = DeviceKind::cuda;
    event.memory_bytes = from.memory_bytes;
    event.sm_count = from.sm_count;
    event.compute_major = from.compute_major;
    event.compute_minor = from.compute_minor;
    event.max_threads_per_sm = from.max_threads_per_sm;
    event.max_blocks_per_sm = from.max_blocks_per_sm;
    event.registers_per_sm = from.registers_per_sm;
    event.shared_bytes_per_sm = from.shared_bytes_per_sm;
    event.clock_khz = from.clock_khz;
    add(kAny, event);
  }
  for (const std::string& note : notes_) {
    auto event = make_event<NoticeEvent>();
    event.at_ns = begin_;
    event.text = text(kAny, note);
    event.severity = NoticeSeverity::info;
    add(kAny, event);
  }
  for (const auto& [table, rows] : impossible_) recorder_.set_stat(store::Stat::impossible_rows, table, rows);
}

}  // namespace wicprof::imports
