// The window uses the colours of all pictures: analyzer/words/colours.h.
#pragma once

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
using analyzer::Looks;
using analyzer::State;
using analyzer::StateLook;
using analyzer::text_on;
using analyzer::Theme;

/// The state whose colour represents a mode.
constexpr State state_of_mode(Mode mode) { return mode == Mode::park ? State::parked : State::polling; }

}  // namespace wicprof::gui
