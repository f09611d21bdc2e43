#include "gui/view/search.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>
#include <tuple>

#include "analyzer/words/format.h"

namespace wicprof::gui {

namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 8> kKindWords{{{EventKind::wait, "wait"},
                                                                            {EventKind::signal, "signal"},
                                                                            {EventKind::host_wait, "host"},
                                                                            {EventKind::kernel, "kernel"},
                                                                            {EventKind::copy, "copy"},
                                                                            {EventKind::call, "call"},
                                                                            {EventKind::nvtx, "nvtx"},
                                                                            {EventKind::migration, "migration"}}};
constexpr std::string_view kKind = "kind:";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

std::vector<std::string> words_of(std::string_view typed) {
  std::istringstream stream{std::string(typed)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// "1.5ms" -> 1,500,000.
std::optional<TimeNs> length_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, ns] : {std::pair<std::string_view, double>{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
    if (unit == name && value * ns < 1e18) return static_cast<TimeNs>(value * ns);
  }
  return std::nullopt;
}

class Finder {
 public:
  Finder(const analyzer::TraceModel& model, const SearchQuery& query) : model_(model), query_(query), names_(query) {}

  /// Searches a list with few distinct names: tests each name once.
  template <class List, class Key>
  void look(EventKind kind, const List& list, Key key) {
    std::map<decltype(key(list[0])), NameFinder::Match> known;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const EventRef ref{kind, static_cast<std::uint32_t>(i)};
      const auto [found, fresh] = known.try_emplace(key(list[i]), NameFinder::Match::none);
      if (fresh) found->second = names_.match_title(kind, title_of(model_, ref));
      if (found->second == NameFinder::Match::none) continue;
      const auto [begin, end] = time_of(model_, ref);
      if (end - begin <= query_.longer_than || end - begin >= query_.shorter_than) continue;
      hits_.push_back({found->second != NameFinder::Match::exact, begin, ref});
    }
  }

  SearchHits take(std::string_view typed) {
    std::stable_sort(hits_.begin(), hits_.end(),
                     [](const Hit& a, const Hit& b) { return std::tie(a.part, a.at) < std::tie(b.part, b.at); });
    SearchHits found{std::string(typed), {}, hits_.size(), 0};
    if (hits_.size() > kMaxHits) hits_.resize(kMaxHits);
    for (const Hit& hit : hits_) {
      const auto [begin, end] = time_of(model_, hit.ref);
      found.hits.push_back({row_of(model_, hit.ref), begin, end});
      found.exact += hit.part ? 0 : 1;
    }
    return found;
  }

 private:
  struct Hit {
    bool part = false;
    TimeNs at = 0;
    EventRef ref;
  };
  const analyzer::TraceModel& model_;
  const SearchQuery& query_;
  const NameFinder names_;
  std::vector<Hit> hits_;
};

}  // namespace

std::string_view kind_word(EventKind kind) {
  const auto found =
      std::find_if(kKindWords.begin(), kKindWords.end(), [&](const auto& one) { return one.first == kind; });
  return found == kKindWords.end() ? std::string_view() : found->second;
}

Result<SearchQuery> read_query(std::string_view typed) {
  SearchQuery query;
  for (const std::string& word : words_of(typed)) {
    if (word.starts_with(kKind)) {
      const std::string wanted = lower(word.substr(kKind.size()));
      std::string all;
      for (const auto& [kind, name] : kKindWords) {
        if (name == wanted) query.kind = kind;
        all += (all.empty() ? "" : ", ") + std::string(name);
      }
      if (kind_word(query.kind.value_or(EventKind::thread_sample)) != wanted || wanted.empty())
        return bad_input("'" + word + "' is no kind; the kinds are " + all);
    } else if (word.size() > 1 && (word[0] == '>' || word[0] == '<') &&
               std::isdigit(static_cast<unsigned char>(word[1]))) {
      const std::optional<TimeNs> length = length_of(std::string_view(word).substr(1));
      if (!length) return bad_input("'" + word + "' is no length; write >20us, >1.5ms or <2s");
      (word[0] == '>' ? query.longer_than : query.shorter_than) = *length;
    } else {
      query.name += (query.name.empty() ? "" : " ") + word;
    }
  }
  return query;
}

std::string with_kind(std::string_view typed, std::optional<EventKind> kind) {
  std::string text;
  for (const std::string& word : words_of(typed)) {
    if (!word.starts_with(kKind)) text += (text.empty() ? "" : " ") + word;
  }
  if (kind) text += (text.empty() ? "" : " ") + std::string(kKind) + std::string(kind_word(*kind));
  return text;
}

NameFinder::NameFinder(const SearchQuery& query) : wanted_(lower(query.name)), kind_(query.kind) {}

NameFinder::Match NameFinder::match(EventKind kind, std::string_view name) const {
  std::string title(name);
  if (kind == EventKind::kernel) title = analyzer::function_name(title);
  if (kind == EventKind::wait) title.insert(0, "wait at ");
  if (kind == EventKind::signal) title.insert(0, "signal to ");
  return match_title(kind, title);
}

NameFinder::Match NameFinder::match_title(EventKind kind, std::string_view title) const {
  if (kind_ && *kind_ != kind) return Match::none;
  const std::string text = lower(title);
  std::string_view name = text;
  for (const std::string_view before : {"wait at ", "signal to "}) {
    if (name.starts_with(before)) name.remove_prefix(before.size());
  }
  if (!wanted_.empty() && (text == wanted_ || name == wanted_)) return Match::exact;
  return text.find(wanted_) == std::string::npos ? Match::none : Match::part;
}

SearchHits search(const analyzer::TraceModel& model, std::string_view typed) {
  const Result<SearchQuery> query = read_query(typed);
  if (!query || query->empty()) return {};
  Finder finder(model, *query);
  finder.look(EventKind::kernel, model.kernels, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::nvtx, model.nvtx, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::call, model.calls, [](const auto& row) { return std::string_view(row.name); });
  finder.look(EventKind::host_wait, model.host_waits,
              [](const auto& row) { return std::pair(row.site, std::string_view(row.call)); });
  finder.look(EventKind::copy, model.copies, [](const auto& row) { return std::pair(row.kind, row.bytes); });
  finder.look(EventKind::migration, model.uvm, [](const auto& row) { return row.kind; });
  finder.look(EventKind::wait, model.waits, [](const auto& row) { return row.site; });
  finder.look(EventKind::signal, model.signals, [](const auto& row) { return row.site; });
  return finder.take(typed);
}

}  // namespace wicprof::gui
