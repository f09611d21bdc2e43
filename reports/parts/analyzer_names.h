// The names of the analyzer, without their prefix: a report renders the analyzer's types and little else.
#pragma once

namespace wicprof::analyzer {}

namespace wicprof::reports {
using namespace analyzer;
}
