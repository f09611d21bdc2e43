#include "gui/source/large_trace.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

// An interval with at most this many rows is drawn from its rows, which takes some tenths of a second. Not calibrated.
constexpr double kFineRows = 60'000;
// A picture extends beyond the window by 1/kMarginPart of its width on both sides, so that small moves need no new
// picture. Not calibrated.
constexpr TimeNs kMarginPart = 4;

template <class T>
bool assign(Result<T> from, T& to, std::optional<Error>& error) {
  if (!from) {
    error = from.error();
    return false;
  }
  to = *std::move(from);
  return true;
}

}  // namespace

bool Picture::serves(TimeNs from, TimeNs to) const {
  return from >= begin && to <= end && (fine || to - from >= shown / 2);
}

Result<LargeTrace> LargeTrace::open(store::Reader reader, std::string name, const store::SummaryWatch& watch) {
  Result<store::Overview> overview = reader.overview(watch);
  if (!overview) return overview.error();
  LargeTrace trace(std::move(reader), *std::move(overview));
  analyzer::TraceModel& small = trace.small_;
  std::optional<Error> error;
  const store::Reader& from = trace.reader_;
  bool loaded = assign(from.meta(), small.meta, error) && assign(from.stats(), small.stats, error);
  store::for_each_table<store::DeclarationTables>([&]<class Table>(store::Type<Table>) {
    loaded = loaded && assign(from.rows<Table>(), small.*Table::kRows, error);
  });
  // Some rows per second, of which the summaries have nothing.
  loaded = loaded && assign(from.rows<store::EnergyTable>(), small.energy, error) &&
           assign(from.rows<store::DeviceStateTable>(), small.device_states, error);
  if (!loaded) return *error;
  small.name = std::move(name);
  analyzer::settle(small);
  const store::Overview& all = trace.overview_;
  small.begin = all.begin();
  small.end = all.end();
  for (const store::Lane& lane : all.lanes()) {
    const TimeNs last = all.origin() + store::block_width(all.top_level());
    Result<std::vector<store::LaneBlock>> blocks = all.cover(lane.id, all.origin(), last, all.top_level());
    if (!blocks) return blocks.error();
    trace.lanes_.push_back({&lane, std::make_shared<const Coarse>(lane, all.origin(), *blocks)});
  }
  return Result<LargeTrace>(std::move(trace));
}

Picture LargeTrace::whole() const {
  Picture picture;
  picture.model = std::make_shared<const analyzer::TraceModel>(small_);
  picture.timeline = std::make_shared<const Timeline>(build_timeline(small_, kTrackKinds, lanes_, 0, 0));
  picture.begin = small_.begin;
  picture.end = std::max(small_.end, small_.begin + 1);
  picture.shown = picture.end - picture.begin;
  return picture;
}

Result<analyzer::TraceModel> LargeTrace::rows(TimeNs begin, TimeNs end) {
  Result<store::RowRange> range = overview_.range(begin, end);
  if (!range) return range.error();
  reader_.within(*std::move(range));
  analyzer::TraceModel model = small_;
  std::optional<Error> error;
  bool loaded = true;
  store::for_each_table<store::GrowingTables>([&]<class Table>(store::Type<Table>) {
    if constexpr (store::row_kind_of<typename Table::Row>()) {
      loaded = loaded && assign(reader_.rows<Table>(), model.*Table::kRows, error);
    }
  });
  reader_.within(std::nullopt);
  if (!loaded) return *error;
  analyzer::settle(model);
  model.begin = small_.begin;
  model.end = small_.end;
  return model;
}

Result<Picture> LargeTrace::picture(TimeNs begin, TimeNs end) {
  const TimeNs width = std::max<TimeNs>(end - begin, 1);
  Picture picture;
  picture.begin = begin - width / kMarginPart;
  picture.end = end + width / kMarginPart;
  picture.shown = width;
  double events = 0;
  for (const CoarseLane& lane : lanes_) events += lane.columns->between(picture.begin, picture.end).begun;
  int level = 0;  // the coarsest whose blocks are at most as wide as the window
  while (level < overview_.top_level() && store::block_width(level + 1) <= width) ++level;
  std::vector<CoarseLane> lanes = lanes_;
  for (CoarseLane& lane : lanes) {
    if (level == overview_.top_level()) break;
    Result<std::vector<store::LaneBlock>> finer = overview_.cover(lane.lane->id, picture.begin, picture.end, level);
    if (!finer) return finer.error();
    lane.columns = std::make_shared<const Coarse>(*lane.columns, *finer);
  }
  // The coarsest columns only estimate the count of a narrow stretch; counts again with the finer ones.
  if (events > kFineRows) {
    events = 0;
    for (const CoarseLane& lane : lanes) events += lane.columns->between(picture.begin, picture.end).begun;
  }
  if (events > kFineRows) {
    picture.model = std::make_shared<const analyzer::TraceModel>(small_);
    picture.timeline = std::make_shared<const Timeline>(build_timeline(small_, kTrackKinds, lanes, 0, 0));
    return picture;
  }
  Result<analyzer::TraceModel> model = rows(picture.begin, picture.end);
  if (!model) return model.error();
  auto shared = std::make_shared<const analyzer::TraceModel>(*std::move(model));
  Timeline timeline = build_timeline(*shared, kTrackKinds, lanes, picture.begin, picture.end);
  add_edges(timeline, *shared, analyzer::match(*shared));
  picture.model = std::move(shared);
  picture.timeline = std::make_shared<const Timeline>(std::move(timeline));
  picture.fine = true;
  return picture;
}

Result<SearchHits> LargeTrace::search(const std::string& text) const {
  SearchHits hits{text, {}, 0, 0};
  const Result<SearchQuery> query = read_query(text);
  if (!query || query->empty()) return hits;
  const NameFinder finder(*query);
  for (const NameFinder::Match wanted : {NameFinder::Match::exact, NameFinder::Match::part}) {
    Result<store::NamedRows> found =
        reader_.named([&](store::RowKind kind, std::string_view name) { return finder.match(kind, name) == wanted; },
                      kMaxHits, query->longer_than, query->shorter_than);
    if (!found) return found.error();
    hits.total += found->total;
    for (const store::NamedRows::One& one : found->rows) {
      if (hits.hits.size() < kMaxHits) hits.hits.push_back({{one.kind, one.id}, one.begin, one.end});
    }
    if (wanted == NameFinder::Match::exact) hits.exact = hits.hits.size();
  }
  return hits;
}

}  // namespace wicprof::gui
