// Turns events into rows: converts device clocks, resolves texts, writes in batches, counts what was lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "protocol/result.h"
#include "protocol/ring.h"
#include "protocol/time.h"
#include "store/format/meta_key.h"
#include "store/format/rows.h"
#include "store/format/stat_list.h"
#include "store/write/finish_watch.h"
#include "store/write/retention.h"
#include "store/write/wait_tally.h"

namespace wicprof::store {

struct RecorderOptions {
  std::string path;
  bool overwrite = false;
  std::map<MetaKey, std::string> meta;
  std::uint64_t max_bytes = 0;  ///< size at which the trace stops growing, as on a full disk; 0 = no limit
  RetentionPlan retention;      ///< which part to keep; by default everything
  /// When recording began on the host's clock: rows weeks away from then and from now are lost, and counted so. 0: any
  /// time is taken, for made traces.
  TimeNs began = 0;
  /// Asked while another process locks the trace (Writer::Patience). Empty: a lock of five seconds ends the recording.
  std::function<bool(const std::string& holder, TimeNs waited)> patience{};
  WaitTally* tally = nullptr;              ///< sums up the events of the whole recording; nullptr: nothing does
  std::function<TimeNs()> clock = now_ns;  ///< replaced by tests
};

/// What `run` shows while it records.
struct RecorderProgress {
  std::uint64_t events = 0;   ///< written as rows
  std::uint64_t waits = 0;    ///< of these, waits inside kernels
  std::uint64_t lost = 0;     ///< dropped anywhere on the way, where known
  std::uint64_t unknown = 0;  ///< records of kinds that this version does not know
  std::string stopped;        ///< why nothing more is written (disk full, say); empty while all is well
  std::string news;           ///< what others did to the file while recording goes on; empty: nothing
};

using SampledFunctions = std::map<std::uint64_t, std::set<std::string>>;

/// One thread.
class Recorder {
 public:
  /// Errors: the file exists and overwrite is off; the folder is missing or not writable.
  static Result<Recorder> create(const RecorderOptions& options);
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// The process that owns ring number `ring` from here on; 0 = none. Before this call, rows name no process.
  void set_ring_process(std::size_t ring, std::uint32_t pid);

  /// One record from ring number `ring` (texts are per ring). Never fails: when the disk is full the row is counted as
  /// lost.
  void add(std::size_t ring, const EventHeader& event);

  /// The text with that number in ring number `ring`; empty if it is not known.
  std::string text(std::size_t ring, TextId id) const;

  /// The name of the site with that number in ring number `ring`; empty if it is not known.
  std::string site_name(std::size_t ring, SiteId id) const;

  /// The current drop count of ring number `ring`, a running total.
  void set_ring_dropped(std::size_t ring, std::uint64_t dropped, std::uint64_t corrupt);

  /// Ring number `ring` has a new producer: texts, sites and drop counts start from the beginning.
  void forget_ring(std::size_t ring);

  /// Sets the fixed window of the retention plan, where its begin was not known before.
  void set_capture_window(TimeNs from, TimeNs until);

  /// Sets a counter of the trace's stat table to a total over the whole recording; a segment gets its part.
  void set_stat(Stat stat, const std::string& detail, std::uint64_t value);

  /// Commits the open batch once it is old (20 ms) or large (20,000 rows), so that a live reader sees it.
  void tick();

  void set_meta(MetaKey key, const std::string& value);

  /// Ends the file here and continues in a new one at `path`: a trace by itself, with the same `meta` but a new start,
  /// with the declarations, and with counters that start at 0. Returns the ended file's recorder, which takes no more
  /// events: describe and finish() it, on any one thread. The retention plan applies to each file by itself. Error: the
  /// new file cannot be made; recording goes on in the current one.
  Result<Recorder> next_segment(const std::string& path);

  /// The size of this file without its log: rows, texts and declarations so far.
  std::uint64_t file_bytes() const;

  /// The functions that have samples in this file so far: their symbols, by the CRC of their module.
  SampledFunctions sampled_functions() const;

  /// One instruction of such a function (`sass` in docs/schema.md). Counts as an event: lost when the disk is full.
  void add_sass(const SassRow& row);

  /// Matches waits with signals, makes indexes and summaries, marks the trace complete and folds everything into one
  /// file. What `watch` gives up is missing in the trace, and counted so. Error: writing failed; rows written before
  /// stay readable.
  Result<> finish(const FinishWatch& watch = {});

  RecorderProgress progress() const;
  /// Lost events by what lost them, 0 included: RecorderProgress::lost in parts.
  std::map<Stat, std::uint64_t> losses() const;

  /// Of this file; after finish() where the trace is, if others moved it.
  const std::string& path() const;
  /// After a finish() that failed: nothing is left under the name that was asked for, or not what was recorded.
  bool lost() const;

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::store
