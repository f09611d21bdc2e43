// Of a program that hangs: what waits, for what, and the likeliest missing signal. Values in, values out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/open_work.h"
#include "store/format/rows.h"

namespace wicprof::analyzer {

/// A call or a wait counts as long if it has lasted so long. Waits of warps are reported from half a second on
/// (wic/record.h).
inline constexpr TimeNs kLongAfter = kSecond;

template <class Value>
struct OfProcess {
  std::uint32_t process = 0;
  Value value;
};

/// Where a thread is in a Python function.
struct PythonLine {
  std::string function;  ///< "Model.step", as Python's __qualname__; "?" = not ASCII
  std::string file;      ///< its path
  std::uint32_t line = 0;
};

/// Where a thread is in machine code.
struct NativeFrame {
  std::string function;  ///< demangled; empty = not known
  std::string object;    ///< the file of the program or library, without its folders
};

/// A host thread, as the operating system shows it.
struct SeenThread {
  std::uint32_t process = 0, thread = 0;
  std::string name;
  char state = '?';          ///< R runs, S sleeps, D sleeps and cannot be woken, Z ended, T stopped; ? not known
  std::string kernel_place;  ///< the function of the operating system in which the thread sleeps; empty = not known
  std::vector<PythonLine> python = {};   ///< the innermost function first; empty = none, or not known
  std::vector<NativeFrame> native = {};  ///< of a process's first thread: the same
};

struct SeenProcess {
  std::uint32_t pid = 0;
  std::string name;
  std::optional<std::int32_t> rank;
  std::optional<std::int32_t> ranks;  ///< how many the launcher started
  bool alive = true;
  bool shares_memory = false;  ///< it has given another process memory of a GPU, or taken it
  // Of traces:
  std::string host = {};      ///< empty: there is one machine only
  std::uint32_t own_pid = 0;  ///< there; 0: `pid`. Traces of several machines may have a pid twice
  std::uint32_t parent = 0;   ///< 0: not known
  bool seen = true;           ///< false: the trace does not say what the process was in when the recording ended
  TimeNs until = 0;           ///< when the process was seen last; 0: StuckView::now

  std::uint32_t shown_pid() const { return own_pid == 0 ? pid : own_pid; }
};

/// A collective or a message that a dump of PyTorch's Flight Recorder has. In order of enqueuing.
struct DumpedCall {
  CommunicatorId communicator = 0;  ///< of its process group
  std::uint32_t number = 0;         ///< of a collective: its number in the group, from 1; of a message: 0
  std::int32_t peer = -1;           ///< of a message: the other rank in the job
  bool sends = false;               ///< of a message
  bool started = false, completed = false;
  TimeNs at = 0;      ///< when it was enqueued; on the clock of the day
  std::string name;   ///< "all_reduce"
  std::string sizes;  ///< in words, where all ranks have to pass the same; else empty
  std::string place;  ///< in the program's source; empty: not known
};

/// A process group in a dump.
struct DumpedGroup {
  CommunicatorId communicator = 0;
  std::string name;
  std::vector<std::int32_t> members;      ///< their ranks in the job
  std::optional<std::uint32_t> enqueued;  ///< collectives; nothing: not known
};

/// What the dump of a rank says.
struct DumpedRank {
  std::int32_t rank = 0;
  bool knows_starts = false;  ///< calls that are not known to have started have not
  std::vector<DumpedGroup> groups;
  std::vector<DumpedCall> calls;
};

/// The last signal of one writer: a host thread, or a block.
struct LastSignal {
  std::string site;
  std::uint32_t process = 0;
  DeviceId device = 0;
  std::uint32_t block = 0, sm = 0, iteration = 0, value = 0;
  std::optional<WordTag> word;
  std::uint32_t thread = 0;
  TimeNs at = 0;
  SignalWriter writer = SignalWriter::program;
};

/// A kernel whose code may have written a word that patched loops poll.
struct SeenCandidate {
  std::string site, kernel;
  WordTag word = 0;
  bool exact = false;  ///< it stores to the word's very address; else somewhere in the word's allocation
};

/// Where the samples of a kernel's warps lay in the last seconds, most first.
struct SampledPlace {
  std::string function, reason, file;
  std::uint64_t offset = 0, samples = 0;
  std::uint32_t line = 0;
};

/// How many messages of MPI a process has sent to another one, or received from it, by calls that have ended.
struct SeenMessages {
  std::uint32_t process = 0;
  bool received = false;
  CommunicatorId communicator = 0;
  std::int32_t peer = 0;  ///< the other one's rank in MPI_COMM_WORLD
  std::int32_t tag = 0;
  std::uint32_t count = 0;  ///< from the first one on
  TimeNs at = 0;            ///< when the last one's call ended
};

/// Whether this is MPI_COMM_WORLD, whose number distinguishes jobs.
bool is_world(const OpenCommunicator& communicator);

/// What shows the processes.
enum class SeenBy : std::uint8_t {
  sessions,  ///< of running programs
  traces,    ///< of programs that have been told to end
  dumps,     ///< of PyTorch's Flight Recorder: a collective that is not complete hangs
};

struct StuckView {
  TimeNs now = 0;
  SeenBy by = SeenBy::sessions;
  bool hung = false;          ///< of a trace: something had waited for long when the recording ended
  bool has_all_ranks = true;  ///< a rank without a process here never came; false: nobody looked at it
  TimeNs clock_error = 0;     ///< between times of several machines
  std::vector<OfProcess<OpenWait>> waits;
  std::vector<OfProcess<OpenCall>> calls;
  std::vector<std::optional<std::uint32_t>> call_values;  ///< of `calls`: the awaited word now; empty = not known
  std::vector<OfProcess<OpenKernel>> kernels;
  std::vector<OfProcess<OpenMpiCall>> mpi_calls;
  std::vector<OfProcess<OpenCommunicator>> communicators;  ///< those of processes that have ended, too
  std::vector<OfProcess<OpenNccl>> nccl;                   ///< those of processes that have ended, too
  std::vector<OfProcess<DumpedRank>> dumps;
  std::vector<SeenMessages> messages;
  std::vector<SeenThread> threads;
  std::vector<SeenProcess> processes;
  std::vector<LastSignal> signals;
  std::vector<SeenCandidate> candidates;
  std::vector<SampledPlace> samples;
  bool sees_calls = false, sees_launches = false;
  std::uint64_t left_out = 0;  ///< calls, kernels, waits and communicators for which the session's tables had no room

