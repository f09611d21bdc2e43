#include "gui/source/facts.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "analyzer/figures/list.h"
#include "gui/source/members.h"

namespace wicprof::gui {

namespace {

// How many members each struct has. Those of a base class come first, by themselves.
template <class T>
constexpr int kMembers = 0;
template <>
constexpr int kMembers<analyzer::Period> = 3;
template <>
constexpr int kMembers<analyzer::CommunicationAnswer> = 6;
template <>
constexpr int kMembers<analyzer::ClockWindow> = 6;
template <>
constexpr int kMembers<analyzer::ClockBounds> = 6;
template <>
constexpr int kMembers<analyzer::CompareOptions> = 5;
template <>
constexpr int kMembers<analyzer::Iteration> = 4;
template <>
constexpr int kMembers<analyzer::Iterations> = 5;
template <>
constexpr int kMembers<analyzer::Segment> = 7;
template <>
constexpr int kMembers<analyzer::Side> = 3;
template <>
constexpr int kMembers<analyzer::Speedup> = 3;
template <>
constexpr int kMembers<analyzer::Gain> = 3;
template <>
constexpr int kMembers<analyzer::Difference> = 6;
template <>
constexpr int kMembers<analyzer::Differences> = 2;
template <>
constexpr int kMembers<analyzer::Comparison> = 13;
template <>
constexpr int kMembers<analyzer::PathSegment> = 6;
template <>
constexpr int kMembers<analyzer::PathShare> = 5;
template <>
constexpr int kMembers<analyzer::CriticalPath> = 5;
template <>
constexpr int kMembers<analyzer::HostPolling> = 10;
template <>
constexpr int kMembers<analyzer::HostWaitStats> = 11;
template <>
constexpr int kMembers<analyzer::ThreadStats> = 9;
template <>
constexpr int kMembers<analyzer::SlowedWork> = 10;
template <>
constexpr int kMembers<analyzer::Interference> = 2;
template <>
constexpr int kMembers<analyzer::Occupancy> = 7;
template <>
constexpr int kMembers<analyzer::Waves> = 2;
template <>
constexpr int kMembers<analyzer::KernelStats> = 15;
template <>
constexpr int kMembers<analyzer::Overlap> = 5;
template <>
constexpr int kMembers<analyzer::Overlaps> = 2;
template <>
constexpr int kMembers<analyzer::OverheadStats> = 3;
template <>
constexpr int kMembers<analyzer::OwnCost> = 7;
template <>
constexpr int kMembers<analyzer::StallShare> = 2;
template <>
constexpr int kMembers<analyzer::SampledPc> = 5;
template <>
constexpr int kMembers<analyzer::SampledLine> = 3;
template <>
constexpr int kMembers<analyzer::FunctionStalls> = 9;
template <>
constexpr int kMembers<analyzer::DeviceSamples> = 4;
template <>
constexpr int kMembers<analyzer::Stalls> = 2;
template <>
constexpr int kMembers<analyzer::PollingLoop> = 23;
template <>
constexpr int kMembers<analyzer::SitePrediction> = 7;
template <>
constexpr int kMembers<analyzer::Prediction> = 4;
template <>
constexpr int kMembers<analyzer::Finding> = 7;
template <>
constexpr int kMembers<analyzer::Refusal> = 2;
template <>
constexpr int kMembers<analyzer::Loss> = 4;
template <>
constexpr int kMembers<analyzer::StrategyStats> = 7;
template <>
constexpr int kMembers<store::ChoiceRow> = 10;
template <>
constexpr int kMembers<analyzer::SiteStats> = 27;
template <>
constexpr int kMembers<analyzer::WakeStats> = 6;
template <>
constexpr int kMembers<analyzer::WaitSums> = 18;
template <>
constexpr int kMembers<analyzer::SiteWaits> = 7;
template <>
constexpr int kMembers<analyzer::StreamKey> = 3;
template <>
constexpr int kMembers<analyzer::StreamWaits> = 9;
template <>
constexpr int kMembers<analyzer::StreamWaitTable> = 2;
template <>
constexpr int kMembers<analyzer::Analysis> = 23;
template <>
constexpr int kMembers<SegmentLine> = 10;
template <>
constexpr int kMembers<BeforeAfter> = 8;
template <>
constexpr int kMembers<Histogram::Bin> = 5;
template <>
constexpr int kMembers<Histogram> = 3;
template <>
constexpr int kMembers<EventRow> = 2;
template <>
constexpr int kMembers<SearchHit> = 3;
template <>
constexpr int kMembers<SiteDetail> = 6;
template <>
constexpr int kMembers<analyzer::FigureCell> = 4;
template <>
constexpr int kMembers<analyzer::Figure> = 12;
template <>
constexpr int kMembers<Facts> = 6;

/// Each part of a value in turn, the same way for writing and reading.
template <class Archive, class T>
void visit(Archive& archive, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
    archive.raw(value);
  } else if constexpr (std::is_same_v<Plain, std::shared_ptr<const analyzer::TraceModel>>) {
    // Stays where it is.
  } else if constexpr (std::is_same_v<Plain, analyzer::PairAnswer>) {
    visit(archive, static_cast<std::conditional_t<std::is_const_v<T>, const analyzer::CommunicationAnswer,
                                                  analyzer::CommunicationAnswer>&>(value));
    archive.all(std::tie(value.first, value.second, value.forth, value.back));
  } else if constexpr (std::is_same_v<Plain, analyzer::SiteAnswer>) {
    visit(archive, static_cast<std::conditional_t<std::is_const_v<T>, const analyzer::CommunicationAnswer,
                                                  analyzer::CommunicationAnswer>&>(value));
    archive.all(std::tie(value.site, value.name, value.messages));
  } else if constexpr (std::is_same_v<Plain, analyzer::Classification>) {
    visit(archive, static_cast<std::conditional_t<std::is_const_v<T>, const analyzer::CommunicationAnswer,
                                                  analyzer::CommunicationAnswer>&>(value));
    archive.all(std::tie(value.pairs, value.sites));
  } else if constexpr (std::is_same_v<Plain, analyzer::SiteDifference>) {
    visit(
        archive,
        static_cast<std::conditional_t<std::is_const_v<T>, const analyzer::Difference, analyzer::Difference>&>(value));
    archive.all(std::tie(value.site));
  } else if constexpr (std::is_same_v<Plain, analyzer::EdgeDifference>) {
    visit(
        archive,
        static_cast<std::conditional_t<std::is_const_v<T>, const analyzer::Difference, analyzer::Difference>&>(value));
    archive.all(std::tie(value.from, value.to, value.site, value.clock_error_ns));
  } else if constexpr (kMembers<Plain> != 0) {
    archive.all(members<kMembers<Plain>>(value));
  } else {
    archive.container(value);
  }
}

class Packer {
 public:
  std::string bytes;

