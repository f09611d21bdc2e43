// Pictures of a large trace, from its summaries and the rows in view, compared with pictures from all rows; and facts
// from another process.
#include "gui/source/large_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "gui/source/facts.h"
#include "gui/source/trace_source.h"
#include "gui/tracks/list.h"
#include "gui/view/first_view.h"
#include "reports/json/answers.h"
#include "tests/store/random_trace.h"

namespace wicprof::gui {
namespace {

class LargeTraces : public testing::Test {
 protected:
  void SetUp() override {
    store::record_random(path_, {21, 4'000, 400'000'000});
    Result<store::Reader> reader = store::Reader::open(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    model_ = *analyzer::load(*reader, "t");
    exact_ = build_timeline(model_, kTrackKinds);
    for (const Track& track : exact_.tracks) by_key_[track.key] = &track;
    Result<LargeTrace> large = LargeTrace::open(*std::move(reader), "t", {});
    ASSERT_TRUE(large) << large.error().message;
    large_.emplace(*std::move(large));
  }

  const store::TempFolder folder_;
  const std::string path_ = folder_ / "t.wicprof";
  analyzer::TraceModel model_;
  Timeline exact_;
  std::map<std::string, const Track*> by_key_;
  std::optional<LargeTrace> large_;
};

/// The filled part of each column of a drawn row.
std::vector<double> filled(const std::vector<DrawnSpan>& drawn, TimeNs begin, TimeNs width, std::size_t columns) {
  std::vector<double> parts(columns);
  for (const DrawnSpan& span : drawn) {
    for (std::size_t i = 0; i < columns; ++i) {
      const TimeNs from = begin + static_cast<TimeNs>(i) * width;
      const TimeNs both = std::min(span.end, from + width) - std::max(span.begin, from);
      if (both > 0) parts[i] += span.fill * static_cast<double>(both) / static_cast<double>(width);
    }
  }
  return parts;
}

TEST_F(LargeTraces, HaveTheSameTracks) {
  const Picture picture = large_->whole();
  ASSERT_EQ(picture.timeline->tracks.size(), exact_.tracks.size());
  EXPECT_EQ(picture.timeline->begin, exact_.begin);
  EXPECT_EQ(picture.timeline->end, exact_.end);
  for (std::size_t i = 0; i < exact_.tracks.size(); ++i) {
    const Track& track = picture.timeline->tracks[i];
    const Track& exact = exact_.tracks[i];
    EXPECT_EQ(track.key, exact.key);
    EXPECT_EQ(track.group, exact.group);
    EXPECT_EQ(track.name, exact.name);
    EXPECT_EQ(track.has_strip(), exact.has_strip());
    if (track.has_strip()) continue;
    ASSERT_EQ(track.rows.size(), exact.rows.size());
    for (std::size_t r = 0; r < track.rows.size(); ++r) EXPECT_EQ(track.rows[r].events(), exact.rows[r].events());
  }
}

TEST(LargeTraceFolding, KnowsStreamsThatOnlyTheRuntimeUses) {
  const store::TempFolder folder;
  const std::string path = folder / "t.wicprof";
  Result<store::Recorder> recorder = store::Recorder::create(store::options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  enum Name : TextId { kPings = 1, kStep, kOther };
  recorder->add(
      0, store::Text(kPings, "wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*)").header());
  recorder->add(0, store::Text(kStep, "void app::step<float>(int)").header());
  recorder->add(0, store::Text(kOther, "app::other()").header());
  const auto kernel = [&](std::uint32_t stream, TextId name, TimeNs at) {
    KernelEvent event = make_event<KernelEvent>();
    event.name = name;
    event.stream = stream;
    event.device = kHostDevice;
    event.start_ns = at;
    event.end_ns = at + 1'000;
    recorder->add(0, event.header);
  };
  for (TimeNs at = 0; at < 100'000; at += 10'000) {
    kernel(7, kPings, at);
    kernel(8, kStep, at);
    kernel(9, at % 20'000 == 0 ? kPings : kOther, at);
    kernel(10, kPings, at);
    CopyEvent copy = make_event<CopyEvent>();
    copy.stream = 10;
    copy.device = kHostDevice;
    copy.start_ns = at + 2'000;
    copy.end_ns = at + 3'000;
    recorder->add(0, copy.header);
  }
  ASSERT_TRUE(recorder->finish());
  Result<store::Reader> reader = store::Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const Result<LargeTrace> large = LargeTrace::open(*std::move(reader), "t", {});
  ASSERT_TRUE(large) << large.error().message;
  const Picture picture = large->whole();
  std::map<std::string, bool> folded;
  for (const Track& track : picture.timeline->tracks)
    folded[track.name.substr(track.name.find("stream"))] = track.folded;
  const std::map<std::string, bool> wanted{
      {"stream 7", true}, {"stream 8", false}, {"stream 9", false}, {"stream 10", false}};
  EXPECT_EQ(folded, wanted);
}

// A picture whose columns are columns of the summaries is exact.
TEST_F(LargeTraces, DrawSummariesLikeAllRows) {
  const Picture picture = large_->whole();
  const TimeNs begin = large_->overview().origin(), end = begin + store::block_width(large_->overview().top_level());
  double at_barriers = 0;
  for (const Track& track : picture.timeline->tracks) {
    const Track& exact = *by_key_.at(track.key);
    for (const std::uint32_t columns : {1024u, 256u, 16u}) {
      const TimeNs width = (end - begin) / columns;
      if (track.has_strip()) {
        const auto drawn = track.density.draw(begin, end, columns), wanted = exact.density.draw(begin, end, columns);
        for (std::size_t i = 0; i < columns; ++i) {
          for (std::size_t s = 0; s < kStates; ++s)
            ASSERT_NEAR(drawn[i].count[s], wanted[i].count[s], 1e-3) << track.key << " column " << i << " state " << s;
          at_barriers += drawn[i].count[index_of(State::at_barrier)];
        }
        continue;
      }
      for (std::size_t r = 0; r < track.rows.size(); ++r) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < columns; ++i) {
          const TimeNs from = begin + static_cast<TimeNs>(i) * width;
          for (std::size_t s = 0; s < kStates; ++s) {
            const auto state = static_cast<State>(s);
            ASSERT_NEAR(track.rows[r].time_in(state, from, from + width),
                        exact.rows[r].time_in(state, from, from + width), 1);
          }
          count += track.rows[r].count_in(from, from + width);
        }
        EXPECT_EQ(count, exact.rows[r].spans().size()) << "each event begins in one column";
        const auto drawn = track.rows[r].draw(begin, end, columns);
        EXPECT_LE(drawn.size(), columns);
        double all = 0, wanted = 0;
        for (const double part : filled(drawn, begin, width, columns)) all += part * static_cast<double>(width);
        for (std::size_t s = 0; s < kStates; ++s)
          wanted += static_cast<double>(exact.rows[r].time_in(static_cast<State>(s), begin, end));
        EXPECT_NEAR(all, wanted, 1e-3 * wanted + columns) << track.key;
      }
    }
  }
  EXPECT_GT(at_barriers, 0) << "the picture shows warps at the barrier behind their leader";
}

TEST_F(LargeTraces, DrawTheRowsOfANarrowView) {
  std::mt19937_64 random(1);
  const TimeNs span = exact_.end - exact_.begin;
  for (int i = 0; i < 30; ++i) {
    const TimeNs width = std::max<TimeNs>(span >> (random() % 20), 200),
                 begin = exact_.begin + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(span - width + 1));
    Result<Picture> picture = large_->picture(begin, begin + width);
    ASSERT_TRUE(picture) << picture.error().message;
    ASSERT_TRUE(picture->fine);
    EXPECT_TRUE(picture->serves(begin, begin + width));
    EXPECT_EQ(picture->model->waits.size(),
              static_cast<std::size_t>(std::count_if(model_.waits.begin(), model_.waits.end(), [&](const auto& wait) {
                return wait.arrived < picture->end && wait.resumed >= picture->begin;
              })));
    for (const Track& track : picture->timeline->tracks) {
      const Track& exact = *by_key_.at(track.key);
      if (!track.has_strip()) {
        // The order of rows may differ if an event begins before the view; the sum over the rows is the same.
        for (std::size_t s = 0; s < kStates; ++s) {
          TimeNs drawn = 0, wanted = 0;
          for (const SpanRow& row : track.rows) drawn += row.time_in(static_cast<State>(s), begin, begin + width);
          for (const SpanRow& row : exact.rows) wanted += row.time_in(static_cast<State>(s), begin, begin + width);
          ASSERT_EQ(drawn, wanted) << track.key << " state " << s;
        }
        continue;
      }
      for (const State state : {State::polling, State::parked})
        ASSERT_NEAR(track.density.time_in(state, begin, begin + width),
                    exact.density.time_in(state, begin, begin + width), 1)
            << track.key;
      // The time that warps compute between waits is exact to one column of the summaries.
      const double column = 3e-3 * static_cast<double>(span);
      ASSERT_NEAR(track.density.time_in(State::computing, begin, begin + width),
                  exact.density.time_in(State::computing, begin, begin + width), 40 * column);
    }
  }
}

TEST(LargeFirstViews, AreThoseOfTheRows) {
  const store::TempFolder folder;
  const std::string path = folder / "burst.wicprof";
  constexpr TimeNs kBurst = 5 * kSecond, kEach = 10'000, kWaits = 1'000;
  {
    Result<store::Recorder> recorder = store::Recorder::create(store::options_for(path));
    ASSERT_TRUE(recorder) << recorder.error().message;
    for (const TimeNs at : {TimeNs{1'000'000}, 20 * kSecond}) {
      CopyEvent copy = make_event<CopyEvent>();
      copy.start_ns = at;
      copy.end_ns = at + 1'000;
      for (int i = 0; i < 2; ++i) recorder->add(0, copy.header);
    }
    for (TimeNs i = 0; i < kWaits; ++i) {
      WaitEvent wait = make_event<WaitEvent>();
      wait.site = 1;
      wait.device = kHostDevice;
      wait.iteration = static_cast<std::uint32_t>(i);
      wait.arrived_ns = static_cast<std::uint64_t>(kBurst + i * kEach);
      wait.resumed_ns = wait.arrived_ns + kEach / 2;
      recorder->add(0, wait.header);
    }
    ASSERT_TRUE(recorder->finish());
  }
  Result<store::Reader> reader = store::Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const Timeline rows = build_timeline(*analyzer::load(*reader, "t"), kTrackKinds);
  Result<LargeTrace> large = LargeTrace::open(*std::move(reader), "t", {});
  ASSERT_TRUE(large) << large.error().message;
  const Stretch exact = first_view(rows), shown = first_view(*large->whole().timeline);
  EXPECT_GE(exact.begin, kBurst - kWaits * kEach);
  EXPECT_LE(exact.end, kBurst + 2 * kWaits * kEach);
  // Summaries are exact at the edges of their columns; the search is as fine as 1/4096 of the trace.
  const TimeNs column = (rows.end - rows.begin) / 1024;
  EXPECT_NEAR(static_cast<double>(shown.begin), static_cast<double>(exact.begin), 3.0 * static_cast<double>(column));
  EXPECT_NEAR(static_cast<double>(shown.end), static_cast<double>(exact.end), 3.0 * static_cast<double>(column));
  EXPECT_LE(shown.begin, kBurst + kWaits * kEach / 4);
  EXPECT_GE(shown.end, kBurst + kWaits * kEach * 3 / 4);
}

TEST_F(LargeTraces, AreSearchedLikeSmallOnes) {
  for (const char* text :
       {"relax", "wait at LEFT", "right", "phase", "right kind:wait", "kind:kernel >1us", "nothing like it"}) {
    const Result<SearchHits> found = large_->search(text);
    ASSERT_TRUE(found) << found.error().message;
    const SearchHits wanted = search(model_, text);
    EXPECT_EQ(found->total, wanted.total) << text;
    ASSERT_EQ(found->hits.size(), wanted.hits.size());
    for (std::size_t i = 0; i < wanted.hits.size(); ++i) EXPECT_EQ(found->hits[i].begin, wanted.hits[i].begin);
  }
}

TEST_F(LargeTraces, FactsSurvivePacking) {
  const auto model = std::make_shared<const analyzer::TraceModel>(model_);
  const Facts facts = make_portable_facts(model);
  const std::string bytes = pack_facts(facts);
  const std::optional<Facts> back = unpack_facts(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(reports::analysis_json(model_, back->analysis), reports::analysis_json(model_, facts.analysis));
  EXPECT_EQ(reports::comparison_json(back->comparison), reports::comparison_json(facts.comparison));
  EXPECT_EQ(pack_facts(*back), bytes);
  EXPECT_EQ(back->details.size(), facts.analysis.sites.size());
  for (const analyzer::SiteStats& site : facts.analysis.sites) {
    const auto detail = back->detail_of(site.site), wanted = site_detail(model_, facts.analysis, site.site);
    ASSERT_TRUE(detail && wanted && detail->longest);
    EXPECT_EQ(detail->facts, wanted->facts);
    EXPECT_EQ(detail->percentiles, wanted->percentiles);
    EXPECT_EQ(detail->longest->row, wanted->longest->row);
  }
  for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 50)
    EXPECT_FALSE(unpack_facts(std::string_view(bytes).substr(0, cut)));
}

}  // namespace
}  // namespace wicprof::gui