  /// nullptr: not known.
  const SeenProcess* process(std::uint32_t pid) const;
  /// When the process was seen last.
  TimeNs until(std::uint32_t pid) const;
};

/// All that waits for one value of one word.
struct WaitedWord {
  WaitSource source = WaitSource::wic;
  std::vector<std::uint32_t> processes;
  DeviceId device = 0;  ///< of the waiters; kHostDevice for host threads
  std::string site;
  std::uint64_t address = 0;
  std::optional<std::uint32_t> value, wanted;
  std::uint32_t iteration = 0;
  std::size_t waiters = 0;            ///< groups of warps, or host threads
  std::vector<std::uint32_t> blocks;  ///< that wait, in order
  std::uint32_t grid = 0;             ///< blocks of their kernel; 0 = not known
  std::vector<std::uint32_t> threads;
  TimeNs since = 0;  ///< when the first of them began to wait
  SiteEnd releasing = 0;
  std::optional<LastSignal> last;  ///< the last signal of the word that is known
  // Of patched loops:
  WordMemory memory = WordMemory::unknown;
  WantedValue wants;                        ///< unknown: the code compares the word with no constant
  std::optional<std::uint64_t> wide_value;  ///< of 32 or 64 bits
  TimeNs value_at = 0;                      ///< when the word held `value`
  std::vector<SeenCandidate> candidates;    ///< those that store to the very address first

  /// Whether the word holds what a patched loop waits for: the waiter has gone on, or is about to.
  bool is_satisfied() const { return wide_value && wants.holds(*wide_value); }
  /// What the word held last; a patched loop's may be of 64 bits.
  std::optional<std::uint64_t> value_held() const;
  /// What the waiters want of the value, as a part of a sentence; empty: not known.
  std::string wants_in_words() const;
};

/// "other than 0", "at least 5 (signed)", "0x10 in the bits 0x30"; empty where the relation is unknown.
std::string wanted_text(const WantedValue& wanted);
/// "wic", "patched", "host".
std::string_view source_name(WaitSource source);
/// "stream", "event", "device", "copy", "unknown".
std::string_view awaited_name(Awaited awaited);

enum class Confidence { likely, possible, unknown };
const char* confidence_name(Confidence confidence);

enum class CauseKind {
  missing_signal,   ///< a word has not got the wanted value
  late_writer,      ///< one of the writers of a site is behind the others
  wrong_count,      ///< the wanted count is none that the kernel's blocks can make
  grid_too_large,   ///< blocks that others wait for have not begun
  absent_blocks,    ///< blocks that others wait for are elsewhere or have ended
  absent_rank,      ///< a process that others wait for never came, has ended, or is elsewhere
  mismatched_call,  ///< processes have come to one collective with different calls, or a message fits no receive
  mutual_wait,      ///< the waiters wait for each other
  running_kernel,   ///< a host thread waits for a kernel that does not wait through wic
  waiting_call,     ///< a host thread waits in a call, and the work behind is not known
  consequence,      ///< waits because of another cause
};
const char* cause_name(CauseKind kind);

/// Why a part of the program waits.
struct Cause {
  CauseKind kind = CauseKind::missing_signal;
  Confidence confidence = Confidence::unknown;
  std::string text;
  std::vector<std::string> evidence;
  std::optional<std::size_t> word;  ///< an index into StuckAnswer::words
  TimeNs since = 0;
};

/// A process of MPI or NCCL, with its latest call.
struct StuckRank {
  std::uint32_t process = 0;
  std::int32_t rank = 0, ranks = 0;
  std::string_view library;  ///< "MPI", "NCCL"
  bool ended = false;
  std::string call;                 ///< in words; empty: not known
  TimeNs begin = 0, end = 0;        ///< of the call; end 0: the process is in it; of NCCL: when it was enqueued
  std::vector<std::int32_t> needs;  ///< ranks that have to come before the call can end, where it has lasted long
};

struct StuckAnswer {
  std::vector<WaitedWord> words;
  std::vector<StuckRank> ranks;
  std::vector<Cause> causes;  ///< the likeliest first; empty: nothing has waited for long
};

StuckAnswer diagnose(const StuckView& view);

/// "0 to 3, 7"
std::string ranges_of(const std::vector<std::uint32_t>& numbers);

}  // namespace wicprof::analyzer
