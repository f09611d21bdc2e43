#include "cli/ci/measure.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/files/input_trace.h"
#include "cli/files/output_name.h"
#include "cli/record/run_app.h"
#include "cli/terminal/messages.h"

namespace wicprof::cli {

namespace {

std::string in_folder(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().string();
}

/// What went wrong in a run that ended; empty if nothing did.
std::string trouble_of(const RunOutcome& outcome, const CiConfig& config, const std::string& log) {
  const std::string output = fmt::format("; its output is in {}", log);
  if (outcome.timed_out) {
    return fmt::format("exceeded its time limit of {:g} s and was stopped{}",
                       static_cast<double>(config.timeout) * 1e-9, output);
  }
  if (outcome.interrupted) return "was interrupted";
  if (outcome.end.signal)
    return fmt::format("was killed by signal {} ({}){}", *outcome.end.signal, strsignal(*outcome.end.signal), output);
  if (outcome.end.status != 0) return fmt::format("ended with status {}{}", outcome.end.status, output);
  if (outcome.recording) return "was not recorded completely: " + outcome.recording->message;
  return {};
}

class Measurement {
 public:
  Measurement(const CiConfig& config, const std::vector<CiSide>& sides, std::string folder, bool overwrite)
      : config_(config), sides_(sides), folder_(std::move(folder)), overwrite_(overwrite) {
    for (const CiSide& side : sides_) measured_.sides.push_back({side.label, {}});
  }

  Result<Measured> all() {
    const int rounds = config_.warm_up + config_.repeat;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t turn = 0; turn < sides_.size(); ++turn) {
        const std::size_t side = round % 2 == 0 ? turn : sides_.size() - 1 - turn;
        const Result<> ran = run(side, round);
        if (!ran) return ran.error();
        if (!measured_.broken.empty()) return std::move(measured_);
      }
    }
    return std::move(measured_);
  }

 private:
  Result<> run(std::size_t number, int round) {
    const CiSide& side = sides_[number];
    const bool counts = round >= config_.warm_up;
    const std::string name = counts ? fmt::format("{}.{}", side.file, round - config_.warm_up + 1)
                                    : fmt::format("{}.warm_up.{}", side.file, round + 1);
    RunPlan plan;
    plan.words = side.words;
    plan.output = literal_name(in_folder(folder_, name + ".wicprof"));
    plan.log = in_folder(folder_, name + ".log");
    plan.overwrite = overwrite_;
    plan.quiet = true;
    plan.time_limit = config_.timeout;
    if (side.wait) plan.phases = {{*side.wait, 0}};
    plan.side = WaitSide::device;  // the gate judges the program's wait sites
    CaptureOptions capture;
    capture.trace = config_.trace;
    Result<CapturePlan> read = read_capture(capture);
    if (!read) return read.error();
    plan.capture = *std::move(read);

    note(fmt::format("{}: run {} of {}{}", side.label, round + 1, config_.warm_up + config_.repeat,
                     counts ? "" : " (warm-up)"));
    const Result<RunOutcome> outcome = run_app(plan);
    if (!outcome) {
      // Before the first run this error concerns the command line; later, the machine.
      if (measured_.files.empty()) return outcome.error();
      measured_.broken =
          fmt::format("run {} of {} could not be started: {}", round + 1, side.label, outcome.error().message);
      return ok();
    }
    measured_.files.push_back(name + ".wicprof");
    const std::string trouble = trouble_of(*outcome, config_, plan.log);
    if (!trouble.empty()) {
      measured_.broken = fmt::format("run {} of {} {}", round + 1, side.label, trouble);
      return ok();
    }
    if (counts) keep(number, outcome->trace);
    return ok();
  }

  void keep(std::size_t side, const std::string& trace) {
    const Result<analyzer::TraceModel> model = load_trace(trace);
    if (!model) {
      measured_.broken = model.error().message;
      return;
    }
    measured_.sides[side].runs.push_back(
        analyzer::figures_of(*model, analyzer::analyze(*model, analyzer::Parties::left_out), config_.gate.compare));
  }

  const CiConfig& config_;
  const std::vector<CiSide>& sides_;
  std::string folder_;
  bool overwrite_;
  Measured measured_;
};

}  // namespace

std::vector<CiSide> sides_of(const CiConfig& config, const std::vector<std::string>& words) {
  const auto wait = [&](Mode mode) {
    return mode == Mode::park ? config.park : WantedWait{Mode::poll, default_strategy(Mode::poll)};
  };
  std::optional<WantedWait> own;
  if (config.modes.size() == 1) own = wait(config.modes.front());
  std::vector<CiSide> sides;
  if (!config.reference.empty()) {
    sides.push_back({"the reference", "reference", config.reference, own});
  } else if (config.modes.size() == 2) {
    const std::string first(mode_name(config.modes[0])), second(mode_name(config.modes[1]));
    return {{first, first, words, wait(config.modes[0])}, {second, second, words, wait(config.modes[1])}};
  }
  sides.push_back({"the program", "run", words, own});
  return sides;
}

Result<Measured> measure(const CiConfig& config, const std::vector<CiSide>& sides, const std::string& folder,
                         bool overwrite) {
  return Measurement(config, sides, folder, overwrite).all();
}

}  // namespace wicprof::cli
