#include "import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "import/flight/flight.h"
#include "import/kind.h"
#include "import/kineto/kineto.h"
#include "import/nsys/nsys.h"
#include "import/trace/host_waits.h"
#include "import/trace/target.h"
#include "protocol/utc_time.h"
#include "store/write/recorder.h"

namespace wicprof::imports {

namespace {

struct Lack {
  const char* what;
  const char* recorded_by;
};
// What none of these tools records, with the recording that does.
constexpr Lack kInsideKernels{"waits inside kernels", "wic-prof run --rewrite -- APP"};
constexpr Lack kStalls{"stalls of warps", "wic-prof run --trace=cuda,nvtx,pcsampling -- APP"};
constexpr Lack kCpuTime{"CPU times of host threads that wait", "wic-prof run -- APP"};
constexpr Lack kCuda{"kernels, copies and calls of CUDA", "wic-prof run -- APP"};

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<Origin> read_flight(const std::string& path, const std::optional<TimeNs>& clock, Target& target,
                           std::vector<FlightDump>& dumps) {
  Result<FlightDump> dump = read_dump(path);
  if (!dump) return dump.error();
  return write_flight(dumps.emplace_back(*std::move(dump)), clock, target);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Result<Imported> import_files(const std::vector<std::string>& files, const std::string& output,
                              const Progress& progress, const DumpsText& dumps_text) {
  std::vector<FileKind> kinds;
  for (const std::string& file : files) {
    const Result<FileKind> kind = kind_of(file);
    if (!kind) return kind.error();
    if (!kinds.empty() && *kind != kinds.front())
      return bad_input(
          fmt::format("{} and {} come from different tools, whose clocks nobody has compared; import each "
                      "by itself",
                      files.front(), file));
    kinds.push_back(*kind);
  }
  store::RecorderOptions options;
  options.path = output;
  options.meta = {{store::MetaKey::host, ""}};
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) return recorder.error();
  Target target(*recorder);
  HostWaits waits;
  Imported imported;
  std::optional<TimeNs> clock;
  std::vector<FlightDump> dumps;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto share = [&](double part) {
      progress((static_cast<double>(i) + part) / static_cast<double>(files.size()));
    };
    if (i > 0) target.next_file();
    const Result<Origin> origin = kinds[i] == FileKind::nsys_sqlite ? read_nsys(files[i], clock, target, waits, share)
                                  : kinds[i] == FileKind::kineto_json
                                      ? read_kineto(files[i], clock, target, waits, share)
                                      : read_flight(files[i], clock, target, dumps);
    if (!origin) return origin.error();
    if (!clock) clock = origin->utc;
    if (std::find(imported.tools.begin(), imported.tools.end(), origin->tool) == imported.tools.end())
      imported.tools.push_back(origin->tool);
    if (!origin->left_out.empty()) target.note(fmt::format("left out of {}: {}", name_of(files[i]), origin->left_out));
  }
  if (target.events() == 0) {
    return bad_input(
        fmt::format("{} holds nothing that a trace of wic-prof could show: no kernel, copy, call of CUDA, "
                    "range or collective",
                    files.front()));
  }
  waits.finish(target);
  const std::string tools = joined(imported.tools);
  std::vector<Lack> lacks{kInsideKernels, kStalls};
  if (kinds.front() == FileKind::flight_recorder) lacks.insert(lacks.begin(), kCuda);
  if (!waits.knows_cpu_time()) lacks.push_back(kCpuTime);
  std::string missing;
  for (const Lack& lack : lacks)
    missing += fmt::format("{}{} ({} records them)", missing.empty() ? "" : "; ", lack.what, lack.recorded_by);
  target.note(fmt::format("not recorded by {}: {}", tools, missing));
  target.finish();
  imported.events = target.events();
  imported.notes.assign(target.notes().begin(), target.notes().end());
  recorder->set_meta(store::MetaKey::app, target.program());
  recorder->set_meta(store::MetaKey::imported_from, tools);
  recorder->set_meta(store::MetaKey::imported_files, std::to_string(files.size()));
  if (!dumps.empty() && dumps_text) recorder->set_meta(store::MetaKey::open_work, dumps_text(dumps));
  if (const auto seen = target.seen()) {
    recorder->set_meta(store::MetaKey::started_ns, std::to_string(std::max<TimeNs>(seen->first, 1)));
    recorder->set_meta(store::MetaKey::ended_ns, std::to_string(seen->second));
    recorder->set_meta(store::MetaKey::started_utc, clock ? utc_time((*clock + seen->first) / kSecond) : std::string());
  }
  const store::RecorderProgress written = recorder->progress();
  if (!written.stopped.empty()) return unavailable(written.stopped);
  if (const Result<> finished = recorder->finish(); !finished) return finished.error();
  return imported;
}

}  // namespace wicprof::imports
