#include "g_bfs/app.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/waiting_blocks.h"
#include "g_bfs/rank.h"
#include "g_bfs/reference.h"

namespace sample {
namespace bfs {
namespace {

using wic::Result;

constexpr std::uint64_t kSeed = 0x626673;
/// Levels are queued without waiting for the host: first as many as the previous search had, then more if needed.
constexpr std::uint32_t kFirstLevels = 6, kMoreLevels = 2, kMaxLevels = 64;

class BreadthFirst final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options);

  Result<> step(std::uint32_t step) override;
  Result<> check() override;
  Traffic traffic() const override;
  std::string shape() const override;

 private:
  BreadthFirst(wic::Runtime& runtime, std::uint64_t timeout_ns) : runtime_(runtime), timeout_ns_(timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> read_graph(const AppOptions& options);
  Result<Shapes> choose_shapes(const AppOptions& options);
  Result<> open_lanes(const AppOptions& options);
  Result<> open_rank(std::uint32_t number, const AppOptions& options, const Shapes& shapes);
  Result<> begin(std::uint32_t step, Vertex source);
  Result<> run_levels(std::uint32_t from, std::uint32_t count);

  std::uint32_t devices() const { return split_.devices; }
  Lane& lane(std::uint32_t from, std::uint32_t to) const { return *lanes_[from * devices() + to]; }

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  Graph graph_;
  Split split_;
  std::uint32_t chunk_ = 0;
  Shapes shapes_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // index: from * devices + to; null for from == to
  std::vector<Rank> ranks_;
  std::string name_;
  std::vector<RankQueue> queues_;  // one per rank; destroying a queue waits for its work
  std::vector<Vertex> sources_;

  std::uint32_t searches_ = 0;
  std::uint32_t search_ = 1;  // mark of the next search's source
  std::uint32_t last_search_ = 0;
  Vertex last_source_ = 0;
  std::uint32_t levels_ = kFirstLevels;  // levels of the last search
  struct Depth {
    Vertex source;
    std::uint32_t depth;
  };
  std::vector<Depth> depths_;  // of all searches
};

Result<std::unique_ptr<App>> BreadthFirst::make(wic::Runtime& runtime, const AppOptions& options) {
  std::unique_ptr<BreadthFirst> app(new BreadthFirst(runtime, options.timeout_ns));
  if (Result<> opened = app->open(options); !opened) return opened.error();
  return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
}

Result<> BreadthFirst::open(const AppOptions& options) {
  if (runtime_.device_count() > kMaxDevices) {
    return wic::bad_input("g_bfs runs on " + std::to_string(kMaxDevices) + " devices at most");
  }
  if (Result<> read = read_graph(options); !read) return read;
  split_ = {graph_.vertices(), static_cast<std::uint32_t>(runtime_.device_count())};
  sources_ = draw_sources(graph_, options.number("sources"), kSeed);
  chunk_ = options.number("chunk") != 0 ? options.number("chunk") : options.on_gpu ? 1024 : 32;
  const auto shapes = choose_shapes(options);
  if (!shapes) return shapes.error();
  shapes_ = *shapes;
  name_ = options.prefix + "bfs";
  if (Result<> opened = open_lanes(options); !opened) return opened;
  queues_.reserve(devices());  // ranks keep references to their queues
  for (std::uint32_t d = 0; d < devices(); ++d) {
    if (Result<> opened = open_rank(d, options, shapes_); !opened) return opened;
  }
  return wic::ok();
}

Result<> BreadthFirst::read_graph(const AppOptions& options) {
  if (const std::string& file = options.more.at("graph"); !file.empty()) {
    auto graph = read_matrix_market(file);
    if (!graph) return graph.error();
    graph_ = *std::move(graph);
  } else {
    const std::uint32_t vertices = options.size != 0 ? options.size : options.on_gpu ? 1u << 20 : 512;
    const auto scale = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::bit_width(vertices - 1)));
    graph_ = rmat(scale, options.number("edges"), kSeed, options.number("shuffle") != 0);
  }
  if (graph_.to.size() >> 32 != 0) return wic::bad_input("g_bfs takes graphs of less than 2^31 edges");
  return wic::ok();
}

