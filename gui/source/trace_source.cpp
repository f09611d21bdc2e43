#include "gui/source/trace_source.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "analyzer/ranks/join.h"
#include "gui/source/analyst.h"
#include "gui/source/large_trace.h"
#include "gui/source/live_model.h"
#include "gui/source/low_priority.h"
#include "gui/source/segment_memory.h"
#include "gui/tracks/list.h"
#include "gui/view/sampled_polling.h"
#include "protocol/session.h"
#include "protocol/thread.h"
#include "store/read/reader.h"

namespace wicprof::gui {

namespace {

// For growing traces. Not calibrated; bench/gui_trace measures how far the window is behind the newest event.
constexpr TimeNs kTick = 20 * kMillisecond;          // least time between two reads
constexpr TimeNs kFactsTick = 300 * kMillisecond;    // least time between two analyses
constexpr TimeNs kTimeout = 10 * kSecond;            // how long to wait until the recorder creates the file
constexpr TimeNs kSessionTick = 500 * kMillisecond;  // time between two checks that the recorder is alive
constexpr std::size_t kRecentRows = 100'000;         // rows kept and analysed per list, and shown at most
constexpr TimeNs kPictureTime = 20 * kMillisecond;   // a slower picture shows fewer rows,
constexpr std::size_t kFewestRows = 20'000;          // but at least these
constexpr std::size_t kMaxEndedChanges = 4;          // changes whose rows are held until an analysis observes them

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// Whether a session of this name is recording now; false if sessions cannot be listed.
bool session_runs(const std::string& name) {
  const Result<std::vector<SessionInfo>> sessions = list_sessions();
  return sessions && std::any_of(sessions->begin(), sessions->end(), [&](const auto& s) { return s.name == name; });
}

}  // namespace

struct TraceSource::State {
  State(std::string file, bool is_live, std::vector<std::string> program)
      : path(std::move(file)), live(is_live), has_analyst(!program.empty()), analyst(std::move(program)) {
    start([this] { read(); });
  }
  explicit State(std::vector<std::string> files)
      : path(files.front()), live(false), has_analyst(false), analyst({}), job(std::move(files)) {
    start([this] { read_job(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    analyst.cancel();
    if (reading.joinable()) reading.join();
    if (analysing.joinable()) analysing.join();
  }

  template <class Read>
  void start(Read read_all) {
    analysing = start_thread([this] { analyse(); });
    if (analysing.joinable()) reading = start_thread(std::move(read_all));
    if (!reading.joinable()) fail(unavailable(refused_thread("the trace is not read")));
  }

  // Reading thread.

  void read_job() {
    std::vector<analyzer::TraceModel> traces;
    for (const std::string& file : job) {
      report("reading", 0.7 * static_cast<double>(traces.size()) / static_cast<double>(job.size()));
      if (stop) return;
      const Result<store::Reader> reader = store::Reader::open(file);
      if (!reader) return fail(reader.error());
      // The files of several machines may have one name.
      Result<analyzer::TraceModel> model = analyzer::load(*reader, file);
      if (!model) return fail(model.error());
      traces.push_back(*std::move(model));
    }
    report("aligning clocks", 0.7);
    Result<analyzer::TraceModel> joined = analyzer::join(std::move(traces));
    if (!joined) return fail(joined.error());
    show_whole(std::make_shared<const analyzer::TraceModel>(*std::move(joined)));
  }

  void read() {
    std::optional<store::Reader> reader = open();
    if (!reader) return;
    Result<std::map<std::string, std::string>> meta = reader->meta();
    // A new recorder creates the tables before it writes its state. Reopens the file each time: while there is no
    // write-ahead log, SQLite assumes that no process writes.
    for (const TimeNs give_up = now_ns() + kTimeout; live && meta && !meta->contains("state") && now_ns() < give_up;) {
      if (!pause(kTick)) return;
      reader = open();
      if (!reader) return;
      meta = reader->meta();
    }
    if (!meta) return fail(meta.error());
    if ((*meta)["state"] == "recording" && (live || session_runs((*meta)["session"]))) {
      if (!tail(*reader, (*meta)["session"])) return;
      // Reads the finished trace once more: the recorder sorts and matches rows at the end.
      Result<store::Reader> again = store::Reader::open(path);
      if (!again) return fail(again.error());
      reader.emplace(*std::move(again));
    }
    if (is_large(*reader)) {
      read_large(*std::move(reader));
    } else {
      read_whole(*reader);
    }
  }

  static bool is_large(const store::Reader& reader) {
    const Result<std::vector<store::StatRow>> stats = reader.stats();
    if (!stats) return false;  // reading the trace reports the error
    return std::any_of(stats->begin(), stats->end(), [](const store::StatRow& stat) {
      return stat.name == "events" && stat.value > static_cast<std::int64_t>(kLargeTrace);
    });
  }

  std::optional<store::Reader> open() {
    const TimeNs give_up = now_ns() + kTimeout;
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
    report("reading", 0);
    Result<analyzer::TraceModel> model =
        analyzer::load(reader, file_name(path), [this](std::size_t done, std::size_t of) {
          report("reading", 0.7 * static_cast<double>(done) / static_cast<double>(of));
          return !stop;
        });
    if (!model) return fail(model.error());
    show_whole(std::make_shared<const analyzer::TraceModel>(std::move(*model)));
  }

  void show_whole(const std::shared_ptr<const analyzer::TraceModel>& shared) {
    report("arranging", 0.7);
    publish(shared, false, false);
    report("analysing", 0.85);
    request_facts({shared, std::nullopt, {}, false});
  }

  /// Publishes pictures of the stretch that the window shows, until told to stop.
  void read_large(store::Reader reader) {
    report("reading", 0);
    Result<LargeTrace> trace = LargeTrace::open(std::move(reader), file_name(path), [this](double part) {
      report("summarising", part);
      return !stop;
    });
    if (!trace) return fail(trace.error());
    Picture picture = trace->whole();
    {  // the stretch until the window requests another one
      const std::lock_guard lock(mutex);
      wanted_begin = picture.begin;
      wanted_end = picture.end;
    }
    publish_large(*trace, picture);
    if (has_analyst) {
      report("analysing", 0.5);
      request_facts({nullptr, std::nullopt, {}, true});
    } else {
      report("", 1);
    }
    std::string searched;
    for (;;) {
      std::string text;
      TimeNs begin = 0, end = 0;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || text_wanted != searched || !picture.serves(wanted_begin, wanted_end); });
        if (stop) return;
        text = text_wanted;
        begin = wanted_begin;
        end = wanted_end;
      }
      if (!picture.serves(begin, end)) {
        Result<Picture> next = trace->picture(begin, end);
        if (!next) return fail(next.error());
        picture = *std::move(next);
        publish_large(*trace, picture);
      }
      if (text != searched) {
        Result<SearchHits> hits = trace->search(text);
        if (!hits) return fail(hits.error());
        searched = text;
        const std::lock_guard lock(mutex);
        auto with = std::make_shared<Snapshot>(*current);
        ++with->version;
        with->found = std::make_shared<const SearchHits>(*std::move(hits));
        current = std::move(with);
      }
    }
  }

