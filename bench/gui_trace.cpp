// The window on a large trace, without a display: the time to the first picture, the time to build a frame (without
// rasterising) while a user zooms, pans and searches, and the window's memory. For a trace that grows by a million
// events per second, also how far the window lags behind: the age of the newest event in a frame. made_trace.h
// generates the trace; this is not timed.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/claim.h"
#include "bench/made_trace.h"
#include "gui/app/app.h"
#include "gui/shell.h"
#include "gui/source/facts.h"
#include "gui/window/fonts.h"
#include "gui/window/theme.h"
#include "protocol/events/kernel.h"
#include "protocol/ring.h"
#include "protocol/session.h"
#include "store/write/recorder.h"

namespace {

using namespace wicprof;

constexpr const char* kFactsWord = "--facts-of";
constexpr TimeNs kTimeout = 300 * kSecond;

double milliseconds(TimeNs ns) { return static_cast<double>(ns) / kMillisecond; }

/// A memory figure of this process such as VmHWM, in bytes.
double memory_figure(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::atof(line.c_str() + std::strlen(name) + 1) * 1024;
  }
  return 0;
}

/// Runs memory-intensive work in another process.
bool in_child(const std::function<bool()>& work) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(work() ? 0 : 1);
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/// ImGui without a window.
class Frames {
 public:
  Frames() {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // like the OpenGL backend
    io.DisplaySize = ImVec2(1440, 900);
    gui::load_fonts(ui_);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    io.Fonts->ClearTexData();  // a real window keeps the texture on its GPU
    gui::apply_style(ui_);
  }
  ~Frames() { ImGui::DestroyContext(); }

  double cpu_ms() const { return cpu_ms_; }  ///< CPU time of the last frame: its duration on an otherwise idle core
  bool blocked() const { return blocked_; }  ///< whether the frame's thread blocked

  /// Builds a frame and returns the time from the input to the triangles.
  TimeNs build(gui::App& app) {
    const TimeNs begun = now_ns(), cpu = thread_cpu();
    const long given_up = times_given_up();
    app.update();
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    shell_.draw(app, ui_);
    ImGui::Render();
    cpu_ms_ = milliseconds(thread_cpu() - cpu);
    blocked_ = times_given_up() != given_up;
    return now_ns() - begun;
  }

 private:
  static TimeNs thread_cpu() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
  }
  static long times_given_up() {
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  }
  double cpu_ms_ = 0;
  bool blocked_ = false;
  gui::Ui ui_;
  gui::Shell shell_;
};

