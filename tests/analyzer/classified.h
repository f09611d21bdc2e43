// Shared by the tests of the classification.
#pragma once

#include "analyzer/communication/classify.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

inline Classification classified(const TraceModel& model) { return classify(model, match(model)); }

}  // namespace wicprof::analyzer
