// What NCCL and a profiler plugin agree on, as far as this plugin uses it: versions 4 to 6 of NCCL's profiler interface
// (NCCL 2.27, 2.28, 2.29 and later). Declared here, since NCCL's headers are not needed to build. The layouts are those
// of NCCL's src/include/plugin/profiler/profiler_v4.h, _v5.h and _v6.h (Apache-2.0).
#pragma once

#include <cstddef>
#include <cstdint>

namespace wicprof::nccl {

/// Bits of the mask that NCCL reads before each operation, and types of events.
inline constexpr std::uint64_t kColl = 1u << 1;      ///< a collective was enqueued: its kernel has been launched
inline constexpr std::uint64_t kP2p = 1u << 2;       ///< the same, a message
inline constexpr std::uint64_t kGroupApi = 1u << 8;  ///< from version 5 on: the outermost group, or a call alone
inline constexpr std::uint64_t kCollApi = 1u << 9;   ///< from version 5 on: the program's call
inline constexpr std::uint64_t kP2pApi = 1u << 10;

/// Of an event's start. The type is a byte in version 4, else 8 bytes; what follows lies alike in all versions.
template <class Type>
struct Description {
  Type type;
  void* parent;  ///< the handle of the parent event
  int rank;
  union {
    struct {
      const char* operation;
      std::size_t count;
      const char* datatype;
      int root;
      void* stream;
      bool captured;  ///< into a CUDA graph
    } collective_call;
    struct {
      const char* operation;
      std::size_t count;
      const char* datatype;
      void* stream;
      bool captured;
    } message_call;
    struct {
      std::uint64_t sequence;  ///< among those of its operation, on the communicator; from 0
      const char* operation;   ///< "AllReduce", ...
      const void* sent;
      void* received;
      std::size_t count;
      int root;
      const char* datatype;  ///< "ncclFloat32", ...
    } collective;
    struct {
      const char* operation;
      void* buffer;
      const char* datatype;
      std::size_t count;
      int peer;  ///< its rank in the communicator
    } message;
  };
};
using Description4 = Description<std::uint8_t>;
using Description5 = Description<std::uint64_t>;
static_assert(offsetof(Description4, collective) == 24 && offsetof(Description5, collective) == 24);
static_assert(sizeof(void*) == 8 && sizeof(std::size_t) == 8);

inline constexpr int kSuccess = 0;

/// The symbols ncclProfiler_v4, _v5 and _v6. NCCL takes the newest one that it knows.
template <class Init, class Described>
struct Profiler {
  const char* name;
  Init* init;
  int (*start_event)(void* context, void** handle, Described* description);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
using Init4 = int(void** context, int* mask, const char* name, std::uint64_t id, int nodes, int ranks, int rank,
                  void* log);
using Init5 = int(void** context, std::uint64_t id, int* mask, const char* name, int nodes, int ranks, int rank,
                  void* log);
using Profiler4 = Profiler<Init4, Description4>;
using Profiler5 = Profiler<Init5, Description5>;

}  // namespace wicprof::nccl
