#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "analyzer/figures/list.h"
#include "analyzer/path/prediction_constants.h"
#include "reports/csv/figure_csv.h"
#include "reports/html/figure_svg.h"
#include "reports/json/figure_json.h"
#include "reports/text/figure_text.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TraceModel handoffs(std::uint32_t waiters = 8, const std::string& name = "synthetic.wicprof") {
  TraceModel model = empty_program();
  model.name = name;
  add_handoff(model, {.waiters = waiters, .iterations = 50});
  settle(model);
  return model;
}

TraceModel phased(std::uint32_t faster = 2) {
  return phased_program({.period = [faster](Mode mode, std::size_t) {
    return mode == Mode::poll ? TimeNs{2'000'000} : TimeNs{2'000'000} / faster;
  }});
}

Figure figure_of(int number, const std::vector<const TraceModel*>& traces) {
  return make_figure(number, figure_input(traces));
}

double number_at(const Figure& figure, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < figure.columns.size(); ++i) {
    if (figure.columns[i] != column) continue;
    EXPECT_TRUE(figure.rows.at(row)[i].is_number) << column;
    return figure.rows.at(row)[i].number;
  }
  ADD_FAILURE() << "no column " << column;
  return 0;
}

TEST(Figures, HaveThePapersNumbers) {
  std::string numbers;
  for (const FigureInfo& info : figures()) numbers += std::to_string(info.number) + " ";
  EXPECT_EQ(numbers, "2 4 5 6 7 12 13 14 15 16 17 ");
  EXPECT_EQ(figure_by_number(3), nullptr);
}

TEST(Figures, WithoutDataEachNamesWhatIsMissing) {
  TraceModel empty;
  empty.name = "empty";
  settle(empty);
  for (const FigureInfo& info : figures()) {
    const Figure figure = figure_of(info.number, {&empty});
    EXPECT_FALSE(figure.missing.empty()) << info.number;
    EXPECT_TRUE(figure.rows.empty()) << info.number;
    EXPECT_NE(reports::figure_text(figure).find("could not look"), std::string::npos) << info.number;
    EXPECT_TRUE(reports::figure_svg(figure).empty()) << info.number;
  }
}

TEST(Figures, RowsFitTheirColumns) {
  const TraceModel model = phased();
  for (const FigureInfo& info : figures()) {
    const Figure figure = figure_of(info.number, {&model});
    EXPECT_EQ(figure.missing.empty(), !figure.rows.empty()) << info.number;
    EXPECT_FALSE(figure.formula.empty()) << info.number;
    for (const auto& row : figure.rows) ASSERT_EQ(row.size(), figure.columns.size()) << info.number;
    if (figure.shares) {
      for (const auto& row : figure.rows) {
        if (!row[figure.y].is_number) continue;
        EXPECT_GE(row[figure.y].number, 0) << info.number;
        EXPECT_LE(row[figure.y].number, 1 + 1e-9) << info.number;
      }
    }
  }
}

TEST(Figures, ConsumerShareOfFigure2) {
  const TraceModel model = handoffs();
  const Figure figure = figure_of(2, {&model});
  ASSERT_EQ(figure.rows.size(), 2u);  // all sites, and the only one
  EXPECT_NEAR(number_at(figure, 0, "consumer_share"), 320'598'600.0 / (8 * 49'801'500.0), 1e-9);
  EXPECT_FALSE(figure.rows[0][4].is_number);  // no copy carried data: not known
}

TEST(Figures, LeadOfFigure4) {
  const TraceModel model = handoffs();
  const Figure figure = figure_of(4, {&model});
  ASSERT_EQ(figure.rows.size(), 1u);
  EXPECT_NEAR(number_at(figure, 0, "mean"), 0.8 - 3.5e-6, 1e-9);
  EXPECT_LT(number_at(figure, 0, "deviation"), 1e-5);
  EXPECT_EQ(number_at(figure, 0, "waits"), 49 * 8);
}

