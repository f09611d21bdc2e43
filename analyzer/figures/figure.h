// A figure of the WIC paper (USENIX ATC 2025), made from any program's trace: a table, and how to draw it.
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
#include "analyzer/work/overlap.h"

namespace wicprof::analyzer {

/// A text, a number, or nothing for "unknown".
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
  std::string formula;  ///< the meaning of the values, with their formulas
  std::vector<std::string> columns;
  std::vector<std::vector<FigureCell>> rows;
  std::string missing;  ///< why the figure has no rows; empty if it has any
  std::vector<std::string> notes;

  // How to draw the figure; columns by index. Rows of one series have the same text in all columns up to `series`.
  Plot plot = Plot::bars;
  std::size_t series = 0;  ///< the last column that names a series (or bar)
  std::size_t x = 0, y = 0;
  bool shares = false;  ///< y is a share of a whole
};

/// A trace with the results that several figures need. The model must outlive it.
struct FigureTrace {
  FigureTrace(const TraceModel& trace, std::shared_ptr<const Matching> matched, std::shared_ptr<const Waiters> waiting,
              std::shared_ptr<const WaitKernels> with_waits);

  const TraceModel& model;
  const std::shared_ptr<const Matching> matching;
  const std::shared_ptr<const Waiters> waiters;
  const std::shared_ptr<const WaitKernels> kernels;
  const Modes modes;
  const WaitModel waits;
  std::optional<Overlaps> overlaps;  ///< if the analysis has made them
};

/// One trace, or several to compare.
using FigureInput = std::vector<std::shared_ptr<const FigureTrace>>;
FigureInput figure_input(const std::vector<const TraceModel*>& traces);

struct FigureInfo {
  int number = 0;
  std::string_view title;
  Figure (*make)(const FigureInput& input);
};

/// Makes the figure of that number. analyzer/figures/figure_NN.cpp defines the specialization.
template <int number>
Figure figure(const FigureInput& input);

// Helpers of the figures.

/// An empty cell for an unknown value.
FigureCell cell(const std::optional<double>& value);
/// The first columns of most figures: trace, mode and site.
std::vector<FigureCell> row_head(const FigureTrace& trace, Mode mode, SiteId site);
/// The mode at the first arrival of an iteration.
Mode mode_of(const FigureTrace& trace, const IterationSlot& slot);
/// Whether any trace has waits inside kernels; otherwise sets `figure.missing`.
bool has_kernel_waits(const FigureInput& input, Figure& figure);
/// The number of threads of the program's largest waiting kernel; nothing without kernels.
std::optional<double> threads_of(const FigureTrace& trace);

}  // namespace wicprof::analyzer
