#include <algorithm>
#include <span>
#include <utility>

#include "common/host_team.h"
#include "common/ranks.h"
#include "field/apps.h"
#include "field/engine/decode.h"
#include "field/engine/tokenizers.h"
#include "wic/launch.h"

namespace sample {
namespace engine {
namespace {

using wic::Result;

constexpr std::uint32_t kMaxWeightsMib = 512;  // a step that reads more reads them several times

/// A scheduler thread with its batch.
struct Engine {
  std::uint32_t number = 0, step = 0;
  wic::SiteId site = 0;
  wic::Array<Quad> weights;
  wic::Array<Slot> slots;
  wic::Array<std::uint32_t> counters, done;
  std::unique_ptr<wic::Stream> stream;
  double tokens = 0;
  std::vector<double> between_tokens_ns;
  Result<> outcome = wic::ok();
};

class Engines final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Engines> app(new Engines(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }
  ~Engines() override {
    for (const Engine& engine : engines_) {
      if (engine.stream != nullptr) static_cast<void>(engine.stream->synchronize());
    }
  }

  Result<> step(std::uint32_t) override {
    team_.run([this](std::uint32_t member, std::uint32_t) {
      const CpuLimit limit(cpus_);
      Engine& engine = engines_[member];
      for (std::uint32_t s = 0; s < steps_ && engine.outcome; ++s) {
        static_cast<void>(engine.outcome = decode(engine));  // nvcc: the class is nodiscard
      }
    });
    for (const Engine& engine : engines_) {
      if (!engine.outcome) return engine.outcome;
    }
    return wic::ok();
  }
  Result<> check() override { return wic::ok(); }  // each engine checks each token
  Traffic traffic() const override {
    const double steps = static_cast<double>(engines_.size()) * steps_;
    return {steps, steps * slots_ * sizeof(Slot)};
  }
  Felt take_felt() override {
    Felt felt;
    felt.unit = "tokens";
    for (Engine& engine : engines_) {
      felt.work += engine.tokens;
      felt.latency_ns.insert(felt.latency_ns.end(), engine.between_tokens_ns.begin(), engine.between_tokens_ns.end());
      engine.tokens = 0;
      engine.between_tokens_ns.clear();
    }
    return felt;
  }
  std::string shape() const override {
    return std::to_string(engines_.size()) + " engines of " + std::to_string(slots_) + " sequences, " +
           std::to_string(mib_) + " MiB of weights per step, " + std::to_string(steps_) + " steps each";
  }

 private:
  Engines(wic::Runtime& runtime, const AppOptions& options)
      : runtime_(runtime), timeout_ns_(options.timeout_ns), team_(options.number("engines")) {}
  Result<> open(const AppOptions& options);
  Result<> open_weights(Engine& engine);
  Result<> open_engine(Engine& engine, const AppOptions& options);
  Result<> decode(Engine& engine);
  Result<std::uint32_t> admit(Engine& engine);
  Result<> take_tokens(Engine& engine);

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t slots_ = 0, steps_ = 0, length_ = 0, cpus_ = 0, mib_ = 0, passes_ = 1, total_ = 0;
  wic::LaunchShape shape_;
  HostTeam<> team_;
  std::vector<Engine> engines_;
  std::deque<Inbox> inboxes_;
  std::unique_ptr<Tokenizers> tokenizers_;  // after what its threads use
};

Result<> Engines::open(const AppOptions& options) {
  slots_ = options.number("slots") != 0 ? options.number("slots") : options.on_gpu ? 32 : 4;
  steps_ = options.number("steps") != 0 ? options.number("steps") : options.on_gpu ? 10 : 3;
  length_ = options.number("length");
  cpus_ = options.number("cpus");
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  const std::uint32_t sms = runtime_.device(0).properties().sm_count;
  shape_ = {options.blocks != 0 ? options.blocks : options.on_gpu ? 2 * sms : 2, *threads, 2 * sizeof(std::uint32_t)};
  mib_ = options.size != 0 ? options.size : options.on_gpu ? 16 * kMaxWeightsMib : 1;
  passes_ = (mib_ + kMaxWeightsMib - 1) / kMaxWeightsMib;
  mib_ = mib_ / passes_ * passes_;
  engines_.resize(options.number("engines"));
  inboxes_.resize(engines_.size());
  for (std::uint32_t e = 0; e < engines_.size(); ++e) {
    engines_[e].number = e;
    if (auto r = open_engine(engines_[e], options); !r) return r;
    if (auto r = open_weights(engines_[e]); !r) return r;
  }
  tokenizers_ = std::make_unique<Tokenizers>(options.number("tokenizers"), options.number("prompt"), cpus_, inboxes_);
  // Twice as many users as places: a finished sequence finds the next prompt ready, if the tokenizers keep up.
  for (std::uint32_t i = 0; i < 2 * slots_; ++i) {
    for (std::uint32_t e = 0; e < engines_.size(); ++e) tokenizers_->submit(e);
  }
  return wic::ok();
}

// Each engine has a model of its own, as engines in processes of their own have.
Result<> Engines::open_weights(Engine& engine) {
  wic::Device& device = runtime_.device(0);
  const std::uint32_t held = mib_ / passes_;
  const auto count = static_cast<std::uint32_t>((std::size_t{held} << 20) / sizeof(Quad));
  auto weights = wic::Array<Quad>::make(device, count, wic::Memory::device);
  if (!weights) return weights.error();
  engine.weights = *std::move(weights);
  const std::uint64_t words = std::uint64_t{count} * 4;
  total_ = static_cast<std::uint32_t>(words * (words - 1) / 2 * passes_);
  if (auto r = wic::launch(*engine.stream, shape_, FillWeights{engine.weights.data(), count}); !r) return r;
  return engine.stream->synchronize();
}

Result<> Engines::open_engine(Engine& engine, const AppOptions& options) {
  wic::Device& device = runtime_.device(0);
  wic::SiteSpec spec;
  spec.name = options.prefix + "engine" + std::to_string(engine.number) + ".step";
  spec.word_memory = wic::WordMemory::pinned_host;
  spec.releasing = wic::kFirstDeviceEnd;
  spec.waiting = wic::kHostEnd;
  const auto site = runtime_.add_site(spec);
  if (!site) return site.error();
  auto slots = wic::Array<Slot>::make(device, slots_, wic::Memory::pinned_host);
  if (!slots) return slots.error();
  auto counters = wic::Array<std::uint32_t>::make(device, 64, wic::Memory::device);
  if (!counters) return counters.error();
  auto done = wic::Array<std::uint32_t>::make(device, 32, wic::Memory::pinned_host);
  if (!done) return done.error();
  auto stream = device.make_stream();
  if (!stream) return stream.error();
  engine.site = *site;
  engine.slots = *std::move(slots);
  engine.counters = *std::move(counters);
  engine.done = *std::move(done);
  engine.stream = *std::move(stream);
  return wic::ok();
}

// One step: fills free places, launches, waits for the tokens, and hands them out.
Result<> Engines::decode(Engine& engine) {
  const wic::TimeNs begin = wic::now_ns();
  const auto admitted = admit(engine);
  if (!admitted) return admitted.error();
  Decode kernel{};
  kernel.site = runtime_.site(engine.site, timeout_ns_);
  kernel.step = ++engine.step;
  kernel.weights = engine.weights.data();
  kernel.count = static_cast<std::uint32_t>(engine.weights.size());
  kernel.passes = passes_;
  kernel.slots = engine.slots.data();
  kernel.slot_count = slots_;
  kernel.totals = engine.counters.data();
  kernel.arrived = engine.counters.data() + 32;
  kernel.done = engine.done.data();
  if (auto r = wic::launch(*engine.stream, shape_, kernel); !r) return r;
  const wic::WaitResult made = runtime_.wait_until(engine.site, engine.step, engine.done.data(),
                                                   wic::AtLeast{engine.step}, static_cast<wic::TimeNs>(timeout_ns_));
  if (!made) {
    return wic::failed("a deadline passed: engine " + std::to_string(engine.number) + " waited for step " +
                       std::to_string(engine.step));
  }
  engine.tokens += *admitted;
  if (auto r = take_tokens(engine); !r) return r;
  engine.between_tokens_ns.push_back(static_cast<double>(wic::now_ns() - begin));
  return wic::ok();
}

// Returns the number of active places. Sleeps only where there is nothing to do at all.
Result<std::uint32_t> Engines::admit(Engine& engine) {
  std::uint32_t active = 0;
  for (const Slot& slot : std::span(engine.slots.data(), slots_)) active += slot.active;
  for (Slot& slot : std::span(engine.slots.data(), slots_)) {
    if (slot.active != 0) continue;
    std::uint32_t key = 0;
    if (!inboxes_[engine.number].take(key, active == 0 ? timeout_ns_ : 0)) break;
    slot = {1, key, 0, 0};
    ++active;
  }
  if (active == 0) return wic::failed("a deadline passed: no tokenizer has made a prompt ready");
  return active;
}

Result<> Engines::take_tokens(Engine& engine) {
  for (Slot& slot : std::span(engine.slots.data(), slots_)) {
    if (slot.active == 0) continue;
    const std::uint32_t expected = next_token(slot.key, slot.position, total_);
    if (slot.token != expected) {
      return wic::failed("engine " + std::to_string(engine.number) + " made token " + std::to_string(slot.token) +
                         " at position " + std::to_string(slot.position) + ", should be " + std::to_string(expected));
    }
    ++slot.position;
    if (slot.position < length_ / 2 + slot.key % length_) continue;
    slot.active = 0;
    tokenizers_->submit(engine.number);
  }
  return wic::ok();
}

}  // namespace
}  // namespace engine

const AppInfo& engine_info() {
  static const AppInfo info{
      "field_engine",
      "serving engines: schedulers wait for each step on the GPU, tokenizers prepare prompts",
      "MiB of weights that a step reads (default: 1, on a GPU 8192)",
      "simt:1",
      1,
      {{"engines", "engines, with a scheduler thread each", "2", 1, 64},
       {"tokenizers", "threads that turn prompts into tokens", "2", 1, 64},
       {"slots", "sequences in a batch; 0 = 4, on a GPU 32", "0", 0, engine::kMaxSlots},
       {"length", "mean tokens per sequence", "16", 2, 1u << 16},
       {"prompt", "bytes per prompt", "16000", 1, 1u << 24},
       {"steps", "steps of each engine per step of the program; 0 = 3, on a GPU 10", "0", 0, 1u << 16},
       {"cpus", "CPUs that schedulers and tokenizers share; 0 = all", "0", 0, 1'024}},
      &engine::Engines::make,
      {},
      nullptr,
      "schedulers wait on host threads, which poll in one way",
      kFieldNoRival};
  return info;
}

}  // namespace sample
