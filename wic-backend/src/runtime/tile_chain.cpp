#include "wic/tile_chain.h"

#include <optional>
#include <utility>

namespace wic {

namespace {

std::string count_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

struct TileChain::State {
  // In device memory, each on a line of its own.
  struct alignas(128) QueueLine {
    std::uint64_t next;
  };
  struct alignas(128) FailedLine {
    std::uint32_t word;
  };
  // What was last found to fit the device; asking again would cost each launch some microseconds.
  struct Fitting {
    const void* gpu_entry;
    std::uint32_t threads, shared_bytes;
    bool operator==(const Fitting&) const = default;
  };

  Runtime& runtime;
  std::size_t device;
  SiteId site;
  std::uint64_t timeout_ns;
  std::vector<TileStageSpec> stages;
  std::vector<std::size_t> first_semaphore;  // per stage
  std::vector<Fitting> fitting;              // per stage
  Array<QueueLine> queues;
  Array<TileSemaphore> semaphores;
  Array<FailedLine> failed;
  // In host memory: zeros to reset from, and a copy of `failed`.
  Array<QueueLine> queue_zeros;
  Array<TileSemaphore> semaphore_zeros;
  Array<FailedLine> seen;
};

Result<TileChain> TileChain::make(Runtime& runtime, std::size_t device, SiteId site, std::uint64_t timeout_ns,
                                  std::vector<TileStageSpec> stages) {
  if (stages.empty()) return bad_input("a chain of tiles needs at least one stage");
  auto state = std::make_unique<State>(
      State{runtime, device, site, timeout_ns, std::move(stages), {}, {}, {}, {}, {}, {}, {}, {}});
  std::size_t semaphores = 0;
  for (const TileStageSpec& stage : state->stages) {
    if (stage.tiles == 0 || stage.blocks == 0) {
      return bad_input("stage " + stage.name + " has " + count_of(stage.tiles, "tile") + " and " +
                       count_of(stage.blocks, "block") + "; it needs at least one of each");
    }
    state->first_semaphore.push_back(semaphores);
    semaphores += stage.semaphores;
  }
  Device& memory = runtime.device(device);
  const auto allocate = [&memory]<class T>(Array<T>& array, std::size_t count, Memory where) -> Result<> {
    auto made = Array<T>::make(memory, count, where);
    if (!made) return made.error();
    array = *std::move(made);
    return ok();
  };
  const std::size_t count = state->stages.size();
  state->fitting.resize(count, {nullptr, 0, 0});  // no launch has 0 threads
  for (const Result<>& made :
       {allocate(state->queues, count, Memory::device), allocate(state->queue_zeros, count, Memory::pinned_host),
        allocate(state->semaphores, semaphores, Memory::device),
        allocate(state->semaphore_zeros, semaphores, Memory::pinned_host), allocate(state->failed, 1, Memory::device),
        allocate(state->seen, 2, Memory::pinned_host)}) {
    if (!made) return made.error();
  }
  return TileChain(std::move(state));
}

TileChain::TileChain(std::unique_ptr<State> state) : state_(std::move(state)) {}
TileChain::TileChain(TileChain&&) noexcept = default;
TileChain& TileChain::operator=(TileChain&&) noexcept = default;
TileChain::~TileChain() = default;

TileQueue TileChain::queue(std::size_t stage) const {
  const TileStageSpec& spec = state_->stages.at(stage);
  return {&state_->queues.data()[stage].next, failed(), spec.tiles, spec.blocks};
}

TileSemaphore* TileChain::semaphores(std::size_t stage) const {
  return state_->semaphores.data() + state_->first_semaphore.at(stage);
}

std::uint32_t* TileChain::failed() const { return &state_->failed.data()->word; }

Site TileChain::site() const { return state_->runtime.site(state_->site, state_->timeout_ns, state_->device); }

Result<> TileChain::launch(Stream& stream, TileStart start, Span<const PlannedLaunch> kernels) {
  if (kernels.size() != state_->stages.size()) {
    return bad_input("a chain of " + count_of(state_->stages.size(), "stage") + " was given " +
                     count_of(kernels.size(), "kernel"));
  }
  if (state_->seen[0].word != 0) {
    return wic::failed("a tile of an earlier run waited too long; call TileChain::reset() before the next launch");
  }
  Device& device = state_->runtime.device(state_->device);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const TileStageSpec& stage = state_->stages[i];
    const PlannedLaunch& kernel = kernels[i];
    if (kernel.shape.blocks != stage.blocks) {
      return bad_input("stage " + stage.name + " was made for " + count_of(stage.blocks, "block") + ", not for " +
                       std::to_string(kernel.shape.blocks));
    }
    const State::Fitting asked{kernel.kernel.gpu_entry, kernel.shape.threads, kernel.shape.shared_bytes};
    if (asked == state_->fitting[i]) continue;
    const Result<std::uint32_t> fitting = device.resident_blocks(kernel.shape, kernel.kernel);
    if (!fitting) return fitting.error();
    if (*fitting == 0) {
      return bad_input(device.properties().name + " cannot hold one block of stage " + stage.name + ", of " +
                       std::to_string(kernel.shape.threads) + " threads and " +
                       std::to_string(kernel.shape.shared_bytes) + " bytes of shared memory");
    }
    state_->fitting[i] = asked;
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    LaunchShape shape = kernels[i].shape;
    shape.dependent = start == TileStart::dependent && i > 0;
    if (Result<> launched = stream.launch(shape, kernels[i].kernel); !launched) return launched;
  }
  return ok();
}

Result<> TileChain::finish(Stream& stream) {
  if (auto r = stream.copy(state_->seen.data(), state_->failed.data(), sizeof(State::FailedLine)); !r) return r;
  if (auto r = stream.synchronize(); !r) return r;
  if (state_->seen[0].word == 0) return ok();
  return wic::failed("a tile waited longer than its deadline of " + std::to_string(state_->timeout_ns / 1'000'000) +
                     " ms for semaphore " + std::to_string(state_->seen[0].word - 1) +
                     " of the stage before it: launch the stages in order, and let no tile wait for a later one");
}

Result<> TileChain::reset(Stream& stream) {
  if (auto r = stream.copy(state_->queues.data(), state_->queue_zeros.data(), state_->queues.bytes()); !r) return r;
  if (auto r = stream.copy(state_->semaphores.data(), state_->semaphore_zeros.data(), state_->semaphores.bytes()); !r) {
    return r;
  }
  if (auto r = stream.copy(state_->failed.data(), &state_->seen[1], sizeof(State::FailedLine)); !r) return r;
  if (auto r = stream.synchronize(); !r) return r;
  state_->seen[0].word = 0;
  return ok();
}

std::string_view name_of(TileStart start) { return start == TileStart::stream_order ? "stream_order" : "dependent"; }

}  // namespace wic
