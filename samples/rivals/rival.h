// The rivals of the WIC paper's figure 17, re-made at application level: other ways to move a message. Each keeps its
// ends' way of waiting, polling or parked; README.md says what each keeps of its original and what it cannot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sample {

enum class Rival : std::uint8_t { none, nblocking, demandcpy, effshare, gps, finepack };

struct RivalInfo {
  Rival rival;
  const char* name;
  bool between_gpus;                     ///< false: between the CPU and a GPU
  const char* refused_by_all = nullptr;  ///< why no application runs with it
};

inline constexpr std::array kRivals{
    RivalInfo{Rival::nblocking, "nblocking", false},
    RivalInfo{Rival::demandcpy, "demandcpy", false},
    RivalInfo{Rival::effshare, "effshare", true},
    RivalInfo{Rival::gps, "gps", true},
    RivalInfo{Rival::finepack, "finepack", true,
              "it packs stores of 4 to 32 bytes, and the applications send whole tiles, pieces and lists, which are "
              "packed already: use --wait alone"},
};

constexpr const RivalInfo& rival_info(Rival rival) {
  std::size_t i = 0;
  while (kRivals[i].rival != rival) ++i;
  return kRivals[i];
}

/// Blocks of a rival's own that stay on a GPU beside those of the application, for each outgoing lane. Not calibrated.
inline constexpr std::uint32_t kAgentBlocks = 16;
/// The same for a device with so many outgoing lanes; on the CPU device one block for each.
constexpr std::uint32_t agent_blocks(Rival rival, bool on_gpu, std::uint32_t lanes) {
  return rival == Rival::effshare ? lanes * (on_gpu ? kAgentBlocks : 1) : 0;
}

/// Why an application does not run with a rival that its kind of ends could have.
struct RivalRefusal {
  Rival rival;
  const char* reason;
};

}  // namespace sample
