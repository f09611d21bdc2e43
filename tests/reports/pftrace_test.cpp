// The export in Perfetto's own format, read by the numbers that its published .proto files give the fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/waits/matching.h"
#include "protocol/plain_text.h"
#include "reports/render.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports {
namespace {

struct ReadSlice {
  std::uint64_t track = 0;
  std::string category, name;
  std::uint64_t begin = 0, end = 0;
  std::set<std::uint64_t> flows, ending_flows;
  std::size_t arguments = 0;
};

/// What a viewer would have of a document.
struct Read {
  std::map<std::uint64_t, std::string> tracks;
  std::map<std::uint64_t, std::uint64_t> parents;
  std::set<std::uint64_t> counters;
  std::vector<ReadSlice> slices;
  std::vector<std::string> instants;
  std::map<std::uint64_t, std::vector<double>> counts;
};

using Texts = std::map<std::uint64_t, std::string>;

void read_texts(protozero::pbf_reader message, Texts& to) {
  std::uint64_t id = 0;
  while (message.next()) {
    if (message.tag() == 1) {
      id = message.get_uint64();
    } else {
      to[id] = message.get_string();
    }
  }
  EXPECT_TRUE(is_plain(to[id])) << "no UTF-8";
}

class Reading {
 public:
  explicit Reading(const std::string& document) {
    protozero::pbf_reader trace(document);
    while (trace.next(1)) packet(trace.get_message());
    // As the viewer does.
    std::stable_sort(events_.begin(), events_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [at, bytes] : events_) event(at, protozero::pbf_reader(bytes));
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << "an open slice of track " << track;
  }
  Read read;

 private:
  void packet(protozero::pbf_reader packet) {
    std::uint64_t at = 0;
    while (packet.next()) {
      if (packet.tag() == 8) {
        at = packet.get_uint64();
      } else if (packet.tag() == 11) {
        events_.emplace_back(at, packet.get_view());
      } else if (packet.tag() == 12) {
        protozero::pbf_reader interned = packet.get_message();
        while (interned.next())
          read_texts(interned.get_message(), interned.tag() == 1 ? categories_ : interned.tag() == 2 ? names_ : keys_);
      } else if (packet.tag() == 60) {
        track(packet.get_message());
      } else {
        packet.skip();
      }
    }
  }
  void track(protozero::pbf_reader descriptor) {
    std::uint64_t uuid = 0;
    while (descriptor.next()) {
      switch (descriptor.tag()) {
        case 1:
          uuid = descriptor.get_uint64();
          EXPECT_FALSE(read.tracks.contains(uuid)) << "twice";
          read.tracks[uuid] = "";
          break;
        case 2:
          read.tracks[uuid] = descriptor.get_string();
          break;
        case 5:
          read.parents[uuid] = descriptor.get_uint64();
          break;
        case 8:
          descriptor.skip();
          read.counters.insert(uuid);
          break;
        default:
          descriptor.skip();
      }
    }
  }

  void event(std::uint64_t at, protozero::pbf_reader event) {
    ReadSlice slice;
    slice.begin = at;
    std::int32_t type = 0;
    double value = 0;
    while (event.next()) {
      switch (event.tag()) {
        case 3:
          slice.category = categories_.at(event.get_uint64());
          break;
        case 4: {
          protozero::pbf_reader annotation = event.get_message();
          ASSERT_TRUE(annotation.next(1));
          EXPECT_TRUE(keys_.contains(annotation.get_uint64()));
          ++slice.arguments;
          break;
        }
        case 9:
          type = event.get_enum();
          break;
        case 10:
          slice.name = names_.at(event.get_uint64());
          break;
        case 11:
          slice.track = event.get_uint64();
          break;
        case 23:
          slice.name = event.get_string();
          break;
        case 44:
          value = event.get_double();
          break;
        case 47:
          slice.flows.insert(event.get_fixed64());
          break;
        case 48:
          slice.ending_flows.insert(event.get_fixed64());
          break;
        default:
          FAIL() << "field " << event.tag();
      }
    }
    EXPECT_TRUE(read.tracks.contains(slice.track)) << "no such track";
    auto& open = open_[slice.track];
    if (type == 1) {
      open.push_back(read.slices.size());
      read.slices.push_back(slice);
    } else if (type == 2) {
      ASSERT_FALSE(open.empty());
      read.slices[open.back()].end = at;
      read.slices[open.back()].ending_flows = slice.ending_flows;
      open.pop_back();
    } else if (type == 3) {
      read.instants.push_back(slice.name);
    } else {
      EXPECT_EQ(type, 4);
      EXPECT_TRUE(read.counters.contains(slice.track));
      read.counts[slice.track].push_back(value);
    }
  }

