#include "gui/source/trace_source.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "analyzer/figures/list.h"
#include "analyzer/reports/figure_report.h"
#include "gui/source/live_model.h"
#include "protocol/session.h"
#include "store/reader.h"

namespace wicprof::gui {

namespace {

constexpr TimeNs kTick = 20 * kMillisecond;          // between two looks at a trace that is written
constexpr TimeNs kFactsTick = 300 * kMillisecond;    // between two analyses of one, at least
constexpr TimeNs kPatience = 10 * kSecond;           // until the recorder has made the file
constexpr TimeNs kSessionTick = 500 * kMillisecond;  // between two looks whether the recorder lives
constexpr std::size_t kRecentRows = 100'000;         // of each list, shown of a trace that is being written

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// Whether somebody records under this name now. Where sessions cannot be listed: no.
bool session_runs(const std::string& name) {
  const Result<std::vector<SessionInfo>> sessions = list_sessions();
  return sessions && std::any_of(sessions->begin(), sessions->end(), [&](const auto& s) { return s.name == name; });
}

}  // namespace

struct TraceSource::State {
  State(std::string file, bool is_live) : path(std::move(file)), live(is_live) {
    reading = std::thread([this] { read(); });
    analysing = std::thread([this] { analyse(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    reading.join();
    analysing.join();
  }

  // The reading thread.

  void read() {
    std::optional<store::Reader> reader = open();
    if (!reader) return;
    Result<std::map<std::string, std::string>> meta = reader->meta();
    if (!meta) return fail(meta.error());
    if ((*meta)["state"] == "recording" && (live || session_runs((*meta)["session"]))) {
      if (!tail(*reader, (*meta)["session"])) return;
      // Once more as a whole: what is sorted and matched at the end is then in its place.
      Result<store::Reader> again = store::Reader::open(path);
      if (!again) return fail(again.error());
      reader.emplace(*std::move(again));
    }
    read_whole(*reader);
  }

  std::optional<store::Reader> open() {
    const TimeNs give_up = now_ns() + kPatience;
    for (;;) {
      Result<store::Reader> reader = store::Reader::open(path);
      if (reader) return std::optional<store::Reader>(*std::move(reader));
      if (!live || now_ns() >= give_up || !pause(kTick)) {
        fail(reader.error());
        return std::nullopt;
      }
    }
  }

  void read_whole(const store::Reader& reader) {
    say("reading", 0);
    Result<analyzer::TraceModel> model = analyzer::load(reader, file_name(path), [this](std::size_t done, std::size_t of) {
      say("reading", 0.7 * static_cast<double>(done) / static_cast<double>(of));
      return !stop;
    });
    if (!model) return fail(model.error());
    auto shared = std::make_shared<const analyzer::TraceModel>(std::move(*model));
    say("arranging", 0.7);
    publish(shared, false, false);
    say("analysing", 0.85);
    ask_for_facts(shared);
  }

  /// False: told to stop, or the trace cannot be read.
  bool tail(const store::Reader& reader, const std::string& session) {
    LiveModel model;
    TimeNs look_at_session = now_ns() + kSessionTick;
    TimeNs next_facts = 0;
    TimeNs pause_ns = kTick;
    bool first = true;
    for (;;) {
      const TimeNs begun = now_ns();
      const Result<bool> fresh = model.fetch(reader);
      if (!fresh) {
        fail(fresh.error());
        return false;
      }
      if (*fresh || first) {
        const bool cut = model.longer_than(kRecentRows);
        auto shared = std::make_shared<analyzer::TraceModel>(cut ? model.recent(kRecentRows) : model.whole());
        shared->name = file_name(path);
        publish(std::move(shared), true, cut);
        first = false;
        // A long picture takes longer to make; half of the time is left to others.
        pause_ns = std::max(kTick, now_ns() - begun);
      }
      if (model.complete()) return true;
      if (now_ns() >= next_facts && facts_idle()) {
        auto whole = std::make_shared<analyzer::TraceModel>(model.whole());
        whole->name = file_name(path);
        ask_for_facts(std::move(whole));
        next_facts = now_ns() + std::max(kFactsTick, 4 * facts_cost.load());
      }
      if (now_ns() >= look_at_session) {
        // Its recorder is gone without a word: what there is is all there will be.
        if (!*fresh && !session_runs(session)) return true;
        look_at_session = now_ns() + kSessionTick;
      }
      say("", 1);
      if (!pause(pause_ns)) return false;
    }
  }

  void publish(std::shared_ptr<const analyzer::TraceModel> model, bool recording, bool cut) {
    auto timeline = std::make_shared<const Timeline>(build_timeline(*model));
    auto next = std::make_shared<Snapshot>();
    const std::lock_guard lock(mutex);
    next->version = current->version + 1;
    next->facts = current->facts;
    next->model = std::move(model);
    next->timeline = std::move(timeline);
    next->status = status_line(*next->model, next->facts ? &next->facts->analysis : nullptr);
    next->recording = recording;
    next->cut = cut;
    next->published = now_ns();
    current = std::move(next);
  }

  // The analysing thread.

  void ask_for_facts(std::shared_ptr<const analyzer::TraceModel> model) {
    {
      const std::lock_guard lock(mutex);
      wanted = std::move(model);
    }
    wake.notify_all();
  }
  bool facts_idle() const {
    const std::lock_guard lock(mutex);
    return wanted == nullptr && !busy;
  }

  void analyse() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return stop || wanted != nullptr; });
      if (stop) return;
      const std::shared_ptr<const analyzer::TraceModel> model = std::exchange(wanted, nullptr);
      busy = true;
      lock.unlock();
      const TimeNs begun = now_ns();
      auto facts = std::make_shared<Facts>();
      facts->model = model;
      facts->analysis = analyzer::analyze(*model);
      facts->comparison = analyzer::compare(*model);
      facts->before_after = before_after(*model, facts->comparison);
      const analyzer::FigureInput input = analyzer::figure_input({model.get()});
      for (const analyzer::FigureInfo& info : analyzer::figures()) facts->figures.push_back(analyzer::make_figure(info.number, input));
      const analyzer::Matching matching = analyzer::match(*model);
      facts_cost = now_ns() - begun;
      std::shared_ptr<const Timeline> with_edges;
      if (snapshot()->model == model) {
        Timeline timeline = *snapshot()->timeline;
        add_edges(timeline, *model, matching);
        with_edges = std::make_shared<const Timeline>(std::move(timeline));
      }
      lock.lock();
      busy = false;
      auto next = std::make_shared<Snapshot>(*current);
      ++next->version;
      if (with_edges && next->model == model) next->timeline = std::move(with_edges);
      next->status = status_line(*next->model, &facts->analysis);
      next->facts = std::move(facts);
      next->published = now_ns();
      current = std::move(next);
      progress = {"", 1, std::nullopt};
    }
  }

