// A trace that grows: rows are fetched as they come, and what is shown of it is its last part.
#pragma once

#include <cstddef>
#include <memory>

#include "analyzer/trace/trace_model.h"
#include "gui/source/growing_list.h"
#include "protocol/result.h"
#include "store/read/reader.h"

namespace wicprof::gui {

/// The lists of a trace that grow without bound, in the order in which rows came.
struct GrowingLists {
  GrowingList<store::WaitRow> waits;
  GrowingList<store::SignalRow> signals;
  GrowingList<store::HostWaitRow> host_waits;
  GrowingList<store::KernelRow> kernels;
  GrowingList<store::CopyRow> copies;
  GrowingList<store::CallRow> calls;
  GrowingList<store::NvtxRow> nvtx;
  GrowingList<store::UvmRow> uvm;
  GrowingList<store::ThreadSampleRow> thread_samples;
};

/// What was there at some moment. To have one is cheap, since it shares its rows.
class LiveMoment {
 public:
  /// The last `rows` rows of each list, or all, in order of time. Takes time with their number; any thread.
  analyzer::TraceModel model(std::size_t rows = ~std::size_t{0}) const;
  /// Waits that ended before are missing, since they were let go of; 0: none are.
  TimeNs known_from() const { return known_from_; }

 private:
  friend class LiveModel;
  std::shared_ptr<const analyzer::TraceModel> small_ =
      std::make_shared<const analyzer::TraceModel>();  // the other lists
  GrowingLists lists_;
  TimeNs known_from_ = 0;
};

/// One thread at a time.
class LiveModel {
 public:
  /// Fetches what has come since. True: there was something.
  Result<bool> fetch(const store::Reader& reader);
  const LiveMoment& now() const { return now_; }
  bool longer_than(std::size_t rows) const;
  /// Lets go of all but about the last `rows` rows of each list, so that memory and the time that an analysis takes
  /// stay bounded.
  void keep_recent(std::size_t rows);
  /// How often the way of waiting has changed.
  std::size_t interventions() const { return now_.small_->interventions.size(); }
  bool complete() const { return now_.small_->meta_value("state") == "complete"; }

 private:
  struct Seen {  // the newest row of each list
    store::RowId waits = 0, signals = 0, host_waits = 0, kernels = 0, copies = 0, calls = 0, nvtx = 0, uvm = 0,
                 thread_samples = 0;
  };
  template <class Visit>
  static void for_each_list(const Visit& visit);

  LiveMoment now_;
  Seen seen_;
};

}  // namespace wicprof::gui
