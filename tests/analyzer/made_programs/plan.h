// What a made program sends: its parties, its messages in the order in which the program's source has them, and its
// class. The class follows from the messages by the definitions of the WIC paper, with the decisions of
// docs/truth.md where the definitions leave a choice. Nothing here knows the analyzer's rules.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "tests/analyzer/made_programs/kinds.h"

namespace wicprof::analyzer::made {

/// As in wic::Payload; 0 bytes: not announced.
struct Announcement {
  std::uint64_t offset = 0, span = 0;
  std::uint32_t bytes = 0, pieces = 0;
  bool regular = true;
};

/// One message. All its parts go the same way, each from a block of its own with a word of its own.
struct Transfer {
  std::uint32_t edge = 0;  ///< index into Plan::edges
  bool back = false;       ///< from the edge's second party to its first
  std::uint32_t iteration = 0;
  std::uint32_t number_in_iteration = 0, of_iteration = 0;  ///< among those of its edge and direction
  std::uint32_t lane = 0;                                   ///< the block that sends, of several that take turns
  /// Consecutive messages of one turn are all sent before the first of them is awaited. 0: a turn of its own.
  std::uint32_t turn = 0;
  bool joins = false;  ///< no signal of its own: the receiver waits for that of the message before
  Announcement announcement;
};

struct Plan {
  Kind kind;
  std::uint32_t parties = 2;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::uint32_t iterations = 0;
  std::uint32_t parts = 1;
  std::vector<Transfer> transfers;
  Model model = Model::unknown;  ///< unknown: none of the four definitions holds
  Pattern pattern = Pattern::unknown;
  bool pattern_shown = false;  ///< whether any signal says where in the program's data its message lies
};

Plan make_plan(const Kind& kind, Random& random);

}  // namespace wicprof::analyzer::made