  void publish_large(const LargeTrace& trace, const Picture& picture) {
    auto next = std::make_shared<Snapshot>();
    const std::lock_guard lock(mutex);
    next->version = current->version + 1;
    next->facts = current->facts;
    next->found = current->found;
    next->model = picture.model;
    next->timeline = picture.timeline;
    if (next->facts && !next->facts->analysis.polling_loops.empty()) {
      Timeline timeline = *picture.timeline;
      add_polling(timeline, *next->model, next->facts->analysis.polling_loops);
      next->timeline = std::make_shared<const Timeline>(std::move(timeline));
    }
    const store::Overview& all = trace.overview();
    next->status = status_line(
        *next->model, next->facts ? &next->facts->analysis : nullptr,
        {all.rows(store::RowKind::wait) + all.rows(store::RowKind::host_wait), all.rows(store::RowKind::signal),
         all.rows(store::RowKind::kernel), all.rows(store::RowKind::call)},
        false);
    next->large = true;
    next->published = now_ns();
    current = std::move(next);
  }

  /// Returns true when recording ends, false when told to stop or when the trace cannot be read.
  bool tail(const store::Reader& reader, const std::string& session) {
    LiveModel model;
    TimeNs look_at_session = now_ns() + kSessionTick;
    TimeNs next_facts = 0;
    TimeNs pause_ns = kTick;
    std::size_t shown = kRecentRows;
    std::vector<LiveMoment> ended;
    std::size_t interventions = 0;
    bool first = true;
    for (;;) {
      const Result<bool> fresh = model.fetch(reader);
      if (!fresh) {
        fail(fresh.error());
        return false;
      }
      if (*fresh || first) {
        const TimeNs fetched = now_ns();
        const bool cut = model.longer_than(shown);
        publish(named(model.now().model(shown)), true, cut);
        first = false;
        const TimeNs took = now_ns() - fetched;
        if (took > kPictureTime) shown = std::max(kFewestRows, shown / 2);
        if (took < kPictureTime / 4) shown = std::min(kRecentRows, shown * 2);
        // Leaves other threads as much time as the picture took.
        pause_ns = std::max(kTick, took);
      }
      if (model.complete()) return true;
      // Holds the rows before a change: they may be dropped before the analysis gets to them. Of too many changes, the
      // newest replaces the last.
      if (model.interventions() != std::exchange(interventions, model.interventions())) {
        if (ended.size() == kMaxEndedChanges) ended.pop_back();
        ended.push_back(model.now());
      }
      model.keep_recent(kRecentRows);
      if (now_ns() >= next_facts && facts_idle()) {
        request_facts({nullptr, model.now(), std::exchange(ended, {}), false});
        next_facts = now_ns() + std::max(kFactsTick, 4 * facts_cost.load());
      }
      if (now_ns() >= look_at_session) {
        // The recorder ended without closing the trace: no more rows will come.
        if (!*fresh && !session_runs(session)) return true;
        look_at_session = now_ns() + kSessionTick;
      }
      report("", 1);
      if (!pause(pause_ns)) return false;
    }
  }

