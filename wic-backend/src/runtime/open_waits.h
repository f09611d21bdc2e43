// The waits of kernels that last, in the session's table (protocol/open_work.h), while they last.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include "protocol/events/wait.h"
#include "protocol/open_work.h"
#include "src/runtime/guarded.h"
#include "wic/device_state.h"
#include "wic/runtime.h"

namespace wic {

class OpenWaits {
 public:
  OpenWaits() = default;
  OpenWaits(const OpenWaits&) = delete;
  /// Gives the entries back. The session is still mapped.
  ~OpenWaits();

  /// `work`: the session's. Before the first report.
  void attach(wicprof::OpenWork& work) { work_ = &work; }
  /// What later reports of the site say about it. Any thread.
  void declare(SiteId site, const SiteSpec& spec);

  /// A record of the kind kOpenWaitRecord, read at `now`. One thread at a time calls this and ended().
  void report(const DeviceRecord& record, DeviceId device, TimeNs now);
  /// A wait has ended.
  void ended(const wicprof::WaitEvent& wait) {
    if (!open_.empty()) end(wait);
  }

 private:
  using Entry = wicprof::OpenEntry<wicprof::OpenWait>;
  using Key = std::tuple<DeviceId, std::uint64_t, std::uint32_t, std::uint32_t>;  // device, arrival, block, warp
  struct Site {
    char name[wicprof::kMaxSiteName] = {};
    WordMemory memory = WordMemory::unknown;
    SiteEnd releasing = 0;
  };
  struct Open {
    Entry* entry = nullptr;
    TimeNs begin = 0;
  };
  void end(const wicprof::WaitEvent& wait);

  wicprof::OpenWork* work_ = nullptr;
  Guarded<std::array<Site, kMaxSites>> sites_;
  std::map<Key, Open> open_;
};

}  // namespace wic
