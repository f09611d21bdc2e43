// The host's side of wic/tiles.h: the memory of a chain of kernels that wait for each other's tiles, and their launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wic/device.h"
#include "wic/launch.h"
#include "wic/runtime.h"
#include "wic/tiles.h"

namespace wic {

/// When a chain's kernels start.
enum class TileStart : std::uint8_t {
  stream_order,  ///< each when the one before it has ended: no tile ever waits
  dependent,     ///< each when all blocks of the one before it have started and released it, or ended
};

struct TileStageSpec {
  std::string name;              ///< for messages
  std::uint32_t tiles = 0;       ///< of the kernel
  std::uint32_t blocks = 0;      ///< of each of its launches
  std::uint32_t semaphores = 0;  ///< Policy::semaphores() for its tiles; 0: nobody waits for them
};

/// One host thread at a time. The runtime outlives the chain; kernels that use the chain have ended before it ends.
class TileChain {
 public:
  /// `site`: where all tiles of the chain wait, for at most `timeout_ns` each. Errors: a stage without tiles or blocks;
  /// no memory.
  static Result<TileChain> make(Runtime& runtime, std::size_t device, SiteId site, std::uint64_t timeout_ns,
                                std::vector<TileStageSpec> stages);
  TileChain(TileChain&&) noexcept;
  TileChain& operator=(TileChain&&) noexcept;
  ~TileChain();

  /// For the stage's kernel.
  TileQueue queue(std::size_t stage) const;
  /// For the kernel of that stage, which posts its tiles, and for those that wait for them. Made per launch, as
  /// Runtime::site() is. The policy has as many semaphores as the stage's specification, or fewer.
  template <class Policy>
  TileSync<Policy> sync(std::size_t stage, const Policy& policy) const {
    return {policy, semaphores(stage), failed(), site()};
  }

  /// Launches one kernel per stage, in order. Each block of each kernel takes tiles from its queue until there are
  /// none. With TileStart::dependent, each block of a kernel with a successor calls Thread::release_dependents(),
  /// early. Errors: another number of kernels or blocks than the chain was made for; a kernel of which the device does
  /// not hold one block; a passed deadline in an earlier run, until reset(); errors of Stream::launch().
  Result<> launch(Stream& stream, TileStart start, Span<const PlannedLaunch> kernels);

  /// Waits for the stream. Error: a wait has passed its deadline since the last reset(); what the chain computed is
  /// then incomplete.
  Result<> finish(Stream& stream);
  /// After a passed deadline, or where a kernel of the chain did not run to its end: the next launch is the first run
  /// again. No kernel of the chain may be running.
  Result<> reset(Stream& stream);

 private:
  struct State;
  explicit TileChain(std::unique_ptr<State> state);
  TileSemaphore* semaphores(std::size_t stage) const;
  std::uint32_t* failed() const;
  Site site() const;

  std::unique_ptr<State> state_;
};

std::string_view name_of(TileStart start);

}  // namespace wic
