#include "import/flight/flight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
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

struct Collective {
  std::string name, state;
  std::uint32_t thread = 0;
  TimeNs begin = 0;
  std::optional<TimeNs> end;
};

}  // namespace

Result<Origin> read_flight(std::string_view bytes, const std::string& name, const std::optional<TimeNs>& clock,
                           Target& target) {
  const Result<Pickle> read = Pickle::read(bytes);
  if (!read) return bad_input(fmt::format("{}: {}; nothing of it was run", name, read.error().message));
  const Pickle& dump = *read;
  const auto entries = dump.at(dump.root(), "entries");
  if (!entries) return bad_input(name + " is a pickle, but no dump of PyTorch's Flight Recorder (it has no entries)");
  std::vector<Collective> collectives;
  std::map<std::string, std::uint32_t, std::less<>> threads;
  TimeNs last = 0;
  for (const Pickle::Id entry : dump.parts(entries)) {
    const auto field = [&](std::string_view key) { return dump.at(entry, key); };
    const auto begin = dump.integer(field("time_created_ns"));
    if (!begin || *begin <= 0) {
      target.count_impossible("entries");
      continue;
    }
    Collective one;
    one.begin = *begin;
    one.state = dump.text(field("state"));
    one.end = dump.integer(field("time_discovered_completed_ns"));
    if (one.end && *one.end < one.begin) one.end.reset();
    const std::vector<Pickle::Id>& group = dump.parts(field("process_group"));
    const std::string_view description = group.size() > 1 ? dump.text(group[1]) : std::string_view();
    const std::int64_t sequence = dump.integer(field("is_p2p")) == 1
                                      ? dump.integer(field("p2p_seq_id")).value_or(0)
                                      : dump.integer(field("collective_seq_id")).value_or(0);
    one.name = fmt::format("{} #{} of {}", dump.text(field("profiling_name")), sequence,
                           description.empty() && !group.empty() ? dump.text(group[0]) : description);
    const std::string_view thread = dump.text(field("thread_id"));
    one.thread = threads.try_emplace(std::string(thread), static_cast<std::uint32_t>(threads.size() + 1)).first->second;
    last = std::max({last, one.begin, one.end.value_or(0)});
    collectives.push_back(std::move(one));
  }
  Origin origin;
  origin.tool = "PyTorch's Flight Recorder";
  if (const std::string_view version = dump.text(dump.at(dump.root(), "version")); !version.empty())
    origin.tool += fmt::format(" {}", version);
  // Dumps of one job come within minutes; times of one trace need not count from 1970.
  constexpr TimeNs kHour = 3600 * kSecond;
  origin.utc = clock ? *clock : std::max<TimeNs>((last / kHour - 24) * kHour, 0);
  const auto rank = rank_of(name);
  const Ring ring = target.process(rank ? static_cast<std::uint32_t>(*rank) + 1 : 1);
  target.describe(ring, {0, rank ? fmt::format("rank {}", *rank) : name.substr(name.rfind('/') + 1), rank});
  std::map<std::string, std::uint64_t> open;
  for (const Collective& one : collectives) {
    const auto begin = shifted(one.begin, -*origin.utc), end = shifted(one.end.value_or(last), -*origin.utc);
    if (!begin || !end || *end < *begin) {
      target.count_impossible("entries");
      continue;
    }
    auto event = make_event<NvtxEvent>();
    event.domain = target.text(ring, kDomain);
    // How far an open collective came says more than its end, which is only when the dump was written.
    event.name = target.text(ring, one.end ? one.name : one.name + ", " + one.state);
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

Result<Origin> read_flight(const std::string& path, const std::optional<TimeNs>& clock, Target& target) {
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
  return read_flight(bytes, path, clock, target);
}

}  // namespace wicprof::imports