// By default half of the blocks wait; the others only follow edges.
Result<Shapes> BreadthFirst::choose_shapes(const AppOptions& options) {
  Shapes shapes;
  shapes.threads = options.block_size != 0 ? options.block_size : options.on_gpu ? 256 : 32;
  shapes.blocks = 1;
  shapes.agents = options.rival == Rival::effshare;
  std::uint32_t max_blocks = ~0u;
  for (std::uint32_t d = 0; d < devices(); ++d) {
    const auto fits =
        shapes.agents
            ? max_waiting_blocks(runtime_, runtime_.device(d), shapes.level(), wic::kernel_ref(LevelWithAgents{}))
            : max_waiting_blocks(runtime_, runtime_.device(d), shapes.level(), wic::kernel_ref(Level{}));
    if (!fits) return fits.error();
    max_blocks = std::min(max_blocks, *fits);
  }
  shapes.blocks = std::min(max_blocks, options.blocks != 0 ? options.blocks : options.on_gpu ? max_blocks : 4);
  const std::uint32_t waiting = options.number("waiting");
  shapes.waiting = std::min(shapes.blocks, waiting != 0 ? waiting : (shapes.blocks + 1) / 2);
  if (shapes.agents && shapes.waiting == shapes.blocks) {
    return wic::bad_input("--rival effshare needs a block that does not wait: raise --blocks or lower --waiting");
  }
  return shapes;
}

Result<> BreadthFirst::open_lanes(const AppOptions& options) {
  lanes_.resize(std::size_t{devices()} * devices());
  for (std::uint32_t from = 0; from < devices(); ++from) {
    for (std::uint32_t to = 0; to < devices(); ++to) {
      if (from == to) continue;
      LaneSpec spec;
      spec.name = lane_name(name_, from, to);
      spec.producer = wic::End::on(static_cast<int>(from));
      spec.consumer = wic::End::on(static_cast<int>(to));
      spec.tags = chunks_for(split_.count(to), chunk_);
      spec.max_bytes = static_cast<std::uint32_t>(sizeof(ChunkHead) + chunk_ * sizeof(Reached));
      spec.way = options.way;
      spec.rival = options.rival;
      auto lane = Lane::make(runtime_, spec);
      if (!lane) return lane.error();
      lanes_[from * devices() + to] = *std::move(lane);
    }
  }
  return wic::ok();
}

Result<> BreadthFirst::open_rank(std::uint32_t number, const AppOptions& options, const Shapes& shapes) {
  wic::SiteSpec site;
  site.name = name_ + ".start" + std::to_string(number);
  site.word_memory = wic::WordMemory::device;
  site.pollers = wic::Pollers::leader;
  site.shared_word = true;
  site.producer = runtime_.device(number).properties().id;
  if (options.way == Way::naive) site.own = wic::StrategyId::naive;
  const auto start = runtime_.add_site(site);
  if (!start) return start.error();
  auto queue = RankQueue::make(runtime_.device(number));
  if (!queue) return queue.error();
  queues_.push_back(*std::move(queue));
  auto rank = Rank::make(runtime_, queues_.back(), graph_, {number, split_, chunk_, shapes, *start, timeout_ns_});
  if (!rank) return rank.error();
  ranks_.push_back(*std::move(rank));
  return wic::ok();
}

// A search keeps the way of waiting that it starts with.
Result<> BreadthFirst::begin(std::uint32_t step, Vertex source) {
  for (std::uint32_t d = 0; d < devices(); ++d) {
    Peers peers{};
    for (std::uint32_t other = 0; other < devices(); ++other) {
      if (other == d) continue;
      const Lane::Turn out = lane(d, other).turn(step), in = lane(other, d).turn(step);
      peers.senders[other] = out.sender();
      if (shapes_.agents) {
        peers.ready[other] = out.agents_receiver();
        peers.out[other] = out.agents_sender();
      }
      peers.way_out[other] = out.way_index;
      peers.receivers[other] = in.receiver();
      peers.way_in[other] = in.way_index;
    }
    if (Result<> begun = ranks_[d].begin(peers, search_, source); !begun) return begun;
  }
  return wic::ok();
}

Result<> BreadthFirst::run_levels(std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t level = from; level < from + count; ++level) {
    for (Rank& rank : ranks_) {
      if (Result<> queued = rank.queue_level({search_, search_ + level}); !queued) return queued;
    }
  }
  for (Rank& rank : ranks_) {
    if (Result<> queued = rank.queue_read(); !queued) return queued;
  }
  return finish_all(queues_, name_);
}

