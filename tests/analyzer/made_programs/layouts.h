// Where the messages of a made program lie in its data.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/analyzer/made_programs/plan.h"

namespace wicprof::analyzer::made {

/// The access pattern of a layout, by the applications that the WIC paper gives for it.
Pattern pattern_of(Layout layout);

class Layouts {
 public:
  /// `plan` has its kind, parties, edges and iterations.
  Layouts(const Plan& plan, Random& random);

  /// What the signal of `transfer` announces. Transfers in the order of the program.
  Announcement next(const Transfer& transfer);

 private:
  Announcement in_data(const Transfer& transfer, std::uint32_t message);
  std::uint64_t tile(const Transfer& transfer, std::uint32_t message);

  const Plan& plan_;
  Random& random_;
  std::uint32_t unit_ = 0;        ///< bytes
  std::uint32_t tiles_ = 0;       ///< of the stream, which then begins again; 0: it never does
  std::uint32_t most_ = 0;        ///< pieces of a border
  std::uint32_t part_ = 0;        ///< units of a party's part of the data
  std::uint32_t slots_ = 0;       ///< of the message buffer
  std::uint32_t rows_ = 0;        ///< of a matrix
  std::uint32_t blocks_ = 0;      ///< that exchange with partners, a power of two
  bool frames_in_parts_ = false;  ///< every iteration has enough messages to hand over a frame in parts
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> messages_;             ///< so far
  std::map<std::pair<std::uint32_t, bool>, std::vector<std::uint32_t>> window_;  ///< order of the next tiles
};

}  // namespace wicprof::analyzer::made