  Texts categories_, names_, keys_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::vector<std::pair<std::uint64_t, protozero::data_view>> events_;
};

Read read_export(const TraceModel& model) { return Reading(render({model, Analysis{}}, "pftrace")).read; }

TraceModel traced_program() {
  TraceModel model = synthetic::phased_program({2, 8, [](Mode, std::size_t) { return TimeNs{1'000'000}; }});
  const TimeNs at = model.waits.front().arrived;
  for (const auto& [name, begin, end] : {std::tuple<const char*, TimeNs, TimeNs>{"outer", 0, 100},
                                         {"inner", 0, 40},
                                         {"inner", 40, 100},
                                         {"next", 100, 101}}) {
    store::CallRow call{};
    call.thread = 7;
    call.name = name;
    call.start = at + begin;
    call.end = at + end;
    model.calls.push_back(call);
  }
  for (int i = 0; i < 3; ++i) {
    store::ThreadSampleRow sample;
    sample.thread = 7;
    sample.name = "feeder";
    sample.begin = at + i * (i == 2 ? 2'000'000 : 1'000'000);
    sample.end = sample.begin + 1'000'000;
    sample.cpu = 250'000;
    model.thread_samples.push_back(sample);
  }
  settle(model);
  return model;
}

TEST(PerfettoTrace, EveryRowIsASliceWithItsTimes) {
  const TraceModel model = traced_program();
  const Read read = read_export(model);
  std::map<std::string, std::multiset<std::pair<std::uint64_t, std::uint64_t>>> times;
  for (const ReadSlice& slice : read.slices) times[slice.category].emplace(slice.begin, slice.end);
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> waits;
  for (const store::WaitRow& wait : model.waits)
    waits.emplace(wait.arrived - model.begin, std::max(wait.resumed, wait.arrived + 1) - model.begin);
  EXPECT_EQ(times["wait"], waits);
  const std::uint64_t at = static_cast<std::uint64_t>(model.calls.front().start - model.begin);
  EXPECT_EQ(times["call"], (std::multiset<std::pair<std::uint64_t, std::uint64_t>>{
                               {at, at + 100}, {at, at + 40}, {at + 40, at + 100}, {at + 100, at + 101}}));
  EXPECT_EQ(times["signal"].size(), model.signals.size());
  EXPECT_EQ(times["host_wait"].size(), model.host_waits.size());
  EXPECT_EQ(times["kernel"].size(), model.kernels.size());
  for (const ReadSlice& slice : read.slices) {
    EXPECT_GT(slice.arguments, 0u);
    EXPECT_FALSE(slice.name.empty());
    EXPECT_FALSE(read.tracks.at(slice.track).empty());
    EXPECT_TRUE(read.tracks.contains(read.parents.at(slice.track)));
  }
}

TEST(PerfettoTrace, EachFlowLeavesASignalAndReachesItsWaitLater) {
  const TraceModel model = traced_program();
  const Read read = read_export(model);
  std::map<std::uint64_t, const ReadSlice*> from, to;
  for (const ReadSlice& slice : read.slices) {
    for (const std::uint64_t flow : slice.flows) EXPECT_TRUE(from.emplace(flow, &slice).second);
    for (const std::uint64_t flow : slice.ending_flows) EXPECT_TRUE(to.emplace(flow, &slice).second);
  }
  const auto edges = match(model).edges;
  ASSERT_FALSE(edges.empty());
  EXPECT_EQ(from.size(), edges.size());
  ASSERT_EQ(to.size(), edges.size());
  for (const auto& [flow, signal] : from) {
    EXPECT_EQ(signal->category, "signal");
    EXPECT_NE(to.at(flow)->category.find("wait"), std::string::npos);
    EXPECT_LE(signal->begin, to.at(flow)->end);
  }
}

TEST(PerfettoTrace, ChangesOfModeAreInstantsAndTheUseOfCpusIsCounted) {
  const TraceModel model = traced_program();
  const Read read = read_export(model);
  ASSERT_EQ(read.instants.size(), model.interventions.size());
  EXPECT_EQ(read.instants.front(), "poll to park");
  ASSERT_EQ(read.counters.size(), 2u);
  std::vector<std::string> names;
  for (const std::uint64_t each : read.counters) names.push_back(read.tracks.at(each));
  EXPECT_EQ(names, (std::vector<std::string>{"thread 7 feeder: CPU", "thread 7 feeder: ready, without a CPU"}));
  ASSERT_EQ(read.counts.size(), 1u) << "nobody measured how long the thread was ready";
  EXPECT_EQ(read.counts.begin()->second, (std::vector<double>{25, 25, 0, 25, 0})) << "between and behind samples: 0";
}

TEST(PerfettoTrace, AnyNameIsUtf8) {
  TraceModel model = traced_program();
  model.sites.front().name = "\xff\x1b[31m\xc2\x9b";
  model.thread_samples.front().name = "\xff";
  EXPECT_EQ(read_export(model).slices.size(), read_export(traced_program()).slices.size());
}

TEST(PerfettoTrace, AnEmptyTraceHasNoSlices) {
  TraceModel model = synthetic::empty_program();
  settle(model);
  EXPECT_TRUE(read_export(model).slices.empty());
}

}  // namespace
}  // namespace wicprof::reports
