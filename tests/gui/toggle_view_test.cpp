// What the views of the toggle, of parties and of empty traces say, without a window.
#include <gtest/gtest.h>

#include "gui/source/facts.h"
#include "gui/view/iteration_strip.h"
#include "gui/view/lines.h"
#include "gui/view/nothing.h"
#include "gui/view/parties_view.h"
#include "gui/view/toggle_history.h"
#include "gui/view/toggle_words.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::gui {
namespace {

using analyzer::Iteration;
using analyzer::TraceModel;
namespace synthetic = analyzer::synthetic;

std::vector<Iteration> iterations(std::size_t count, TimeNs duration) {
  std::vector<Iteration> list;
  for (std::size_t i = 0; i < count; ++i) {
    const TimeNs begin = static_cast<TimeNs>(i) * duration;
    list.push_back({0, static_cast<std::uint32_t>(i), begin, begin + duration});
  }
  return list;
}

TEST(IterationStrips, EveryIterationIsInOneColumn) {
  const auto few = iterations(11, 90'000'000), many = iterations(4001, 800'000);
  const IterationStrip strip = iteration_strip({{Mode::poll, "poll", &few}, {Mode::park, "park", &many}}, 100);
  ASSERT_EQ(strip.phases.size(), 2u);
  EXPECT_EQ(strip.phases[0].columns.size(), 11u) << "each of the few iterations has a column of its own";
  EXPECT_EQ(strip.phases[1].columns.size(), 100u);
  for (const StripPhase& phase : strip.phases) {
    std::size_t next = 0;
    for (const StripPhase::Column& column : phase.columns) {
      EXPECT_EQ(column.first, next);
      EXPECT_LE(column.first, column.last);
      EXPECT_EQ(column.p50, phase.p50);
      next = column.last + 1;
    }
    EXPECT_EQ(next, phase.iterations);
  }
}

TEST(IterationStrips, AShortIterationStaysVisibleBesideALongOne) {
  const auto slow = iterations(12, 90'000'000), fast = iterations(12, 700'000);
  const IterationStrip strip = iteration_strip({{Mode::poll, "poll", &slow}, {Mode::park, "park", &fast}}, 100);
  EXPECT_TRUE(strip.logarithmic);
  EXPECT_EQ(strip.height_of(90'000'000), 1);
  EXPECT_GT(strip.height_of(700'000), 0.1);
  EXPECT_LT(strip.height_of(700'000), strip.height_of(7'000'000));
  const auto similar = iterations(12, 80'000'000);
  const IterationStrip linear = iteration_strip({{Mode::poll, "a", &slow}, {Mode::park, "b", &similar}}, 100);
  EXPECT_FALSE(linear.logarithmic);
  EXPECT_NEAR(linear.height_of(80'000'000), 8.0 / 9, 1e-6);
}

TEST(IterationStrips, APhaseWithoutIterationsIsEmpty) {
  const std::vector<Iteration> none;
  const IterationStrip strip = iteration_strip({{Mode::poll, "poll", &none}}, 100);
  EXPECT_TRUE(strip.phases[0].columns.empty());
  EXPECT_EQ(strip.most, 0);
}

TEST(ToggleHistory, UndoRestoresWhatTheToggleReplaced) {
  ToggleReply park;
  EXPECT_TRUE(undo_of(park).empty());  // an older session does not say
  park.before = {{"", Mode::poll, StrategyId::poll, WaitSide::device},
                 {"", Mode::park, StrategyId::block, WaitSide::host},
                 {"left", Mode::park, StrategyId::backoff, WaitSide::both}};
  const std::vector<ToggleRequest> requests = undo_of(park);
  ASSERT_EQ(requests.size(), park.before.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].mode, park.before[i].mode);
    EXPECT_EQ(requests[i].strategy, park.before[i].strategy);
    EXPECT_EQ(requests[i].site, park.before[i].site);
    EXPECT_EQ(requests[i].side, park.before[i].side);
  }
}

TEST(ChangeSentences, SayWhatChangedAndByHowMuch) {
  TraceModel model =
      synthetic::phased_program({.phases = 2, .iterations = 60, .period = [](Mode mode, std::size_t) -> TimeNs {
                                   return mode == Mode::poll ? 1'000'000 : 500'000;
                                 }});
  const Facts facts = make_facts(std::make_shared<const TraceModel>(std::move(model)));
  const std::string text = change_sentence(facts.before_after);
  EXPECT_NE(text.find("an iteration takes 500 us in place of 1.00 ms with poll"), std::string::npos) << text;
  EXPECT_NE(text.find("2 times shorter"), std::string::npos) << text;
}

TEST(ChangeSentences, OfManyPhasesHaveTheDirectionOfTheVerdict) {
  // The last change goes back to polling, while the verdict over all phases is about parking.
  TraceModel model =
      synthetic::phased_program({.phases = 9, .iterations = 60, .period = [](Mode mode, std::size_t i) -> TimeNs {
                                   return (mode == Mode::poll ? 1'000'000 : 500'000) + static_cast<TimeNs>(i % 5) * 100;
                                 }});
  const Facts facts = make_facts(std::make_shared<const TraceModel>(std::move(model)));
  const BeforeAfter& values = facts.before_after;
  ASSERT_TRUE(values.before && values.after && values.speedup);
  EXPECT_EQ(values.before->mode, Mode::poll);
  EXPECT_EQ(values.after->mode, Mode::park);
  EXPECT_EQ(values.before->phases, 5u);
  EXPECT_EQ(values.after->phases, 4u);
  EXPECT_EQ(values.before->iterations, facts.comparison.before.iterations);
  EXPECT_NEAR(values.speedup->value, 2, 0.01);
  const std::string text = change_sentence(values);
  EXPECT_NE(text.find("in place of 1.00 ms with poll: -50 %"), std::string::npos) << text;
}

TEST(ChangeSentences, SayWhatIsMissing) {
  BeforeAfter values;
  EXPECT_EQ(change_sentence(values), "");
  values.before.emplace();
  values.after.emplace();
  values.after->way = "park (auto)";
  EXPECT_EQ(change_sentence(values), "park (auto) is in effect; no iteration has ended since.");
}

TEST(Lines, BreakAtSpacesAndKeepUnitsWithTheirNumbers) {
  const auto characters = [](std::string_view text) { return static_cast<float>(text.size()); };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of("8.35 to 46.7 times shorter", 12, characters), (Lines{"8.35 to", "46.7 times", "shorter"}));
  EXPECT_EQ(lines_of("of hot_flag.poll.wicprof.gz (33.9", 20, characters),
            (Lines{"of", "hot_flag.poll.wicprof.gz", "(33.9"}));
  EXPECT_EQ(lines_of("a b\n\nc", 10, characters), (Lines{"a b", "", "c"}));
  EXPECT_EQ(lines_of("", 10, characters), Lines{""});
}

TEST(PartiesViews, FilteredFromTheRowsAndUnfilteredFromTheAnalysisAgree) {
  TraceModel model = synthetic::empty_program();
  synthetic::add_handoff(model, {});
  analyzer::settle(model);
  const analyzer::Analysis analysis = analyzer::analyze(model);
  for (const analyzer::PartyBy by : analyzer::kPartyBy) {
    const PartiesResult known = known_parties(analysis, by);
    PartiesChoice choice;
    choice.by = by;
    const PartiesResult found = find_parties(model, {}, choice);
    EXPECT_EQ(known.matrix.by, by);
    EXPECT_EQ(known.matrix.all.waiting_ns, found.matrix.all.waiting_ns);
    EXPECT_EQ(known.matrix.cells.size(), found.matrix.cells.size());
    EXPECT_TRUE(found.lengths && !known.lengths);
  }
}

TEST(PortableFacts, KeepTheMatricesAndTheLengths) {
  TraceModel model = synthetic::empty_program();
  synthetic::add_handoff(model, {});
  analyzer::settle(model);
  const Facts facts = make_portable_facts(std::make_shared<const TraceModel>(std::move(model)));
  const std::optional<Facts> read = unpack_facts(pack_facts(facts));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->analysis.parties.size(), facts.analysis.parties.size());
  EXPECT_EQ(read->analysis.parties[0].cells[0].figures.waiting_ns,
            facts.analysis.parties[0].cells[0].figures.waiting_ns);
  ASSERT_FALSE(read->details.empty());
  EXPECT_EQ(read->details[0].waits.ways.size(), facts.details[0].waits.ways.size());
}

TEST(Nothing, EachReasonHasACommand) {
  TraceModel model = synthetic::empty_program();
  analyzer::settle(model);
  const analyzer::Analysis analysis = analyzer::analyze(model);
  const std::string path = "a b.wicprof";
  for (const NothingToShow& nothing :
       {no_tracks(), no_sites(model, analysis, path), no_samples(model, path), no_findings(analysis, path),
        no_toggle(model, analysis, {}, path), no_iterations(path), no_program(&model), analyzer::why_no_waits(model)}) {
    EXPECT_FALSE(nothing.reason.empty());
    EXPECT_EQ(nothing.command.rfind("wic-prof ", 0), 0u) << nothing.command;
  }
  TraceModel plain;
  for (const NothingToShow& nothing : {no_sites(plain, {}, path), no_samples(plain, path),
                                       no_toggle(plain, {}, {}, path), analyzer::why_no_waits(plain)})
    EXPECT_EQ(nothing.command.find("pcsampling"), std::string::npos) << "a program without kernels has none to sample";
  EXPECT_FALSE(no_strips(plain, {}, false)) << "without kernels there is nothing to explain";
  plain.kernels.emplace_back();
  ASSERT_TRUE(no_strips(plain, {}, false));
  EXPECT_NE(no_strips(plain, {}, false)->command.find("pcsampling"), std::string::npos);
  plain.sites.push_back({1, "cudaStreamSynchronize in step", {}, {}, 0});
  plain.sites.back().side = SiteSide::host;
  EXPECT_NE(no_strips(plain, {}, false)->command.find("pcsampling"), std::string::npos) << "a call is no declared site";
  EXPECT_FALSE(no_strips(plain, {}, true)) << "a large trace has waits that the model lacks";
  EXPECT_EQ(no_findings(analysis, path).command, "wic-prof analyze 'a b.wicprof'");
}

TEST(Nothing, RunsTheProgramByItsOwnWords) {
  TraceModel model;
  model.meta["command"] = "python3 'a b.py'";
  model.kernels.emplace_back();
  const std::string own = " -- python3 'a b.py'";
  EXPECT_EQ(no_samples(model, "t").command, "wic-prof run --trace=cuda,nvtx,pcsampling" + own);
  EXPECT_EQ(no_strips(model, {}, false)->command, no_samples(model, "t").command);
  EXPECT_EQ(analyzer::why_no_waits(model).command, no_samples(model, "t").command);
  EXPECT_EQ(no_program(&model).command, "wic-prof run --gui" + own);
  EXPECT_EQ(no_program(nullptr).command, "wic-prof run --gui -- APP");
  model.sites.emplace_back();
  EXPECT_EQ(no_sites(model, {}, "t").command, "wic-prof run" + own);
  EXPECT_EQ(analyzer::why_no_waits(model).command, "wic-prof run" + own);
  EXPECT_EQ(no_toggle(model, {}, {}, "t").command, "wic-prof run --ab" + own);
}

TEST(Nothing, WhatCanChangeIsSaidOnlyWhereItCan) {
  const TraceModel polls = synthetic::polling_program();
  const NothingToShow kernels = no_toggle(polls, analyzer::analyze(polls), {}, "t");
  EXPECT_NE(kernels.reason.find("poll polls"), std::string::npos) << kernels.reason;
  EXPECT_EQ(kernels.command, "wic-prof run --rewrite --ab -- synthetic --iterations 50");

  TraceModel hosts;
  hosts.host_waits.emplace_back().call = std::string("cudaStreamSynchronize");
  hosts.kernels.emplace_back();
  EXPECT_NE(no_toggle(hosts, {}, {}, "t").command.find("--side host"), std::string::npos);

  TraceModel neither;
  neither.kernels.emplace_back();
  EXPECT_NE(no_toggle(neither, {}, {}, "t").command.find("pcsampling"), std::string::npos);
  analyzer::Analysis sampled;
  sampled.stalls.functions.emplace_back();
  for (const NothingToShow& none : {no_toggle(neither, sampled, {}, "t"), no_toggle(TraceModel{}, {}, {}, "t")}) {
    EXPECT_EQ(none.command, "wic-prof analyze t");
    EXPECT_EQ(none.reason.find("--"), std::string::npos) << none.reason;
  }
}

}  // namespace
}  // namespace wicprof::gui
