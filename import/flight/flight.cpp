#include "import/flight/flight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "import/flight/pickle.h"
#include "import/trace/times.h"
#include "protocol/events/nvtx.h"
#include "protocol/own_file.h"

namespace wicprof::imports {

namespace {

constexpr std::string_view kDomain = "torch.distributed";

/// The number at the end of the name; nothing without one.
std::optional<std::int32_t> rank_of(const std::string& path) {
  const std::size_t last = path.find_last_not_of("0123456789");
  const std::string_view digits = std::string_view(path).substr(last == std::string::npos ? 0 : last + 1);
  std::int32_t rank = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return rank;
}

/// The members of a list as a text: "[0, 2]".
std::vector<std::int32_t> numbers_of(std::string_view text) {
  std::vector<std::int32_t> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    std::int32_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? next : at + 1;
  }
  return numbers;
}

/// One dump's reading.
class DumpReader {
 public:
  DumpReader(const Pickle& pickle, FlightDump& to) : pickle_(pickle), to_(to) {}

  void read(Pickle::Id entries) {
    const std::vector<Pickle::Id>& config = pickle_.pairs(pickle_.at(pickle_.root(), "pg_config"));
    for (std::size_t i = 0; i + 1 < config.size(); i += 2) {
      const auto field = [&](std::string_view key) { return pickle_.text(pickle_.at(config[i + 1], key)); };
      const std::string_view name = field("name").empty() ? pickle_.text(config[i]) : field("name");
      to_.groups.push_back({std::string(name), std::string(field("desc")), numbers_of(field("ranks")), {}});
    }
    std::optional<std::int64_t> first;
    for (const Pickle::Id entry : pickle_.parts(entries)) {
      if (!first) first = pickle_.integer(pickle_.at(entry, "record_id"));
      add(entry);
    }
    to_.is_whole = first == 0;
    add_enqueued();
  }

 private:
  void add(Pickle::Id entry) {
    const auto field = [&](std::string_view key) { return pickle_.at(entry, key); };
    const auto begin = pickle_.integer(field("time_created_ns"));
    if (!begin || *begin <= 0) {
      ++to_.impossible;
      return;
    }
    FlightEntry one;
    one.begin = *begin;
    one.state = pickle_.text(field("state"));
    one.end = pickle_.integer(field("time_discovered_completed_ns"));
    if (one.end && *one.end < one.begin) one.end.reset();
    one.started = one.state == "started" || pickle_.integer(field("time_discovered_started_ns")).value_or(0) > 0;
    const std::vector<Pickle::Id>& group = pickle_.parts(field("process_group"));
    if (!group.empty()) one.group = pickle_.text(group[0]);
    add_group(one.group, group.size() > 1 ? pickle_.text(group[1]) : std::string_view());
    if (const auto id = pickle_.integer(field("pg_id"))) ids_[*id] = one.group;
    // A truth value is no number.
    one.is_message = pickle_.integer(field("is_p2p")) == 1;
    one.number = pickle_.integer(field(one.is_message ? "p2p_seq_id" : "collective_seq_id")).value_or(0);
    one.name = pickle_.text(field("profiling_name"));
    one.sizes = sizes_of(entry);
    one.place = place_of(field("frames"));
    const std::string_view thread = pickle_.text(field("thread_id"));
    one.thread =
        threads_.try_emplace(std::string(thread), static_cast<std::uint32_t>(threads_.size() + 1)).first->second;
    to_.entries.push_back(std::move(one));
  }

  void add_group(const std::string& name, std::string_view description) {
    const auto is = [&](const FlightGroup& each) { return each.name == name; };
    const auto known = std::find_if(to_.groups.begin(), to_.groups.end(), is);
    if (known == to_.groups.end()) {
      to_.groups.push_back({name, std::string(description), {}, {}});
    } else if (known->description.empty()) {
      known->description = description;
    }
  }

  /// Of all input tensors together, where they are of one type.
  std::string sizes_of(Pickle::Id entry) const {
    const std::vector<Pickle::Id>& types = pickle_.parts(pickle_.at(entry, "input_dtypes"));
    std::int64_t elements = 0;
    for (const Pickle::Id tensor : pickle_.parts(pickle_.at(entry, "input_sizes"))) {
      std::int64_t product = 1;
      for (const Pickle::Id size : pickle_.parts(tensor)) {
        const std::int64_t of = pickle_.integer(size).value_or(0);
        if (__builtin_mul_overflow(product, of, &product)) return {};
      }
      if (__builtin_add_overflow(elements, product, &elements)) return {};
    }
    if (types.empty()) return {};
    for (const Pickle::Id type : types) {
      if (pickle_.text(type) != pickle_.text(types.front())) return {};
    }
    return fmt::format("{} elements of {}", elements, pickle_.text(types.front()));
  }

  /// Frames come with the innermost first; those of PyTorch itself say nothing.
  std::string place_of(std::optional<Pickle::Id> frames) const {
    std::string innermost;
    for (const Pickle::Id frame : pickle_.parts(frames)) {
      const std::string_view file = pickle_.text(pickle_.at(frame, "filename"));
      if (file.empty()) continue;
      const std::string text =
          fmt::format("{}:{} in {}", file.substr(file.rfind('/') + 1),
                      pickle_.integer(pickle_.at(frame, "line")).value_or(0), pickle_.text(pickle_.at(frame, "name")));
      if (file.find("/torch/") == std::string_view::npos && !file.starts_with("torch/")) return text;
      if (innermost.empty()) innermost = text;
    }
    return innermost;
  }

