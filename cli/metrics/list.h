// The metrics of a run: list.cpp has the one table of them, which all formats show.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/metrics/facts.h"

namespace wicprof::cli {

struct MetricSample {
  std::uint64_t value = 0;
  std::uint64_t parts = 1;  ///< of the metric's unit that the value counts: kSecond for nanoseconds
  /// Names, and values that live as long as the facts.
  std::vector<std::pair<std::string_view, std::string_view>> labels;
};
using MetricSamples = std::vector<MetricSample>;

enum class MetricType { counter, gauge, info };

/// Names and units follow OpenTelemetry's conventions.
struct Metric {
  MetricType type;
  std::string_view name;  ///< with dots, and without the unit
  std::string_view unit;  ///< in UCUM: s, By, or what is counted in braces; empty: none
  std::string_view help;
  /// A fact that is not known has no sample.
  void (*get)(const MetricFacts& facts, MetricSamples& samples);

  MetricSamples samples(const MetricFacts& facts) const {
    MetricSamples taken;
    get(facts, taken);
    return taken;
  }
};

std::span<const Metric> metrics();

}  // namespace wicprof::cli