Result<> BreadthFirst::step(std::uint32_t step) {
  const Vertex source = sources_[(step - 1) % sources_.size()];
  if (Result<> begun = begin(step, source); !begun) return begun;
  std::uint32_t queued = 0;
  for (std::uint32_t more = levels_; queued == 0 || ranks_[0].state().senders != 0;) {
    more = std::min(more, kMaxLevels);
    if (Result<> ran = run_levels(queued + 1, more); !ran) return ran;
    queued += more;
    more = std::max(kMoreLevels, queued / 2);
  }
  std::uint32_t deepest = search_;
  for (const Rank& rank : ranks_) deepest = std::max({deepest, rank.state().found[0], rank.state().found[1]});
  depths_.push_back({source, deepest - search_});
  levels_ = ranks_[0].state().levels;
  last_search_ = search_;
  last_source_ = source;
  search_ += levels_;  // the last level had an empty frontier, so its mark is unused
  ++searches_;
  return wic::ok();
}

Result<> BreadthFirst::check() {
  if (searches_ == 0) return wic::ok();
  std::vector<std::uint32_t> distance, parent;
  for (Rank& rank : ranks_) {
    const auto marks = rank.marks();
    if (!marks) return marks.error();
    const auto parents = rank.parents();
    if (!parents) return parents.error();
    for (const std::uint32_t mark : *marks) distance.push_back(mark >= last_search_ ? mark - last_search_ : kUnreached);
    parent.insert(parent.end(), parents->begin(), parents->end());
  }
  std::map<Vertex, std::uint32_t> expected;
  const Search last = search(graph_, last_source_);
  expected[last_source_] = last.depth;
  for (const Depth& found : depths_) {
    const auto [known, is_new] = expected.try_emplace(found.source, 0);
    if (is_new) known->second = search(graph_, found.source).depth;
    if (found.depth == known->second) continue;
    return wic::failed("a search from " + std::to_string(found.source) + " reached depth " +
                       std::to_string(found.depth) + ", not " + std::to_string(known->second));
  }
  return check_search(graph_, last_source_, last, distance, parent);
}

Traffic BreadthFirst::traffic() const {
  if (searches_ == 0) return {};
  double messages = 0, bytes = 0;
  for (const Rank& rank : ranks_) {
    const State& state = rank.state();
    for (std::uint32_t d = 0; d < devices(); ++d) messages += state.sent[0][d] + state.sent[1][d];
    bytes += static_cast<double>(state.vertices_sent) * sizeof(Reached);
  }
  bytes += messages * sizeof(ChunkHead);
  return {messages / searches_, bytes / searches_};
}

std::string BreadthFirst::shape() const {
  return std::to_string(graph_.vertices()) + " vertices, " + std::to_string(graph_.to.size() / 2) + " edges, " +
         std::to_string(levels_) + " levels in the last search, " + std::to_string(shapes_.waiting) + " of " +
         std::to_string(shapes_.blocks) + " blocks of " + std::to_string(shapes_.threads) + " wait";
}

}  // namespace
}  // namespace bfs

const AppInfo& g_bfs_info() {
  static const AppInfo info{
      "g_bfs",
      "breadth-first search in a graph whose vertices are spread over several devices",
      "vertices, rounded up to a power of two (default: 512; GPUs: 2^20)",
      "simt:2",
      2,
      {{"edges", "edges drawn per vertex", "16", 1, 256},
       {"graph", "Matrix Market file to use instead of a generated graph", ""},
       {"shuffle", "1: number vertices at random, as Graph500 does; 0: high-degree vertices first", "1", 0, 1},
       {"sources", "search sources; steps cycle through them", "8", 1, 4096},
       {"chunk", "maximum vertices per message; 0 = 32, on GPUs 1024", "0", 0, 1u << 20},
       {"waiting", "blocks that send and receive (the others only search); 0 = half", "0", 0, 1u << 20}},
      &bfs::BreadthFirst::make,
      {{Rival::gps,
        "not made for this program, which would have to store each found vertex into the other device's marks"}}};
  return info;
}

}  // namespace sample
