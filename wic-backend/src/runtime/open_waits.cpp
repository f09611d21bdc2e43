#include "src/runtime/open_waits.h"

#include <unistd.h>

#include "src/records/record_events.h"

namespace wic {

OpenWaits::~OpenWaits() {
  for (const auto& [key, open] : open_) {
    if (open.entry != nullptr) open.entry->give_back();
  }
}

void OpenWaits::declare(SiteId site, const SiteSpec& spec) {
  sites_.with([&](std::array<Site, kMaxSites>& sites) {
    wicprof::copy_name(sites[site].name, spec.name);
    sites[site].memory = spec.word_memory;
    sites[site].releasing = spec.releasing;
  });
}

void OpenWaits::report(const DeviceRecord& record, DeviceId device, TimeNs now) {
  if (work_ == nullptr) return;
  wicprof::OpenWait wait = open_wait(record, device);
  const Key key{device, arrival_of(record), wait.block, wait.warp};
  Open& open = open_[key];
  if (open.begin == 0) {
    open.begin = now - static_cast<TimeNs>(report_age_ns(report_number(record)));
    open.entry = wicprof::claim_entry(work_->waits, static_cast<std::uint32_t>(getpid()), work_->waits_left_out,
                                      wicprof::process_is_gone);
  }
  if (open.entry == nullptr) return;
  wait.begin = open.begin;
  wait.seen = now;
  const SiteId site = record.quads[0].payload[1] & 0xffu;
  sites_.with([&](const std::array<Site, kMaxSites>& sites) {
    wicprof::copy_name(wait.site, sites[site].name);
    wait.memory = sites[site].memory;
    wait.releasing = sites[site].releasing;
  });
  open.entry->write(wait);
}

void OpenWaits::end(const wicprof::WaitEvent& wait) {
  const auto found = open_.find(Key{wait.device, wait.arrived_ns, wait.block, wait.warp});
  if (found == open_.end()) return;
  if (found->second.entry != nullptr) found->second.entry->give_back();
  open_.erase(found);
}

}  // namespace wic