  // Any thread.

  std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard lock(mutex);
    return current;
  }
  void say(std::string doing, double part) {
    const std::lock_guard lock(mutex);
    progress = {std::move(doing), part, std::nullopt};
  }
  void fail(const Error& error) {
    const std::lock_guard lock(mutex);
    progress = {"", 1, error};
  }
  /// False: told to stop.
  bool pause(TimeNs ns) {
    std::unique_lock lock(mutex);
    return !wake.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return stop.load(); });
  }

  const std::string path;
  const bool live;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::atomic<bool> stop{false};
  std::atomic<TimeNs> facts_cost{0};
  std::shared_ptr<const Snapshot> current = std::make_shared<const Snapshot>();
  LoadProgress progress{"opening", 0, std::nullopt};
  std::shared_ptr<const analyzer::TraceModel> wanted;
  bool busy = false;
  std::thread reading, analysing;  // last: they use all of the above
};

TraceSource::TraceSource(std::string path, bool live) : state_(std::make_unique<State>(std::move(path), live)) {}
TraceSource::~TraceSource() = default;

std::shared_ptr<const Snapshot> TraceSource::snapshot() const { return state_->snapshot(); }

LoadProgress TraceSource::progress() const {
  const std::lock_guard lock(state_->mutex);
  return state_->progress;
}

const std::string& TraceSource::path() const { return state_->path; }

}  // namespace wicprof::gui
