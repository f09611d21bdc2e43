// wic-prof import: makes a trace of files that other tools recorded.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "analyzer/stuck/view_text.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/output_file.h"
#include "cli/files/output_name.h"
#include "cli/sessions/dump_views.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "import/import.h"
#include "protocol/limit_words.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

struct ImportOptions {
  std::vector<std::string> files;
  Output output{"", false, false};
};

/// The names that the unfinished trace has, for the handler of a signal.
constexpr std::array<const char*, 4> kEnds{"", "-wal", "-shm", "-journal"};
std::array<char[4096], kEnds.size()> unfinished;

void remove_unfinished() {
  for (const auto& name : unfinished) {
    if (name[0] != '\0') unlink(name);
  }
}

/// Only calls that a handler may make. The process then ends as the signal would have ended it.
void give_up(int signal) {
  remove_unfinished();
  ::signal(signal, SIG_DFL);
  raise(signal);
}

/// A trace that has another name until it is complete, and leaves nothing if it does not get there: also at Ctrl-C.
class UnfinishedTrace {
 public:
  explicit UnfinishedTrace(const std::string& path) : path_(path), part_(fmt::format("{}.{}.part", path, getpid())) {
    for (std::size_t i = 0; i < kEnds.size(); ++i)
      std::snprintf(unfinished[i], sizeof unfinished[i], "%s%s", part_.c_str(), kEnds[i]);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before {};
      // A process that was started with a signal ignored keeps it so (nohup).
      if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::signal(signal, give_up);
    }
  }
  UnfinishedTrace(const UnfinishedTrace&) = delete;
  ~UnfinishedTrace() {
    remove_unfinished();
    for (auto& name : unfinished) name[0] = '\0';
  }

  const std::string& part() const { return part_; }

  Result<> complete(bool overwrite) {
    // A link does not take the place of a file that has come meanwhile.
    const int done = overwrite ? rename(part_.c_str(), path_.c_str()) : link(part_.c_str(), path_.c_str());
    if (done == 0) return ok();
    if (!overwrite && errno != EEXIST && access(path_.c_str(), F_OK) != 0 && rename(part_.c_str(), path_.c_str()) == 0)
      return ok();  // a file system without links
    if (errno == EEXIST)
      return bad_input(fmt::format("{} exists; choose another name with -o, or -f to overwrite it", path_));
    return unavailable(fmt::format("cannot write {}: {}; choose another place with -o", path_, std::strerror(errno)));
  }

 private:
  std::string path_, part_;
};

/// "report1.nsys.sqlite" gives "report1.nsys.wicprof".
std::string default_name(const std::string& file) {
  std::string name = base_name(file);
  for (const std::string_view end : {".gz", ".json", ".sqlite", ".pickle", ".pkl"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return literal_name(name + ".wicprof");
}

class ImportProgress {
 public:
  void show(double part) {
    const TimeNs now = now_ns();
    if (!on_ || now - last_ < kSecond / 5) return;
    last_ = now;
    shown_ = true;
    show_progress(fmt::format("\rreading: {:3.0f} %", 100 * part));
  }
  void clear() {
    if (shown_) show_progress("\r\x1b[K");
    shown_ = false;
  }

 private:
  const bool on_ = isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  TimeNs last_ = now_ns();
};

/// Where the dumps do not fit together, the trace has their ranges alone.
std::string dumps_text(const std::vector<imports::FlightDump>& dumps) {
  const Result<analyzer::StuckView> view = view_of_dumps(dumps);
  return view ? view_text(*view) : "";
}

int import_traces(const ImportOptions& options) {
  Output wanted = options.output;
  if (wanted.name.empty()) wanted.name = default_name(options.files.front());
  if (wanted.name == "-") return fail(bad_input("a trace is a file; name one with -o"));
  const Result<Output> output = prepare_output(wanted);
  if (!output) return fail(output.error());
  UnfinishedTrace trace(output->name);
  ImportProgress progress;
  const Result<imports::Imported> imported = imports::import_files(
      options.files, trace.part(), [&](double part) { progress.show(part); }, dumps_text);
  progress.clear();
  if (!imported) return fail(imported.error());
  if (const Result<> completed = trace.complete(output->overwrite); !completed) return fail(completed.error());
  for (const std::string& text : imported->notes) note(text);
  note(fmt::format("{} events written to {}", imported->events, output->name));
  return kDone;
}

}  // namespace

template <>
VerbBody declare<struct ImportVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ImportOptions>();
  verb.add_option(
          "FILE", options->files,
          "what nsys export --type sqlite writes; JSON of torch.profiler (.json, .json.gz); a dump of PyTorch's "
          "Flight Recorder; several of one job, one per rank")
      ->required();
  verb.add_option(
          "-o,--output", options->output.name,
          "the trace; by default in this folder, named after the first file; %p is the pid, %h the host, %q{VAR} "
          "an environment variable, %% a percent sign")
      ->type_name("FILE");
  verb.add_flag("-f,--force-overwrite", options->output.overwrite, "overwrite the trace if it exists");
  add_example(verb, "wic-prof import report1.sqlite -o app.wicprof");
  return [options] { return import_traces(*options); };
}

}  // namespace wicprof::cli