  std::shared_ptr<const analyzer::TraceModel> named(analyzer::TraceModel model) const {
    model.name = file_name(path);
    return std::make_shared<const analyzer::TraceModel>(std::move(model));
  }

  void publish(std::shared_ptr<const analyzer::TraceModel> model, bool recording, bool cut) {
    auto timeline = std::make_shared<Timeline>(build_timeline(*model, kTrackKinds));
    if (const auto facts = snapshot()->facts) add_polling(*timeline, *model, facts->analysis.polling_loops);
    const Contents contents = contents_of(*model);
    auto next = std::make_shared<Snapshot>();
    const std::lock_guard lock(mutex);
    next->version = current->version + 1;
    next->facts = current->facts;
    next->model = std::move(model);
    next->timeline = std::move(timeline);
    next->status = status_line(*next->model, next->facts ? &next->facts->analysis : nullptr, contents, recording);
    next->recording = recording;
    next->cut = cut;
    next->published = now_ns();
    current = std::move(next);
  }

  // Analysing thread.

  struct FactsRequest {
    std::shared_ptr<const analyzer::TraceModel> model;  // of a finished trace
    std::optional<LiveMoment> moment;                   // of a growing trace: now,
    std::vector<LiveMoment> ended;                      // and just after each change since the last request
    bool in_process = false;                            // of a large trace: use the separate process
  };

  void request_facts(FactsRequest request) {
    {
      const std::lock_guard lock(mutex);
      wanted = std::move(request);
    }
    wake.notify_all();
  }
  bool facts_idle() const {
    const std::lock_guard lock(mutex);
    return !wanted && !busy;
  }

