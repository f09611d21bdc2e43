// Copies, memsets and writes of streams whose destination holds a word that a patched loop polls: they are the other
// ends of the loop's waits.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "protocol/event_batch.h"
#include "protocol/events/signal.h"

namespace wicprof::collector {

/// A word that is polled, and the site in the trace.
struct PolledWord {
  std::uint64_t address = 0;
  SiteId site = 0;
  WordTag tag = 0;
  bool is_64_bit = false;
};

/// One call of the driver that writes memory.
struct WriteCall {
  SignalWriter writer = SignalWriter::copy;
  std::uint64_t begin = 0, bytes = 0;  ///< of the memory that is written
  std::uint64_t pattern = 0;           ///< of a memset or a stream's write: what is written again and again
  unsigned pattern_bytes = 0;          ///< 1, 2, 4 or 8; 0: a copy
  const void* source = nullptr;        ///< of a copy from host memory
  CUstream stream = nullptr;           ///< nullptr: a default stream, or none
};

/// The writes that a call makes, from the parameters of its callback. Empty: none that is understood. Not understood
/// are copies of two and three dimensions and arrays, batches of copies, and what graphs do.
std::vector<WriteCall> writes_of(CUpti_CallbackId id, const void* params);
bool is_writing_call(CUpti_CallbackId id);
/// The calls of which writes_of() understands some.
const std::vector<CUpti_CallbackId>& writing_calls();

/// Any thread.
class WordWriters {
 public:
  /// What the program's copies report their times to.
  static WordWriters& of_process();

  /// The calls that are kept for words which become known later.
  static constexpr std::size_t kMostCalls = 16'384;
  /// Copies from the host of up to so many bytes are kept with their content.
  static constexpr std::size_t kKeptBytes = 16;
  /// Of the writes before a word is known, all of this time become signals, and the last one.
  static constexpr TimeNs kLookBack = kSecond;
  /// A signal waits this long for the device's times before it gets the time of the call.
  static constexpr TimeNs kPatience = 5 * kSecond;
  /// ... and this long while somebody asks: of a program that hangs the device's times may never come, since CUPTI
  /// keeps them back behind those of a kernel that does not end.
  static constexpr TimeNs kPatienceWhenAsked = kSecond / 2;

  /// From now on calls are kept.
  void begin() { on_.store(true, std::memory_order_relaxed); }

  /// A call has returned with success, on the calling thread. `called`: when it was made.
  void made(std::uint32_t correlation, TimeNs called, const std::vector<WriteCall>& writes);
  /// The device has executed the copy or memset of that call.
  void executed(std::uint32_t correlation, TimeNs start) {
    if (on_.load(std::memory_order_relaxed)) set_start(correlation, start);
  }
  /// A loop polls the word. Writes of it so far become signals, and later ones.
  void polled(const PolledWord& word);

  /// Writes the signals whose time is known, or has not come for `patience`; 0: every one.
  void write_signals(EventBatch& batch, TimeNs now, TimeNs patience);

 private:
  struct Call {
    std::uint32_t correlation = 0, thread = 0;
    TimeNs called = 0, start = 0;  // start: 0 = not known
    WriteCall write;
    std::array<std::uint8_t, kKeptBytes> content{};  // of a copy from the host
    bool has_content = false;
  };
  struct Pending {
    PolledWord word;
    SignalWriter writer{};
    std::uint32_t value = 0, correlation = 0, thread = 0;
    TimeNs called = 0, start = 0;
  };
  void set_start(std::uint32_t correlation, TimeNs start);
  void add(const Call& call, const PolledWord& word, bool source_is_valid);

  std::atomic<bool> on_{false};
  std::mutex mutex_;
  std::multimap<std::uint64_t, PolledWord> words_;  // by address
  std::multimap<std::uint32_t, Call> calls_;        // by correlation
  std::vector<Pending> pending_;
};

/// Bytes of this process; false where they cannot be read.
bool read_own_memory(std::uint64_t address, void* to, std::size_t bytes);

}  // namespace wicprof::collector