  template <class T>
  void raw(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class Tuple>
  void all(const Tuple& parts) {
    std::apply([this](auto&... part) { (visit(*this, part), ...); }, parts);
  }
  void container(const std::string& text) {
    raw(text.size());
    bytes += text;
  }
  template <class T>
  void container(const std::vector<T>& list) {
    raw(list.size());
    for (const T& one : list) visit(*this, one);
  }
  template <class T>
  void container(const std::optional<T>& value) {
    raw(value.has_value());
    if (value) visit(*this, *value);
  }
  template <class A, class B>
  void container(const std::pair<A, B>& value) {
    visit(*this, value.first);
    visit(*this, value.second);
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool good = true;
  bool at_end() const { return at_ == bytes_.size(); }

  template <class T>
  void raw(T& value) {
    if (bytes_.size() - at_ < sizeof value) {
      good = false;
      value = {};
      return;
    }
    if constexpr (std::is_same_v<T, bool>) {  // no other bytes may ever be one
      good = good && (bytes_[at_] == 0 || bytes_[at_] == 1);
      value = bytes_[at_] == 1;
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
    }
    at_ += sizeof value;
  }
  template <class Tuple>
  void all(const Tuple& parts) {
    std::apply([this](auto&... part) { (visit(*this, part), ...); }, parts);
  }
  void container(std::string& text) {
    const std::size_t size = size_of_list();
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  template <class T>
  void container(std::vector<T>& list) {
    const std::size_t size = size_of_list();
    for (std::size_t i = 0; i < size && good; ++i) visit(*this, list.emplace_back());
  }
  template <class T>
  void container(std::optional<T>& value) {
    bool there = false;
    raw(there);
    if (there) visit(*this, value.emplace());
  }
  template <class A, class B>
  void container(std::pair<A, B>& value) {
    visit(*this, value.first);
    visit(*this, value.second);
  }

 private:
  /// Of things that take a byte each at least.
  std::size_t size_of_list() {
    std::size_t size = 0;
    raw(size);
    if (size > bytes_.size() - at_) {
      good = false;
      return 0;
    }
    return size;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

constexpr std::size_t kMostIterations = 20'000;

void thin(std::vector<analyzer::Iteration>& list) {
  if (list.size() <= kMostIterations) return;
  for (std::size_t i = 0; i < kMostIterations; ++i) list[i] = list[i * list.size() / kMostIterations];
  list.resize(kMostIterations);
  list.shrink_to_fit();
}

}  // namespace

std::optional<SiteDetail> Facts::detail_of(SiteId site) const {
  if (model) return site_detail(*model, analysis, site);
  const auto found =
      std::find_if(details.begin(), details.end(), [site](const SiteDetail& d) { return d.site == site; });
  return found == details.end() ? std::nullopt : std::optional(*found);
}

Facts make_facts(std::shared_ptr<const analyzer::TraceModel> model, TimeNs known_from) {
  Facts facts;
  facts.analysis = analyzer::analyze(*model);
  facts.comparison = analyzer::compare(*model);
  facts.before_after = before_after(*model, facts.comparison, known_from);
  const analyzer::FigureInput input = analyzer::figure_input({model.get()});
  for (const analyzer::FigureInfo& info : analyzer::figures())
    facts.figures.push_back(analyzer::make_figure(info.number, input));
  facts.model = std::move(model);
  return facts;
}

Facts make_facts_apart(std::shared_ptr<const analyzer::TraceModel> model) {
  Facts facts = make_facts(std::move(model));
  for (const analyzer::SiteStats& site : facts.analysis.sites) {
    if (auto detail = facts.detail_of(site.site)) facts.details.push_back(*std::move(detail));
  }
  for (analyzer::Segment& segment : facts.comparison.segments) thin(segment.iterations);
  if (facts.analysis.iterations) thin(facts.analysis.iterations->list);
  facts.analysis.path.segments.clear();
  facts.model.reset();
  return facts;
}

std::string pack_facts(const Facts& facts) {
  Packer packer;
  visit(packer, facts);
  return std::move(packer.bytes);
}

std::optional<Facts> unpack_facts(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Facts facts;
  visit(unpacker, facts);
  if (!unpacker.good || !unpacker.at_end()) return std::nullopt;
  return facts;
}

Result<> write_facts(const std::string& path) {
  [[maybe_unused]] const int other = nice(10);  // the window that waits for it comes first
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error();
  const std::size_t slash = path.rfind('/');
  Result<analyzer::TraceModel> model =
      analyzer::load(*reader, slash == std::string::npos ? path : path.substr(slash + 1));
  if (!model) return model.error();
  const std::string bytes =
      pack_facts(make_facts_apart(std::make_shared<const analyzer::TraceModel>(*std::move(model))));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
    if (put <= 0) return unavailable("nobody reads what was found in " + path);
    at += static_cast<std::size_t>(put);
  }
  return ok();
}

}  // namespace wicprof::gui
