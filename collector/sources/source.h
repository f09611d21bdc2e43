// A source translates one group of CUPTI's records (or callbacks) to events. To add one: a file here and a line in
// sources/list.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/cupti_call.h"
#include "protocol/event_batch.h"

namespace wicprof::collector {

/// What a source needs to call CUPTI. Both members outlive the source.
struct Cupti {
  const CuptiApi& api;
  CUpti_SubscriberHandle subscriber;
};

class Source {
 public:
  /// `name`: the source's word in WICPROF_TRACE. `kinds`: the records that it handles.
  Source(std::string_view name, std::vector<CUpti_ActivityKind> kinds) : name_(name), kinds_(std::move(kinds)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string_view name() const { return name_; }
  std::span<const CUpti_ActivityKind> kinds() const { return kinds_; }

  /// Called once, within cuInit(), before all other functions: for setup that cannot happen later.
  virtual Result<> prepare(const Cupti& cupti);

  /// Start and stop recording; called within cuInit() or later. enable() stops at the first error and leaves enabled
  /// what it enabled before.
  virtual Result<> enable(const Cupti& cupti);
  virtual void disable(const Cupti& cupti);

  /// Called once, after the program has created its first context: for setup that CUPTI accepts only then. On a thread
  /// that holds none of the driver's locks.
  virtual Result<> context_created(const Cupti& cupti);

  /// Called once, after the first context and before the first record: writes what later events refer to. Any thread,
  /// perhaps within the driver.
  virtual void declare(EventBatch& batch);

  /// Handles a record of one of kinds(). False: the record is unusable, and the caller counts it. One buffer at a time.
  virtual bool record(const CUpti_Activity& record, EventBatch& batch);

  /// Called after the last record of a buffer.
  virtual void end_of_buffer(EventBatch& batch);

  /// Whether callback() does anything: a source that answers false spares every call of the program a call.
  virtual bool wants_callbacks() const { return false; }

  /// A callback, perhaps one that another source enabled. Any thread of the program; no lock is held.
  virtual void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data,
                        EventSink& sink);

  /// A callback of the resource domain, perhaps one that another source enabled; on the calling thread of the program,
  /// within the driver.
  virtual void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink& sink);

  /// Called every Environment::flush_ms after the first context, on the collector's own thread.
  virtual void tick(EventBatch& batch);

  /// The collector is about to leave a program that goes on: nothing here acts on a call of the program that begins
  /// from now on. False: a call on which it has acted has not returned yet; ask again. On a thread of the collector's.
  virtual bool lets_go() { return true; }

  /// The last call: writes what is still open.
  virtual void finish(EventSink& sink);

 private:
  std::string_view name_;
  std::vector<CUpti_ActivityKind> kinds_;
};

}  // namespace wicprof::collector