TEST(Figures, PollsPerWaitOfFigure5) {
  TraceModel model = handoffs();
  model.waits.edit(0)->polls = 1'000;
  const Figure figure = figure_of(5, {&model});
  ASSERT_EQ(figure.rows.size(), 1u);
  EXPECT_NEAR(number_at(figure, 0, "checks_mean"), (399 * 100 + 1'000) / 400.0, 1e-9);
  EXPECT_EQ(number_at(figure, 0, "checks_p50"), 100);
  EXPECT_EQ(number_at(figure, 0, "checks_max"), 1'000);
  EXPECT_FALSE(figure.rows[0][3].is_number);
}

TEST(Figures, CurvesOfFigures6And13) {
  TraceModel model = handoffs(4);
  // One of four arrives at half of the time.
  model.waits.edit_all([&](auto& wait) {
    if (wait.block == 3) wait.arrived += (wait.resumed - wait.arrived) / 2;
  });
  settle(model);
  const Figure arriving = figure_of(6, {&model});
  ASSERT_EQ(arriving.rows.size(), 21u);
  EXPECT_NEAR(number_at(arriving, 5, "not_arrived"), 0.25, 1e-9);
  EXPECT_NEAR(number_at(arriving, 15, "not_arrived"), 0, 1e-9);
  for (std::size_t i = 1; i < arriving.rows.size(); ++i) {
    EXPECT_LE(arriving.rows[i][4].number, arriving.rows[i - 1][4].number);
  }
  const Figure waiting = figure_of(13, {&model});
  EXPECT_NEAR(number_at(waiting, 5, "without_data"), 0.75, 1e-9);
  EXPECT_NEAR(number_at(waiting, 15, "without_data"), 1, 1e-9);
  EXPECT_NEAR(number_at(waiting, 20, "without_data"), 0, 1e-9);
}

TEST(Figures, IndependentWorkOfFigure7) {
  TraceModel model = handoffs(4);
  declare_site(model, 2, "done", WordMemory::pinned_host);
  // Block 50 never waits; in each iteration it signals when a quarter of the waiting is over.
  const store::SignalList releases = model.signals;
  for (const store::SignalRow& release : releases) {
    store::SignalRow signal = release;
    signal.site = 2;
    signal.device = 0;
    signal.block = 50;
    signal.at = release.at - 600'000;
    model.signals.push_back(signal);
  }
  settle(model);
  const Figure figure = figure_of(7, {&model});
  ASSERT_EQ(figure.rows.size(), 21u) << figure.missing;
  EXPECT_NEAR(number_at(figure, 4, "not_done"), 1, 1e-9);  // 20 %
  EXPECT_NEAR(number_at(figure, 6, "not_done"), 0, 1e-9);  // 30 %
}

TEST(Figures, SpeedupOfFigure12) {
  const TraceModel model = phased();
  const Figure figure = figure_of(12, {&model});
  ASSERT_EQ(figure.rows.size(), 1u);
  EXPECT_NEAR(number_at(figure, 0, "speedup"), 2, 0.01);
  EXPECT_GT(number_at(figure, 0, "consumer_share_poll"), 0.7);
  const TraceModel polled = handoffs();
  EXPECT_FALSE(figure_of(12, {&polled}).missing.empty());
  TraceModel parked = handoffs(8, "parked.wicprof");
  parked.meta["mode"] = "park";
  const Figure two = figure_of(12, {&polled, &parked});
  ASSERT_EQ(two.rows.size(), 1u) << two.missing;
  EXPECT_NEAR(number_at(two, 0, "speedup"), 1, 1e-9);
}

TEST(Figures, OwnCostOfFigure15) {
  const TraceModel model = handoffs();
  const Figure figure = figure_of(15, {&model});
  ASSERT_EQ(figure.rows.size(), 1u);
  EXPECT_NEAR(number_at(figure, 0, "share"), 400.0 * calibration::kRecordCost / (8 * 49'801'500.0), 1e-9);
}

TEST(Figures, ThreadsOfFigure16) {
  std::vector<TraceModel> models;
  for (const std::uint32_t waiters : {16u, 4u}) {
    TraceModel polled = handoffs(waiters, "poll");
    TraceModel parked = handoffs(waiters, "park");
    parked.meta["mode"] = "park";
    models.push_back(polled);
    models.push_back(parked);
  }
  const Figure figure = figure_of(16, {&models[0], &models[1], &models[2], &models[3]});
  ASSERT_EQ(figure.rows.size(), 2u) << figure.missing;
  EXPECT_EQ(number_at(figure, 0, "threads"), 4);
  EXPECT_EQ(number_at(figure, 1, "threads"), 16);
  EXPECT_EQ(figure.rows[0][0].text, "waiting groups");
  EXPECT_NE(figure_of(16, {&models[0], &models[1]}).missing.find("different"), std::string::npos);
}

// A run of `app OPTIONS` whose iterations take `period`, at a site of that name.
TraceModel contender(const std::string& options, TimeNs period, const std::string& site, const std::string& mode) {
  TraceModel model = empty_program();
  model.name = options;
  model.meta["app"] = "app";
  model.meta["command"] = "./app " + options;
  model.meta["mode"] = mode;
  model.sites[0].name = site;
  add_handoff(model, {.iterations = 50, .period = [period](std::size_t) { return period; }});
  settle(model);
  return model;
}

TEST(Figures, ContendersOfFigure17) {
  const TraceModel naive = contender("--wait naive", 6'000'000, "a.naive.data", "poll");
  const TraceModel polled = contender("-w poll", 3'000'000, "a.data", "poll");
  const TraceModel pushed = contender("--rival effshare", 4'000'000, "a.data", "poll");
  const TraceModel parked = contender("--rival=gps --wait naive", 2'000'000, "a.data", "park");
  const Figure figure = figure_of(17, {&polled, &naive, &pushed, &parked});
  ASSERT_EQ(figure.rows.size(), 3u) << figure.missing;
  const std::string names[] = {"poll", "poll with effshare", "park with gps"};
  const double speedups[] = {2, 1.5, 3};
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(figure.rows[row][0].text, "app");
    EXPECT_EQ(figure.rows[row][1].text, names[row]);
    EXPECT_NEAR(number_at(figure, row, "speedup"), speedups[row], 0.01);
    EXPECT_EQ(figure.rows[row][6].text, "naive");
  }
  const Figure without_naive = figure_of(17, {&pushed, &polled});
  ASSERT_EQ(without_naive.rows.size(), 1u);
  EXPECT_EQ(without_naive.rows[0][6].text, "poll");
  EXPECT_NEAR(number_at(without_naive, 0, "speedup"), 0.75, 0.01);
}

TEST(Figures, Figure17SaysWhatItLeavesOut) {
  const TraceModel pushed = contender("--rival effshare", 4'000'000, "a.data", "poll");
  const TraceModel parked = contender("--rival gps", 2'000'000, "a.data", "park");
  const Figure figure = figure_of(17, {&pushed, &parked});
  EXPECT_TRUE(figure.rows.empty());
  EXPECT_FALSE(figure.missing.empty());
  ASSERT_EQ(figure.notes.size(), 1u);
  EXPECT_NE(figure.notes[0].find("app: left out"), std::string::npos);
  const TraceModel toggled = phased();
  EXPECT_NE(figure_of(17, {&toggled}).notes.at(0).find("polls and parks"), std::string::npos);
}

TEST(Figures, AsJsonAndCsv) {
  TraceModel model = handoffs();
  model.sites[0].name = "=1+1, \"quoted\"";
  const Figure figure = figure_of(2, {&model});
  const auto json = nlohmann::json::parse(reports::figure_json(figure));
  EXPECT_EQ(json["figure"], 2);
  EXPECT_TRUE(json["missing"].is_null());
  EXPECT_EQ(json["rows"].size(), 2u);
  EXPECT_TRUE(json["rows"][0]["producer_share"].is_null());
  std::istringstream csv(reports::figure_csv(figure));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "trace,mode,site,consumer_share,producer_share");
  std::getline(csv, line);
  EXPECT_EQ(line.rfind("synthetic.wicprof,poll,all sites,0.80", 0), 0u) << line;
  EXPECT_EQ(line.back(), ',');
  std::getline(csv, line);
  EXPECT_NE(line.find(",\"'=1+1, \"\"quoted\"\"\","), std::string::npos) << line;
}

TEST(Figures, DrawingsEscapeNames) {
  TraceModel model = handoffs();
  model.sites[0].name = "<script>";
  for (const int number : {2, 4, 6}) {
    const std::string svg = reports::figure_svg(figure_of(number, {&model}));
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    EXPECT_EQ(svg.find("<script>"), std::string::npos);
    EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
  }
}

}  // namespace
}  // namespace wicprof::analyzer
