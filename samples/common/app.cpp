#include "common/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

#include "common/known_delay.h"
#include "common/measure.h"
#include "common/options.h"

namespace sample {
namespace {

struct Program {
  SampleOptions common;
  AppOptions app;
};

const std::map<std::string, Way> kWays{{"naive", Way::naive}, {"poll", Way::poll}, {"park", Way::park}};

std::map<std::string, Rival> rivals_by_name() {
  std::map<std::string, Rival> rivals;
  for (const RivalInfo& info : kRivals) rivals.emplace(info.name, info.rival);
  return rivals;
}

/// How the program waits and moves its messages: "poll", "poll with effshare".
std::string way_name(const AppOptions& app) {
  const auto way = std::find_if(kWays.begin(), kWays.end(), [&](const auto& each) { return each.second == app.way; });
  if (app.rival == Rival::none) return way->first;
  return way->first + " with " + rival_info(app.rival).name;
}

void add_app_options(CLI::App& cli, const AppInfo& info, Program& program) {
  AppOptions& app = program.app;
  cli.add_option("-w,--wait", app.way,
                 fmt::format("{}poll (tuned polling) or park; wic-prof's --mode and toggle take precedence",
                             info.no_naive != nullptr ? "" : fmt::format("naive ({}), ", info.naive)))
      ->transform(CLI::CheckedTransformer(kWays))
      ->default_str("poll");
  cli.add_option(
         "--rival", app.rival,
         "move messages as a rival of the WIC paper does (figure 17; samples/rivals/README.md), with --wait poll "
         "or park")
      ->transform(CLI::CheckedTransformer(rivals_by_name()))
      ->default_str("none");
  cli.add_option("-n,--size", app.size, info.size_help)->check(CLI::Range(1u, 1u << 30));
  cli.add_option("--blocks", app.blocks, "blocks per consumer kernel (default: the application's choice)")
      ->check(CLI::Range(1u, 1u << 20));
  cli.add_option("--block-size", app.block_size, "threads per block of that kernel, a multiple of 32")
      ->check(CLI::Range(32u, 1024u) & CLI::Validator(
                                           [](const std::string& text) {
                                             return std::stoul(text) % 32 == 0 ? std::string()
                                                                               : text + " is not a multiple of 32";
                                           },
                                           "a multiple of 32"));
  for (const AppOption& option : info.options) {
    std::string& value = app.more[option.name] = option.default_value;
    CLI::Option* added = cli.add_option(std::string("--") + option.name, value, option.help)->capture_default_str();
    if (option.max != 0) added->check(CLI::Range(option.min, option.max));
  }
}

// A device named twice plays several ends, and messages between them stay in its memory.
void report_shared_devices(const wic::Runtime& runtime, const char* name) {
  std::map<wic::DeviceId, int> parts;
  for (std::size_t d = 0; d < runtime.device_count(); ++d) ++parts[runtime.device(d).properties().id];
  for (std::size_t d = 0; d < runtime.device_count(); ++d) {
    const wic::DeviceProperties& device = runtime.device(d).properties();
    if (parts[device.id] < 2) continue;
    std::fprintf(stderr, "%s: %s plays %d of the devices: their messages do not cross between devices\n", name,
                 device.name.c_str(), parts[device.id]);
    parts[device.id] = 0;
  }
}

wic::Result<std::unique_ptr<wic::Runtime>> open_runtime(const AppInfo& info, const SampleOptions& options) {
  auto runtime = wic::Runtime::create(options.runtime());
  if (!runtime) return runtime;
  if (!(*runtime)->warning().empty()) std::fprintf(stderr, "%s: %s\n", info.name, (*runtime)->warning().c_str());
  if ((*runtime)->device_count() < info.min_devices) {
    return wic::bad_input(fmt::format(
        "needs {} devices but got {}: use --devices cuda:0,cuda:1, cuda:0,cuda:0 (one GPU plays both), or simt:{}",
        info.min_devices, (*runtime)->device_count(), info.min_devices));
  }
  report_shared_devices(**runtime, info.name);
  return runtime;
}

struct Times {
  std::vector<double> us;
  wic::TimeNs wall_ns = 0, cpu_ns = 0;  // of all steps; CPU time of the whole process
  double at(double share) const { return at_share(us, share); }
};

wic::Result<> run(App& app, const wic::Runtime& runtime, const SampleOptions& options, Times& times) {
  const KnownDelay delay(runtime);
  const wic::TimeNs first = wic::now_ns(), first_cpu = process_cpu_ns();
  for (Progress progress(options); progress.more();) {
    const wic::TimeNs begin = wic::now_ns();
    if (wic::Result<> done = app.step(progress.next()); !done) return done;
    delay.after(begin);
    times.us.push_back(static_cast<double>(wic::now_ns() - begin) / 1e3);
  }
  times.wall_ns = wic::now_ns() - first;
  times.cpu_ns = process_cpu_ns() - first_cpu;
  return app.check();
}

void report_felt(const AppInfo& info, const Felt& felt, const Times& times) {
  if (felt.unit == nullptr || times.wall_ns <= 0) return;
  const double seconds = static_cast<double>(times.wall_ns) * 1e-9;
  std::string line = fmt::format("{}: {:.4g} {}/s", info.name, felt.work / seconds, felt.unit);
  if (!felt.latency_ns.empty()) {
    line += fmt::format(", each p50 {:.1f} us, p99 {:.1f} us", at_share(felt.latency_ns, 0.5) / 1e3,
                        at_share(felt.latency_ns, 0.99) / 1e3);
  }
  if (felt.beside_unit != nullptr)
    line += fmt::format(", beside it {:.4g} {}/s", felt.beside / seconds, felt.beside_unit);
  fmt::print("{}, {:.2f} CPUs\n", line, static_cast<double>(times.cpu_ns) / static_cast<double>(times.wall_ns));
}

int report(const AppInfo& info, const Program& program, App& app, const Times& times, const wic::Result<>& result) {
  if (!result && result.error().kind != wic::ErrorKind::failed) return fail(info.name, result.error());
  report_felt(info, app.take_felt(), times);
  const Traffic traffic = app.traffic();
  fmt::print(
      "{}: {} steps on {} ({}), {}, step p50 {:.1f} us ({:.1f} to {:.1f}), {:.4g} messages ({:.1f} KiB) per step, {}\n",
      info.name, times.us.size(), program.common.devices, way_name(program.app), app.shape(), times.at(0.5),
      times.at(0.05), times.at(0.95), traffic.messages, traffic.bytes / 1024, result ? "ok" : "FAILED");
  if (result) return 0;
  fmt::print("{}: {}\n", info.name, result.error().message);
  return 1;
}

}  // namespace

std::uint32_t AppOptions::number(const std::string& name) const {
  return static_cast<std::uint32_t>(std::stoul(more.at(name)));
}

wic::Result<> check_way(const AppInfo& info, Way way) {
  if (way != Way::naive || info.no_naive == nullptr) return wic::ok();
  return wic::bad_input(fmt::format("--wait naive: {}", info.no_naive));
}

wic::Result<> check_rival(const AppInfo& info, const AppOptions& options) {
  if (options.rival == Rival::none) return wic::ok();
  if (info.no_rival != nullptr) {
    return wic::bad_input(fmt::format("--rival {}: {}", rival_info(options.rival).name, info.no_rival));
  }
  const RivalInfo& rival = rival_info(options.rival);
  if (options.way == Way::naive) {
    return wic::bad_input("--rival replaces how --wait naive moves messages; choose --wait poll or park");
  }
  if (rival.between_gpus != (info.min_devices > 1)) {
    return wic::bad_input(fmt::format(
        "--rival {} moves messages between {}", rival.name,
        rival.between_gpus ? "GPUs, and here one end is the CPU" : "the CPU and a GPU, and here both ends are GPUs"));
  }
  const char* reason = rival.refused_by_all;
  for (const RivalRefusal& refusal : info.refused) {
    if (refusal.rival == options.rival) reason = refusal.reason;
  }
  return reason == nullptr ? wic::ok()
                           : wic::Result<>(wic::bad_input(fmt::format("--rival {}: {}", rival.name, reason)));
}

int run_app(const AppInfo& info, int argc, char** argv) {
  CLI::App cli{fmt::format("{}: {}\nExample: wic-prof run --schedule poll:2s,park:2s -- {} --devices {} --seconds 4",
                           info.name, info.summary, info.name, info.devices)};
  Program program;
  program.common.devices = info.devices;
  add_options(cli, program.common, WaitOption::added_by_app);
  add_app_options(cli, info, program);
  if (const auto status = parse(cli, argc, argv)) return *status;
  program.common.wait = program.app.way == Way::park ? wic::Mode::park : wic::Mode::poll;
  program.app.on_gpu = program.common.on_gpu();
  program.app.timeout_ns = program.common.timeout_ns();
  if (const auto accepted = check_way(info, program.app.way); !accepted) return fail(info.name, accepted.error());
  if (const auto accepted = check_rival(info, program.app); !accepted) return fail(info.name, accepted.error());
  try {
    auto runtime = open_runtime(info, program.common);
    if (!runtime) return fail(info.name, runtime.error());
    auto app = info.make(**runtime, program.app);
    if (!app) return fail(info.name, app.error());
    Times times;
    const wic::Result<> result = run(**app, **runtime, program.common, times);
    return report(info, program, **app, times, result);
  } catch (const std::bad_alloc&) {
    return fail(info.name, wic::unavailable("not enough memory; choose a smaller --size"));
  }
}

}  // namespace sample
