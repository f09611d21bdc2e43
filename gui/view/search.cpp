#include "gui/view/search.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "analyzer/words/format.h"

namespace wicprof::gui {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

class Finder {
 public:
  Finder(const analyzer::TraceModel& model, std::string_view text) : model_(model), wanted_(lower(text)) {}

  /// Searches a list with few distinct names: tests each name once.
  template <class List, class Key>
  void look(EventKind kind, const List& list, Key key) {
    std::map<decltype(key(list[0])), bool> known;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const EventRef ref{kind, static_cast<std::uint32_t>(i)};
      const auto [found, fresh] = known.try_emplace(key(list[i]), false);
      if (fresh) found->second = lower(title_of(model_, ref)).find(wanted_) != std::string::npos;
      if (found->second) add(ref);
    }
  }

  SearchHits take(std::string_view text) {
    std::stable_sort(hits_.begin(), hits_.end(),
                     [&](EventRef a, EventRef b) { return time_of(model_, a).first < time_of(model_, b).first; });
    const std::uint64_t total = hits_.size();
    if (hits_.size() > kMaxHits) hits_.resize(kMaxHits);
    SearchHits found{std::string(text), {}, total};
    for (const EventRef ref : hits_) {
      const auto [begin, end] = time_of(model_, ref);
      found.hits.push_back({row_of(model_, ref), begin, end});
    }
    return found;
  }

 private:
  void add(EventRef ref) { hits_.push_back(ref); }
  const analyzer::TraceModel& model_;
  std::string wanted_;
  std::vector<EventRef> hits_;
};

}  // namespace

NameFinder::NameFinder(std::string_view text) : wanted_(lower(text)) {}

bool NameFinder::matches(EventKind kind, std::string_view name) const {
  if (wanted_.empty()) return false;
  std::string title(name);
  if (kind == EventKind::kernel) title = analyzer::function_name(title);
  if (kind == EventKind::wait) title.insert(0, "wait at ");
  if (kind == EventKind::signal) title.insert(0, "signal to ");
  return lower(title).find(wanted_) != std::string::npos;
}

SearchHits search(const analyzer::TraceModel& model, std::string_view text) {
  if (text.empty()) return {};
  Finder finder(model, text);
  finder.look(EventKind::kernel, model.kernels, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::nvtx, model.nvtx, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::call, model.calls, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::host_wait, model.host_waits,
              [](const auto& row) { return std::pair(row.site, std::string_view(row.call)); });
  finder.look(EventKind::copy, model.copies, [](const auto& row) { return std::pair(row.kind, row.bytes); });
  finder.look(EventKind::migration, model.uvm, [](const auto& row) { return row.kind; });
  finder.look(EventKind::wait, model.waits, [](const auto& row) { return row.site; });
  finder.look(EventKind::signal, model.signals, [](const auto& row) { return row.site; });
  return finder.take(text);
}

}  // namespace wicprof::gui
