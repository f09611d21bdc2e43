// The window uses the colours of all pictures: analyzer/words/colours.h.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "analyzer/words/colours.h"
#include "protocol/strategy.h"

namespace wicprof::gui {

using analyzer::Colour;
using analyzer::index_of;
using analyzer::kDarkTheme;
using analyzer::kLightTheme;
using analyzer::kSampledPolling;
using analyzer::kSeriesColours;
using analyzer::kStateLooks;
using analyzer::kStates;
using analyzer::kWarpStates;
using analyzer::look_of;
using analyzer::State;
using analyzer::StateLook;
using analyzer::text_on;
using analyzer::Theme;

/// What pictures colour, and legends name: states, and polling that samples found.
class Looks {
 public:
  constexpr Looks() = default;
  constexpr Looks(std::initializer_list<State> states) {
    for (const State state : states) add(state);
  }
  constexpr void add(State state) { bits_ |= 1u << index_of(state); }
  constexpr void add_sampled_polling() { bits_ |= 1u << kStates; }
  constexpr void add(Looks other) { bits_ |= other.bits_; }
  /// Calls `visit(look, hatched)` for each, in the order of the table.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < kStates; ++i) {
      if ((bits_ >> i & 1) != 0) visit(kStateLooks[i], false);
      if (i == index_of(State::polling) && (bits_ >> kStates & 1) != 0) visit(kSampledPolling, true);
    }
  }

 private:
  std::uint32_t bits_ = 0;
};

/// The state whose colour represents a mode.
constexpr State state_of_mode(Mode mode) { return mode == Mode::park ? State::parked : State::polling; }

}  // namespace wicprof::gui
