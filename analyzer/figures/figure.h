// A figure of the WIC paper (USENIX ATC 2025) about any program: a table, and how to draw it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/waits/wait_kernels.h"
#include "analyzer/waits/wait_model.h"

namespace wicprof::analyzer {

/// A text, a number, or nothing, which stands for "not known".
struct FigureCell {
  FigureCell() = default;
  FigureCell(std::string value) : is_text(true), text(std::move(value)) {}
  FigureCell(double value) : is_number(true), number(value) {}

  bool is_text = false, is_number = false;
  std::string text;
  double number = 0;
};

struct Figure {
  enum class Plot { bars, lines };

  int number = 0;
  std::string title;
  std::string formula;  ///< what the values are, with the formula
  std::vector<std::string> columns;
  std::vector<std::vector<FigureCell>> rows;
  std::string missing;  ///< why there is nothing; then there are no rows
  std::vector<std::string> notes;

  // How to draw it: columns by index. Rows of one series have the same text in all columns up to `series`.
  Plot plot = Plot::bars;
  std::size_t series = 0;  ///< the last of the columns that name a series (or bar)
  std::size_t x = 0, y = 0;
  bool shares = false;  ///< y is a part of a whole
};

/// A trace with what the figures need of it, worked out once. The model must outlive it.
struct FigureTrace {
  explicit FigureTrace(const TraceModel& trace);

  const TraceModel& model;
  Matching matching;
  Waiters waiters;
  WaitKernels kernels;
  Modes modes;
  WaitModel waits;
};

/// One trace, or several to be set side by side.
using FigureInput = std::vector<std::unique_ptr<FigureTrace>>;
FigureInput figure_input(const std::vector<const TraceModel*>& traces);

struct FigureInfo {
  int number = 0;
  std::string_view title;
  Figure (*make)(const FigureInput& input);
};

// Helpers of the figures.

/// Empty cells for what is not known.
FigureCell cell(const std::optional<double>& value);
/// The first columns of most figures: trace, mode and site.
std::vector<FigureCell> row_head(const FigureTrace& trace, Mode mode, SiteId site);
/// The mode that was in force at the first arrival of an iteration.
Mode mode_of(const FigureTrace& trace, const IterationSlot& slot);
/// Whether any trace has waits inside kernels; if not, `figure.missing` says so.
bool has_kernel_waits(const FigureInput& input, Figure& figure);
/// How many threads the program's waiting kernels had: the largest grid times its blocks. Nothing without kernels.
std::optional<double> threads_of(const FigureTrace& trace);

}  // namespace wicprof::analyzer