/// Builds frames until a condition holds; false if it never does.
bool frames_until(Frames& frames, gui::App& app, const std::function<bool()>& so) {
  const TimeNs give_up = now_ns() + kTimeout;
  while (!so()) {
    frames.build(app);
    if (const auto error = app.progress().error) {
      std::fprintf(stderr, "gui_trace: %s\n", error->message.c_str());
      return false;
    }
    if (now_ns() > give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

struct Walk {
  std::vector<double> ms, cpu_ms;
  std::size_t blocked = 0;  // frames whose thread blocked
  double pictures_ms = 0;   // longest time until a new time range was fully shown
  bool good = true;
};

/// Simulates a user: pans at every zoom level, opens tracks, jumps to other places and searches.
Walk walk(Frames& frames, gui::App& app, std::uint32_t steps) {
  Walk walked;
  std::mt19937_64 random(1);
  const auto frame = [&] {
    walked.ms.push_back(milliseconds(frames.build(app)));
    walked.cpu_ms.push_back(frames.cpu_ms());
    walked.blocked += frames.blocked();
  };
  const auto settle = [&](int most) {
    // At the frame rate of a screen, so that background reads can finish in between.
    for (int i = 0; i < most; ++i) {
      frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
  };
  const gui::Timeline& timeline = *app.timeline();
  for (const gui::Track& track : timeline.tracks) {
    if (track.has_strip() && app.opened.size() < 2) app.opened.insert(track.key);
  }
  const char* words[] = {"halo", "relax", "cudaMemcpyAsync", "nothing like it"};
  for (std::uint32_t step = 0; step < steps; ++step) {
    app.window.show_all();
    frame();
    // Zoom in at a random place as far as possible, and out again.
    const double at = static_cast<double>(random() % 1000) / 1000;
    while (app.window.width() > 2 * gui::Viewport::kNarrowest) {
      app.window.zoom(1.5, at);
      settle(3);
      if (random() % 3 == 0) app.window.pan(random() % 2 == 0 ? 0.15 : -0.15);
      settle(2);
    }
    while (!app.window.shows_all()) {
      app.window.zoom(1 / 1.5, 0.5);
      settle(2);
    }
    app.scroll = static_cast<float>(random() % 3000);
    app.search_for(words[step % 4]);
    settle(30);
    for (int i = 0; i < 5; ++i) {
      app.next_hit(1);
      settle(10);
    }
    // The time until another time range is fully shown.
    const TimeNs width = (timeline.end - timeline.begin) >> (step % 16);
    const TimeNs begin =
        timeline.begin + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(std::max<TimeNs>(
                                                            timeline.end - timeline.begin - width, 1)));
    const std::uint64_t version = app.snapshot().version;
    app.window.show(begin, begin + width);
    const TimeNs asked = now_ns();
    while (app.snapshot().version == version && now_ns() - asked < 2 * kSecond) {
      frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (step % 16 != 0 && app.snapshot().version != version)
      walked.pictures_ms = std::max(walked.pictures_ms, milliseconds(now_ns() - asked));
  }
  return walked;
}

double percentile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

struct Live {
  std::vector<double> behind_ms;  // age of the newest shown event, per frame
  double events_per_second = 0, dropped = 0;
  double recorder_behind_ms = 0;  // longest time from an event to the recorder
  double memory = 0;              // maximum memory of the window's process in bytes, sampled per frame
  bool good = false;
};

/// A program's end of a ring and a recorder in a separate process: `rate` events per second for some seconds.
bool record_live(const std::string& path, std::int64_t rate, double seconds, int tell) {
  constexpr std::size_t kCapacity = std::size_t{64} << 20;
  std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(64, ring_bytes(kCapacity)), std::free);
  RingHeader* ring = make_ring(memory.get(), kCapacity);
  store::RecorderOptions options;
  options.path = path;
  options.overwrite = true;
  // Without a session, the window would assume that the recorder was killed.
  SessionOptions session_options;
  session_options.name = "bench_gui_trace_" + std::to_string(getpid());
  session_options.rings[0] = {1, std::size_t{64} << 10};
  const Result<SessionOwner> session = SessionOwner::create(session_options);
  if (!session) return false;
  options.meta[store::MetaKey::session] = session_options.name;
  Result<store::Recorder> recorder = store::Recorder::create(options);
  if (!recorder) return false;
  std::atomic<bool> done{false};
  std::thread producer([&] {
    RingWriter writer(ring);
    const bench::PutEvent put = [&](const EventHeader& event) {
      if (writer.write_records(reinterpret_cast<const std::byte*>(&event), event.size) == 0) writer.count_dropped(1);
    };
    // Iterations overlap if several must begin within one period.
    const auto begin = static_cast<std::uint64_t>(now_ns());
    const std::uint64_t step =
        static_cast<std::uint64_t>(1e9 * static_cast<double>(bench::kEventsPerIteration) / static_cast<double>(rate));
    bench::put_declarations(put, begin - bench::kPeriod);
    const auto iterations = static_cast<std::uint32_t>(seconds * static_cast<double>(rate) /
                                                       static_cast<double>(bench::kEventsPerIteration));
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const std::uint64_t due = begin + i * step;
      while (static_cast<std::uint64_t>(now_ns()) < due) std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (i % 5'000 == 0) bench::put_clock(put, due);
      bench::put_iteration(put, i, due - bench::kPeriod);  // its events are in the past
    }
    done = true;
  });
  RingReader reader(ring);
  TimeNs behind = 0;
  const TimeNs begun = now_ns();
  const auto take = [&](const EventHeader& event) {
    if (const auto* kernel = event_cast<KernelEvent>(event); kernel != nullptr && now_ns() - begun > kSecond)
      behind = std::max(behind, now_ns() - kernel->end_ns);
    recorder->add(0, event);
  };
  for (;;) {
    const bool last = done;
    const std::size_t read = reader.read(take, std::size_t{1} << 20);
    recorder->tick();
    recorder->set_ring_dropped(0, reader.dropped(), 0);
    if (read == 0 && last) break;
    if (read == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  producer.join();
  const Result<> finished = recorder->finish();
  if (!finished) std::fprintf(stderr, "gui_trace: %s\n", finished.error().message.c_str());
  return finished && write(tell, &behind, sizeof behind) == sizeof behind;
}

Live watch_live(const std::string& path, std::int64_t rate, double seconds) {
  Live live;
  int ends[2];
  if (pipe(ends) != 0) return live;
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) _exit(record_live(path, rate, seconds, ends[1]) ? 0 : 1);
  if (pid < 0) return live;
  gui::AppOptions options;
  options.files = {path};
  options.session.emplace();
  {
    Frames frames;
    gui::App app(options);
    const TimeNs begun = now_ns();
    TimeNs next = begun;
    while (now_ns() - begun < static_cast<TimeNs>(seconds * 1e9)) {
      frames.build(app);
      const gui::Snapshot& shown = app.snapshot();
      // The first second covers the program's start.
      if (shown.recording && now_ns() - begun > kSecond)
        live.behind_ms.push_back(milliseconds(now_ns() - shown.model->end));
      live.memory = std::max(live.memory, memory_figure("VmRSS:"));
      next += kSecond / 60;
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<TimeNs>(next - now_ns(), 0)));
    }
    if (const auto error = app.progress().error) std::fprintf(stderr, "gui_trace: %s\n", error->message.c_str());
  }
  int status = 0;
  TimeNs recorder_behind = 0;
  live.good = waitpid(pid, &status, 0) == pid && status == 0 &&
              read(ends[0], &recorder_behind, sizeof recorder_behind) == sizeof recorder_behind &&
              !live.behind_ms.empty();
  live.recorder_behind_ms = milliseconds(recorder_behind);
  close(ends[0]);
  close(ends[1]);
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return live;
  const auto stats = reader->stats();
  for (const store::StatRow& stat : *stats) {
    if (stat.name == "events") live.events_per_second = static_cast<double>(stat.value) / seconds;
    if (stat.name == "ring_dropped") live.dropped = static_cast<double>(stat.value);
  }
  return live;
}

/// Runs in a separate process, like a user's window.
Live watch_live_apart(const std::string& path, std::int64_t rate, double seconds) {
  Live live;
  const std::string answer = path + ".answer";
  const bool watched = in_child([&] {
    const Live seen = watch_live(path, rate, seconds);
    std::ofstream file(answer);
    file << seen.events_per_second << ' ' << seen.dropped << ' ' << seen.recorder_behind_ms << ' ' << seen.memory;
    for (const double behind : seen.behind_ms) file << ' ' << behind;
    file.close();
    return seen.good && file;
  });
  std::ifstream file(answer);
  file >> live.events_per_second >> live.dropped >> live.recorder_behind_ms >> live.memory;
  for (double behind = 0; file >> behind;) live.behind_ms.push_back(behind);
  unlink(answer.c_str());
  live.good = watched && !live.behind_ms.empty();
  return live;
}

/// Measures a complete trace. False if the window could not show it.
bool claim_recorded(bench::Claim& claim, const std::string& path, std::int64_t events, std::int64_t steps) {
  const std::map<std::string, bench::Parameter> params = {{"events", events}, {"walk", steps}};
  const auto bounded = [&](const char* name, double value, const char* unit, double bar, const char* words) {
    claim.add({name, params, value, unit, words, value / bar, 1, true});
  };
  bool good = false;
  {
    Frames frames;
    gui::AppOptions options;
    options.files = {path};
    options.analyst = {"/proc/self/exe", kFactsWord};
    const TimeNs begun = now_ns();
    gui::App app(options);
    good = frames_until(frames, app, [&] { return app.timeline() != nullptr; });
    frames.build(app);
    bounded("first_picture", static_cast<double>(now_ns() - begun) * 1e-9, "s", 1, "1 s");
    if (good) {
      const Walk before = walk(frames, app, static_cast<std::uint32_t>(steps));
      good = frames_until(frames, app, [&] { return app.facts() != nullptr; });
      claim.add({"analysed_after", params, static_cast<double>(now_ns() - begun) * 1e-9, "s"});
      const Walk after = walk(frames, app, static_cast<std::uint32_t>(steps));
      std::vector<double> all = before.ms;
      all.insert(all.end(), after.ms.begin(), after.ms.end());
      std::vector<double> cpu = before.cpu_ms;
      cpu.insert(cpu.end(), after.cpu_ms.begin(), after.cpu_ms.end());
      bounded("frame_cpu_p99", percentile(cpu, 0.99), "ms", 4, "4 ms");
      bounded("frame_cpu_worst", percentile(cpu, 1), "ms", 4, "4 ms");
      claim.add({"frames", params, static_cast<double>(all.size()), "frames"});
      claim.add({"frames_that_waited", params, static_cast<double>(before.blocked + after.blocked), "frames"});
      claim.add({"frame_p50", params, percentile(all, 0.5), "ms"});
      bounded("frame_p99", percentile(all, 0.99), "ms", 4, "4 ms");
      claim.add({"frame_worst", params, percentile(all, 1), "ms"});
      claim.add({"stretch_in_full_worst", params, after.pictures_ms, "ms"});
    }
    bounded("peak_memory", memory_figure("VmHWM:") / 1e6, "MB", 500, "500 MB");
  }
  return good;
}

/// Measures a growing trace in several runs. A run's worst value also reflects other load on the machine, so the bar
/// applies to the median of the runs; rows also hold the minimum and maximum. False if a trace could not be recorded or
/// shown.
bool claim_live(bench::Claim& claim, const std::string& live_path, std::int64_t rate, std::int64_t seconds,
                std::int64_t runs) {
  std::vector<Live> all;
  for (std::int64_t i = 0; i < runs; ++i) {
    all.push_back(watch_live_apart(live_path, rate, static_cast<double>(seconds)));
    for (const char* suffix : {"", "-wal", "-shm"}) unlink((live_path + suffix).c_str());
    if (!all.back().good) {
      std::fprintf(stderr, "gui_trace: cannot record or show the live trace\n");
      return false;
    }
  }
  const auto add = [&](const char* name, const char* unit, const std::function<double(const Live&)>& of, double bar = 0,
                       const char* words = "") {
    std::vector<double> values;
    for (const Live& live : all) values.push_back(of(live));
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    const std::map<std::string, bench::Parameter> params = {
        {"events_a_second", rate}, {"seconds", seconds}, {"runs", runs}, {"least", *least}, {"most", *most}};
    const double middle = percentile(values, 0.5);
    if (bar == 0) return claim.add({name, params, middle, unit});
    claim.add({name, params, middle, unit, words, middle / bar, 1, true});
  };
  std::vector<double> recorded;
  for (const Live& live : all) recorded.push_back(live.events_per_second);
  const double least_recorded = *std::min_element(recorded.begin(), recorded.end());
  claim.add({"live_recorded",
             {{"events_a_second", rate}, {"seconds", seconds}, {"runs", runs}},
             least_recorded,
             "events/s",
             std::to_string(rate) + " events/s, in the slowest run",
             least_recorded / static_cast<double>(rate),
             0.99});
  add("live_dropped", "events", [](const Live& live) { return live.dropped; });
  add("live_recorder_behind_worst", "ms", [](const Live& live) { return live.recorder_behind_ms; });
  add("live_behind_p50", "ms", [](const Live& live) { return percentile(live.behind_ms, 0.5); });
  add("live_behind_p99", "ms", [](const Live& live) { return percentile(live.behind_ms, 0.99); });
  const bool many = rate > 100'000;  // at higher rates the bar is 200 ms
  add(
      "live_behind_worst", "ms", [](const Live& live) { return percentile(live.behind_ms, 1); }, many ? 200 : 100,
      many ? "200 ms" : "100 ms");
  add(
      "live_memory", "MB", [](const Live& live) { return live.memory / 1e6; }, 500, "500 MB");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], kFactsWord) == 0) return gui::write_facts(argv[2]) ? 0 : 1;
  bench::Claim claim("gui_trace",
                     "the window on a large trace: first picture, frames, memory, and its lag on a live trace", argc,
                     argv);
  const std::int64_t events = claim.option("events", std::int64_t{10'000'000});
  const std::int64_t steps = claim.option("steps", std::int64_t{8});
  const std::int64_t rate = claim.option("rate", std::int64_t{1'000'000});
  const std::int64_t seconds = claim.option("live-seconds", std::int64_t{6});
  const std::int64_t runs = std::max<std::int64_t>(claim.option("live-runs", std::int64_t{5}), 1);
  const std::string part = claim.option("part", std::string("both"));  // recorded, live
  const std::string folder = claim.option("folder", std::string("/tmp"));
  std::string path = claim.option("trace", std::string());
  const bool own = path.empty();
  if (own) path = folder + "/gui_trace." + std::to_string(getpid()) + ".wicprof";
  const std::string live_path = folder + "/gui_trace_live." + std::to_string(getpid()) + ".wicprof";
  // Live first, because its child processes start with the memory of this process.
  if (part != "recorded" && !claim_live(claim, live_path, rate, seconds, runs)) return 2;
  if (part != "live") {
    if (own && !in_child([&] { return bench::make_trace(path, events); })) return 2;
    const bool shown = claim_recorded(claim, path, events, steps);
    if (own) {
      for (const char* suffix : {"", "-wal", "-shm", ".gui.json"}) unlink((path + suffix).c_str());
    }
    if (!shown) {
      std::fprintf(stderr, "gui_trace: cannot show the trace\n");
      return 2;
    }
  }
  return claim.write();
}
