// The MPI library of the program, as far as recording asks it. Its headers are not needed: handles are passed on as
// they are, and its own functions interpret them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace wicprof::collector {

/// A handle or a pointer of MPI: an int in MPICH, a pointer in Open MPI.
using MpiWord = std::uintptr_t;

/// The function of this name behind this library's own; nullptr: there is none. `caller`: an address in the code that
/// calls it.
void* mpi_function(const char* name, const void* caller);

struct MpiSource {
  int source, tag;
};

/// After MPI_Init. Of each call's arguments ask only after the call has succeeded: MPI ends a program that passes a bad
/// handle.
class MpiImplementation {
 public:
  /// Nothing: a library that is neither Open MPI's nor MPICH's kind.
  static std::optional<MpiImplementation> find();

  /// The handle itself, of an argument.
  MpiWord handle(MpiWord argument) const { return handle_bytes == 4 ? argument & 0xffffffffu : argument; }
  /// The handle that lies at this address.
  MpiWord handle_at(MpiWord address, std::size_t index = 0) const;
  /// As a status says.
  MpiSource source_in(MpiWord statuses, std::size_t index = 0) const;
  /// Whether a status tells that its request was cancelled.
  bool was_cancelled(MpiWord statuses, std::size_t index = 0) const;

  std::int64_t bytes(std::int64_t count, MpiWord datatype) const;
  /// The same before a call, whose arguments may be bad: -1 unless the datatype is one of MPI's own.
  std::int64_t bytes_of_own_type(std::int64_t count, MpiWord datatype) const;
  int rank(MpiWord communicator) const;
  bool is_intercommunicator(MpiWord communicator) const;
  /// The ranks in MPI_COMM_WORLD of the communicator's processes, of an intercommunicator the remote ones; below 0:
  /// not in it.
  std::vector<int> world_ranks(MpiWord communicator, bool remote) const;

  std::size_t handle_bytes = 0, status_bytes = 0, source_offset = 0;  // the tag follows the source
  int any_source = 0, proc_null = 0;
  static constexpr int kAnyTag = -1;
  MpiWord status_ignore = 0, world = 0, no_communicator = 0;

 private:
  void find_own_types();

  using OfCommunicator = int (*)(MpiWord, int*);
  using GroupOf = int (*)(MpiWord, MpiWord*);
  OfCommunicator comm_rank_ = nullptr, test_inter_ = nullptr, type_size_ = nullptr, group_size_ = nullptr;
  int (*test_cancelled_)(MpiWord, int*) = nullptr;
  GroupOf group_ = nullptr, remote_group_ = nullptr;
  int (*translate_)(MpiWord, int, const int*, MpiWord, int*) = nullptr;
  int (*free_group_)(MpiWord*) = nullptr;
  std::vector<std::pair<MpiWord, int>> own_types_;  // Open MPI's, with their sizes in bytes
};

}  // namespace wicprof::collector
