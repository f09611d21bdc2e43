// Describes aggregates of waits for people: the window draws these texts, the reports print them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "analyzer/aggregates/distribution.h"
#include "analyzer/aggregates/party_matrix.h"

namespace wicprof::analyzer {

/// "kernel or host thread", "SM", ...: what a row of such a matrix is.
std::string_view party_by_title(PartyBy by);
/// The party's name on one line; a kernel without its result type and parameters.
std::string party_label(const WaitParty& party);

/// The largest cell in one sentence: "main thread waited longest for stencil: 1.2 s in 120 waits, the longest 30 ms."
/// Empty without waits.
std::string party_sentence(const PartyMatrix& matrix);
/// One cell: "stencil waited for main thread: 1.2 s in 120 waits, the longest 30 ms; it resumed 3.2 us after the signal
/// (median)."
std::string cell_sentence(const PartyMatrix& matrix, const PartyCell& cell);

/// A column of a table of figures.
struct FigureColumn {
  std::string_view title, meaning;  ///< a word or two, and a sentence
};
inline constexpr std::array<FigureColumn, 8> kFigureColumns{{
    {"waits", "The number of waits."},
    {"waiting", "The sum of the lengths of all waits; waits at the same time count each."},
    {"p50", "The median length of a wait."},
    {"p99", "99 % of the waits are at most this long."},
    {"longest", "The length of the longest wait."},
    {"wake p50",
     "The median time from the signal, or from the arrival if it came later, until the waiter resumed; for a "
     "CUDA call from the end of the kernel or copy that it waited for."},
    {"wake p99", "99 % of the wake latencies are at most this long."},
    {"polls per wait", "How often a waiter read the word during one wait, on average."},
}};
/// One text per column; "-" where the trace does not have the value.
std::array<std::string, kFigureColumns.size()> figure_cells(const WaitFigures& figures);

/// Why there is nothing to show, and what to do about it.
struct NothingToShow {
  std::string reason;   ///< a sentence
  std::string command;  ///< for a terminal, with APP for the program; empty: none helps
};
/// For a trace without any wait.
NothingToShow why_no_waits(const TraceModel& model);

}  // namespace wicprof::analyzer
