// A source: one group of CUPTI's records (or callbacks) and how they become events. To add one: a file here and a line
// in sources/list.cpp.
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

/// CUPTI as a source sees it. Both outlive the source.
struct Cupti {
  const CuptiApi& api;
  CUpti_SubscriberHandle subscriber;
};

class Source {
 public:
  /// `name`: the source's word in WICPROF_TRACE. `kinds`: the records it takes.
  Source(std::string_view name, std::vector<CUpti_ActivityKind> kinds) : name_(name), kinds_(std::move(kinds)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::string_view name() const { return name_; }
  std::span<const CUpti_ActivityKind> kinds() const { return kinds_; }

  /// Once, within cuInit(), before all else: for what cannot begin later.
  virtual Result<> prepare(const Cupti& cupti);

  /// From now on records are wanted, within cuInit() or later; and no longer. The first error ends it; what was enabled
  /// before stays so.
  virtual Result<> enable(const Cupti& cupti);
  virtual void disable(const Cupti& cupti);

  /// Once, when the program has its first context: what CUPTI takes only then. On a thread that holds none of the
  /// driver's locks.
  virtual Result<> context_created(const Cupti& cupti);

  /// Once, when there is a context and before the first record is read: what events will refer to. Any thread, perhaps
  /// within the driver.
  virtual void declare(EventBatch& batch);

  /// A record of one of kinds(). False: it says nothing usable, and is counted. One buffer at a time.
  virtual bool record(const CUpti_Activity& record, EventBatch& batch);

  /// Behind the last record of a buffer.
  virtual void end_of_buffer(EventBatch& batch);

  /// A callback that this source enabled. Any thread of the program; no lock is held.
  virtual void callback(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& data,
                        EventSink& sink);

  /// Something of the resource domain whose callback this source enabled; on the program's thread that does it, within
  /// the driver.
  virtual void resource(CUpti_CallbackId id, const CUpti_ResourceData& data, EventSink& sink);

  /// Again and again (Environment::flush_ms) once there is a context; on a thread of our own.
  virtual void tick(EventBatch& batch);

  /// The last call: what is still open.
  virtual void finish(EventSink& sink);

 private:
  std::string_view name_;
  std::vector<CUpti_ActivityKind> kinds_;
};

}  // namespace wicprof::collector