  void analyse() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return stop || wanted; });
      if (stop) return;
      std::optional<FactsRequest> request = std::exchange(wanted, std::nullopt);
      busy = true;
      lock.unlock();
      if (request->in_process) {
        facts_from_process();
      } else {
        facts_of(*request);
      }
      request.reset();  // freeing its rows takes time
      lock.lock();
      busy = false;
    }
  }

  void facts_of(const FactsRequest& request) {
    const TimeNs begun = now_ns();
    std::shared_ptr<const analyzer::TraceModel> model = request.model;
    std::shared_ptr<const Facts> facts;
    analyzer::Matching matching;
    const auto work = [&] {
      if (request.moment) model = named(request.moment->model());
      const TimeNs known_from = request.moment ? request.moment->known_from() : 0;
      Facts made = make_facts(model, known_from);
      if (request.moment) {
        for (const LiveMoment& moment : request.ended) memory.observe(moment.model(), moment.known_from());
        memory.observe(*model, known_from);
        if (known_from > 0) memory.complete(made.comparison, made.before_after);
      }
      facts = std::make_shared<const Facts>(std::move(made));
      matching = analyzer::match(*model);
    };
    if (request.moment) {
      at_low_priority(work);  // the recorded program and its recorder have priority
    } else {
      work();
    }
    facts_cost = now_ns() - begun;
    std::shared_ptr<const Timeline> with_edges;
    if (snapshot()->model == model) {
      Timeline timeline = *snapshot()->timeline;
      add_edges(timeline, *model, matching);
      add_polling(timeline, *model, facts->analysis.polling_loops);
      with_edges = std::make_shared<const Timeline>(std::move(timeline));
    }
    publish_facts(std::move(facts), model, std::move(with_edges));
  }

  void facts_from_process() {
    Result<Facts> facts = analyst.analyse(path);
    if (stop) return;
    if (!facts) return fail(facts.error());
    const std::shared_ptr<const Snapshot> shown = snapshot();
    Timeline timeline = *shown->timeline;
    add_polling(timeline, *shown->model, facts->analysis.polling_loops);
    publish_facts(std::make_shared<const Facts>(*std::move(facts)), shown->model,
                  std::make_shared<const Timeline>(std::move(timeline)));
  }

  void publish_facts(std::shared_ptr<const Facts> facts, const std::shared_ptr<const analyzer::TraceModel>& model,
                     std::shared_ptr<const Timeline> with_edges) {
    const std::lock_guard lock(mutex);
    auto next = std::make_shared<Snapshot>(*current);
    ++next->version;
    if (with_edges && next->model == model) next->timeline = std::move(with_edges);
    next->status.overhead = overhead_words(facts->analysis);
    next->facts = std::move(facts);
    next->published = now_ns();
    current = std::move(next);
    progress = {"", 1, std::nullopt};
  }

  // Any thread.

  std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard lock(mutex);
    return current;
  }
  void report(std::string doing, double part) {
    const std::lock_guard lock(mutex);
    progress = {std::move(doing), part, std::nullopt};
  }
  void fail(const Error& error) {
    const std::lock_guard lock(mutex);
    progress = {"", 1, error};
  }
  /// Returns false when told to stop.
  bool pause(TimeNs ns) {
    std::unique_lock lock(mutex);
    return !wake.wait_for(lock, std::chrono::nanoseconds(ns), [this] { return stop.load(); });
  }

  void show(TimeNs begin, TimeNs end) {
    {
      const std::lock_guard lock(mutex);
      if (wanted_begin == begin && wanted_end == end) return;
      wanted_begin = begin;
      wanted_end = end;
    }
    wake.notify_all();
  }
  void search(const std::string& text) {
    {
      const std::lock_guard lock(mutex);
      text_wanted = text;
    }
    wake.notify_all();
  }

  const std::string path;
  const bool live;
  const bool has_analyst;
  Analyst analyst;
  const std::vector<std::string> job;  // empty: one trace
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::atomic<bool> stop{false};
  std::atomic<TimeNs> facts_cost{0};
  std::shared_ptr<const Snapshot> current = std::make_shared<const Snapshot>();
  LoadProgress progress{"opening", 0, std::nullopt};
  std::optional<FactsRequest> wanted;       // for the analysing thread
  TimeNs wanted_begin = 0, wanted_end = 1;  // visible stretch of a large trace
  std::string text_wanted;
  SegmentMemory memory;  // analysing thread only
  bool busy = false;
  std::thread reading, analysing;  // last, because they use all members above
};

TraceSource::TraceSource(std::string path, bool live, std::vector<std::string> analyst)
    : state_(std::make_unique<State>(std::move(path), live, std::move(analyst))) {}
TraceSource::TraceSource(std::vector<std::string> job) : state_(std::make_unique<State>(std::move(job))) {}
TraceSource::~TraceSource() = default;

std::shared_ptr<const Snapshot> TraceSource::snapshot() const { return state_->snapshot(); }

LoadProgress TraceSource::progress() const {
  const std::lock_guard lock(state_->mutex);
  return state_->progress;
}

const std::string& TraceSource::path() const { return state_->path; }

void TraceSource::show(TimeNs begin, TimeNs end) { state_->show(begin, end); }
void TraceSource::search(const std::string& text) { state_->search(text); }

}  // namespace wicprof::gui
