#include "analyzer/aggregates/party_ends.h"

#include <fmt/format.h>

#include <algorithm>

namespace wicprof::analyzer {

std::uint32_t PartyEndList::find(const PartyEnd& end) {
  const PartyId one{static_cast<PartyKind>(end.kind), end.device, end.who};
  const std::uint32_t where = pair(ones_.number(one.key()), end.sm), what = pair(end.site, end.name);
  const std::uint32_t number = ends_.number((std::uint64_t{where} << 32) | what);
  if (number == list_.size()) list_.push_back(end);
  return number;
}

PartyEnd PartyAssigner::waiter(const WaitView& wait) {
  PartyEnd end = wait.host ? PartyEnd{PartyEnd::Kind::thread, kHostDevice, wait.who}
                           : on_device(wait.device, wait.who, wait.sm, wait.begin, waiter_kernel_);
  if (!wants(PartyBy::site)) return end;
  end.site = wait.site;
  if (wait.host && wait.site == 0) end.name = names_.number(model_.host_waits[wait.index].call);
  return end;
}

PartyEnd PartyAssigner::releaser(const store::SignalRow& signal) {
  if (signal.device == kHostDevice) return {PartyEnd::Kind::thread, kHostDevice, signal.thread};
  return on_device(signal.device, signal.block, signal.sm, signal.at, releaser_kernel_);
}

PartyEnd PartyAssigner::releaser(const WorkItem& item) {
  if (item.kernel == nullptr)
    return {PartyEnd::Kind::copy, item.device, 0, 0, 0, names_.number(copy_kind_name(item.copy->kind))};
  return {PartyEnd::Kind::kernel, item.device, 0, 0, 0, names_.number(item.kernel->name)};
}

PartyId PartyAssigner::party(PartyBy by, const PartyEnd& end, bool waits) {
  if (end.kind == PartyEnd::Kind::unknown) return {};
  if (waits && by == PartyBy::site) {
    if (end.kind == PartyEnd::Kind::thread && end.site == 0) return {PartyKind::named, 0, end.name};
    return {PartyKind::site, 0, end.site};
  }
  if (by == PartyBy::device) return {PartyKind::device, end.device, 0};
  switch (end.kind) {
    case PartyEnd::Kind::thread:  // a signal names its thread, whose number no two processes of one machine share
      return {PartyKind::host_thread, 0, end.who};
    case PartyEnd::Kind::copy:
      return {PartyKind::named, 0, end.name};
    case PartyEnd::Kind::kernel:
      return {PartyKind::kernel, 0, end.name};
    case PartyEnd::Kind::block:
    case PartyEnd::Kind::unknown:
      break;
  }
  if (by == PartyBy::sm) return {PartyKind::sm, end.device, end.sm};
  if (by == PartyBy::thread) return {PartyKind::block, end.device, end.who};
  return end.name == PartyEnd::kNoName ? PartyId{PartyKind::device, end.device, 0}
                                       : PartyId{PartyKind::kernel, 0, end.name};
}

std::string PartyAssigner::name_of(const PartyId& id) const {
  switch (id.kind) {
    case PartyKind::unknown:
      break;
    case PartyKind::host_thread:
      return id.number == 0 ? "host" : threads_.of(0, id.number);
    case PartyKind::kernel:
    case PartyKind::named:
      return std::string(names_.of(id.number));
    case PartyKind::block:
      return fmt::format("block {}{}", id.number, of_device(id.device));
    case PartyKind::sm:
      return fmt::format("SM {}{}", id.number, of_device(id.device));
    case PartyKind::device:
      return id.device == kHostDevice ? "host" : model_.device_name(id.device);
    case PartyKind::site:
      return model_.site_name(static_cast<SiteId>(id.number));
  }
  return std::string(kUnknownParty);
}

PartyEnd PartyAssigner::on_device(DeviceId device, std::uint32_t block, std::uint32_t sm, TimeNs time,
                                  WorkIndex::Near& near) {
  PartyEnd end{PartyEnd::Kind::block, device, wants(PartyBy::thread) ? block : 0, wants(PartyBy::sm) ? sm : 0};
  if (!wants(PartyBy::kernel) && !wants(PartyBy::site)) return end;
  if (const WorkItem* kernel = index_.kernel_at(device, time, block, near))
    end.name = names_.number(kernel->kernel->name);
  return end;
}

std::string PartyAssigner::of_device(DeviceId device) const {
  const auto others = std::count_if(model_.devices.begin(), model_.devices.end(),
                                    [](const store::DeviceRow& row) { return row.kind != DeviceKind::host; });
  return others > 1 ? " of " + model_.device_key(device) : std::string();
}

}  // namespace wicprof::analyzer
