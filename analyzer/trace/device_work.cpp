#include "analyzer/trace/device_work.h"

#include <algorithm>
#include <type_traits>

namespace wicprof::analyzer {

namespace {

bool is_backend_name(std::string_view kernel) { return kernel.starts_with("wic::cuda::"); }

}  // namespace

DeviceWork::DeviceWork(const TraceModel& model, const CallIndex& calls) : any_calls(!calls.empty()) {
  const auto for_each = [&](const auto& visit) {
    const auto of = [&](const auto& rows) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = rows[i];
        if (row.start > 0 && row.end >= row.start) visit(StreamKey{row.process, row.context, row.stream}, row, i);
      }
    };
    of(model.kernels);
    of(model.copies);
  };
  std::map<StreamKey, std::size_t> count;
  for_each([&](const StreamKey& key, const auto&, std::size_t) { ++count[key]; });
  for (const auto& [key, items] : count) by_stream[key].reserve(items);
  for_each([&]<class Row>(const StreamKey& key, const Row& row, std::size_t i) {
    WorkItem item;
    item.device = row.device;
    item.start = row.start;
    item.end = row.end;
    if (const auto call = calls.find(row.process, row.correlation)) {
      item.call = call->span;
      item.thread = call->thread;
    }
    if constexpr (std::is_same_v<Row, store::KernelRow>) {
      item.kernel = model.kernels.pointer_to(i);
    } else {
      item.copy = model.copies.pointer_to(i);
    }
    by_stream[key].push_back(item);
  });
  for (auto& [key, items] : by_stream) {
    const auto earlier = [](const WorkItem& a, const WorkItem& b) { return a.start < b.start; };
    if (!std::is_sorted(items.begin(), items.end(), earlier)) std::stable_sort(items.begin(), items.end(), earlier);
  }
}

bool is_backend_work(const WorkItem& item) { return item.kernel != nullptr && is_backend_name(item.kernel->name); }

bool is_backend_work(const store::KernelRow& kernel) { return is_backend_name(kernel.name); }

std::string_view copy_kind_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return "copy host to device";
    case CopyKind::device_to_host:
      return "copy device to host";
    case CopyKind::device_to_device:
      return "copy within the device";
    case CopyKind::peer_to_peer:
      return "copy to another device";
    case CopyKind::host_to_host:
      return "copy host to host";
    case CopyKind::memset:
      return "memset";
    case CopyKind::unknown:
      break;
  }
  return "copy";
}

std::string work_name(const WorkItem& item) {
  if (item.kernel != nullptr) return item.kernel->name;
  return item.copy == nullptr ? std::string() : std::string(copy_kind_name(item.copy->kind));
}

}  // namespace wicprof::analyzer
