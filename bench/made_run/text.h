// What the blocks of bench/made_run do, from a made program's script. Holds no kernel: compiled as C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/made_run/blocks.h"

namespace bench {

struct MadeSite {
  std::string name;
  bool acknowledgement = false;                                 ///< declared as one
  std::optional<std::pair<std::uint32_t, std::uint32_t>> ends;  ///< the parties that release and wait, if one each
};

/// The blocks of one device.
struct MadePart {
  std::vector<BlockText> blocks;
  std::vector<BlockAction> actions;
};

struct MadeText {
  std::vector<MadeSite> sites;  ///< BlockAction::site counts from 1
  std::vector<MadePart> parts;
  std::size_t words = 0;
  std::uint32_t iterations = 0;  ///< the numbers of one run of the script
  bool names_wanted = true, host_words = false;
  std::string description;  ///< JSON: kind, half, model, pattern

  std::size_t devices() const { return parts.size(); }
};

/// Nothing if the program has a part for the CPU, or parties that one GPU cannot play.
std::optional<MadeText> made_text(std::uint64_t seed);

}  // namespace bench
