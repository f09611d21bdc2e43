// Who waited for whom: a matrix with one row per waiting party and one column per party that ended the waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/aggregates/wait_figures.h"
#include "analyzer/path/work_index.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

/// What counts as one party. Host threads are parties of their own in all but `device`; a kernel or a copy that a call
/// waited for is a party by its name.
enum class PartyBy : std::uint8_t {
  kernel,  ///< the kernel that runs the waiting or signalling block
  site,    ///< waiters by the site or the call where they wait; whoever ends their waits as for `kernel`
  sm,      ///< the SM that the waiting or signalling block runs on
  thread,  ///< the block of GPU threads that waits or signals
  device,  ///< a GPU, the CPU device, or all host threads as "host"
};
inline constexpr PartyBy kPartyBy[] = {PartyBy::kernel, PartyBy::site, PartyBy::sm, PartyBy::thread, PartyBy::device};
/// "kernel", ...: keys of JSON and names of buttons.
std::string_view party_by_key(PartyBy by);

/// A row or a column.
struct WaitParty {
  std::string name;        ///< of a kernel: as the trace has it
  bool is_kernel = false;  ///< party_label() shortens the name
  WaitFigures figures;     ///< of its row, or of its column
};

struct PartyCell {
  std::uint32_t waiter = 0, releaser = 0;  ///< indexes into the lists of the matrix
  WaitFigures figures;
};

/// Most waiting time first, both ways. A matrix has at most kMaxParties rows and columns; the last row or column then
/// stands for all other parties.
struct PartyMatrix {
  static constexpr std::size_t kMaxParties = 16;

  PartyBy by = PartyBy::kernel;
  std::vector<WaitParty> waiters, releasers;
  std::vector<PartyCell> cells;                        ///< by row, then column; only cells with waits
  std::size_t other_waiters = 0, other_releasers = 0;  ///< number of parties in the last row or column; 0: none
  WaitFigures all;

  const PartyCell* cell(std::size_t waiter, std::size_t releaser) const;
};

/// The releasing party of waits whose end the trace does not explain.
inline constexpr std::string_view kUnknownParty = "not recorded";

/// Computes matrices of one trace. The model, the edges and the index must outlive it.
class PartyMatrices {
 public:
  /// `edges`: the wake edges of the same model (match()).
  PartyMatrices(const TraceModel& model, const std::vector<WakeEdge>& edges, const WorkIndex& index);

  /// One for each meaning. One pass over all waits. Holds up to 16 bytes per wait meanwhile.
  std::vector<PartyMatrix> matrices(std::span<const PartyBy> meanings, const WaitFilter& filter = {}) const;
  PartyMatrix matrix(PartyBy by, const WaitFilter& filter = {}) const { return matrices({&by, 1}, filter).front(); }

 private:
  const TraceModel& model_;
  const std::vector<WakeEdge>& edges_;
  const WorkIndex& index_;
  std::vector<std::uint32_t> edge_of_[2];  // by WaitView::host and index: an index into edges_
};

}  // namespace wicprof::analyzer