  /// What the dump says of each group as a whole. It names groups there by numbers that rise with their making, as
  /// their names do; a group with an entry shows both.
  void add_enqueued() {
    const Pickle::Id none = std::numeric_limits<Pickle::Id>::max();
    const std::vector<Pickle::Id>& status = pickle_.pairs(pickle_.at(pickle_.root(), "pg_status").value_or(none));
    std::map<std::int64_t, std::int64_t> last;  // by the group's number
    for (std::size_t i = 0; i + 1 < status.size(); i += 2) {
      const std::string_view key = pickle_.text(status[i]);
      std::int64_t id = pickle_.integer(status[i]).value_or(-1);
      if (!key.empty()) std::from_chars(key.data(), key.data() + key.size(), id);
      if (const auto number = pickle_.integer(pickle_.at(status[i + 1], "last_enqueued_collective")))
        last[id] = std::max<std::int64_t>(*number, 0);
    }
    if (last.size() == to_.groups.size()) {
      std::vector<std::pair<std::int64_t, std::string>> names;
      for (const FlightGroup& group : to_.groups) {
        std::int64_t number = -1;
        const char* const end = group.name.data() + group.name.size();
        const auto [at, error] = std::from_chars(group.name.data(), end, number);
        if (error != std::errc() || at != end) break;
        names.emplace_back(number, group.name);
      }
      std::sort(names.begin(), names.end());
      std::map<std::int64_t, std::string> ids;
      if (names.size() == last.size()) {
        for (const auto& [id, number] : last) ids[id] = names[ids.size()].second;
      }
      if (std::all_of(ids_.begin(), ids_.end(), [&](const auto& known) { return ids[known.first] == known.second; }))
        ids_ = std::move(ids);
    }
    std::map<std::string, std::int64_t, std::less<>> enqueued;
    for (const auto& [id, name] : ids_) {
      if (const auto found = last.find(id); found != last.end()) enqueued[name] = found->second;
    }
    for (FlightGroup& group : to_.groups) {
      if (const auto found = enqueued.find(group.name); found != enqueued.end()) group.enqueued = found->second;
    }
  }

  const Pickle& pickle_;
  FlightDump& to_;
  std::map<std::int64_t, std::string> ids_;  // of groups
  std::map<std::string, std::uint32_t, std::less<>> threads_;
};

}  // namespace

Result<FlightDump> read_dump(std::string_view bytes, const std::string& name) {
  const Result<Pickle> read = Pickle::read(bytes);
  if (!read) return bad_input(fmt::format("{}: {}; nothing of it was run", name, read.error().message));
  const auto entries = read->at(read->root(), "entries");
  if (!entries) return bad_input(name + " is a pickle, but no dump of PyTorch's Flight Recorder (it has no entries)");
  FlightDump dump;
  dump.file = name;
  dump.rank = rank_of(name);
  dump.version = read->text(read->at(read->root(), "version"));
  DumpReader(*read, dump).read(*entries);
  return dump;
}

Origin write_flight(const FlightDump& dump, const std::optional<TimeNs>& clock, Target& target) {
  const std::string& name = dump.file;
  TimeNs last = 0;
  for (const FlightEntry& one : dump.entries) last = std::max({last, one.begin, one.end.value_or(0)});
  for (std::uint64_t i = 0; i < dump.impossible; ++i) target.count_impossible("entries");
  Origin origin;
  origin.tool = "PyTorch's Flight Recorder";
  if (!dump.version.empty()) origin.tool += " " + dump.version;
  // Dumps of one job come within minutes; times of one trace need not count from 1970.
  constexpr TimeNs kHour = 3600 * kSecond;
  origin.utc = clock ? *clock : std::max<TimeNs>((last / kHour - 24) * kHour, 0);
  const std::optional<std::int32_t> rank = dump.rank;
  const Ring ring = target.process(rank ? static_cast<std::uint32_t>(*rank) + 1 : 1);
  target.describe(ring, {0, rank ? fmt::format("rank {}", *rank) : name.substr(name.rfind('/') + 1), rank});
  std::map<std::string, std::uint64_t> open;
  std::map<std::string, std::string, std::less<>> groups;
  for (const FlightGroup& group : dump.groups)
    groups[group.name] = group.description.empty() ? group.name : group.description;
  for (const FlightEntry& one : dump.entries) {
    const std::string call = fmt::format("{} #{} of {}", one.name, one.number, groups[one.group]);
    const auto begin = shifted(one.begin, -*origin.utc), end = shifted(one.end.value_or(last), -*origin.utc);
    if (!begin || !end || *end < *begin) {
      target.count_impossible("entries");
      continue;
    }
    auto event = make_event<NvtxEvent>();
    event.domain = target.text(ring, kDomain);
    // How far an open collective came says more than its end, which is only when the dump was written.
    event.name = target.text(ring, one.end ? call : call + ", " + one.state);
    event.start_ns = *begin;
    event.end_ns = *end;
    event.thread = one.thread;
    target.saw(*begin, *end);
    target.add(ring, event);
    if (one.state != "completed") ++open[one.state];
  }
  for (const auto& [state, count] : open) {
    target.note(fmt::format("{}: {} {} and not complete when the dump was written",
                            rank ? fmt::format("rank {}", *rank) : name,
                            count == 1 ? "1 collective was" : fmt::format("{} collectives were", count), state));
  }
  return origin;
}

Result<FlightDump> read_dump(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return bad_input(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  // A dump holds some thousand entries of a few hundred bytes.
  constexpr off_t kMost = off_t{256} << 20;
  struct stat info {};
  if (fstat(file, &info) == 0 && info.st_size > kMost) {
    ::close(file);
    return bad_input(path + " has more than 256 MiB, which no dump of PyTorch's Flight Recorder has");
  }
  const std::string bytes = take_bytes(file);
  if (bytes.empty()) return bad_input("cannot read " + path + "; copy it again");
  return read_dump(bytes, path);
}

}  // namespace wicprof::imports
