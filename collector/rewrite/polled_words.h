// The words that patched loops poll: what memory they are in, who wrote them, and, while waits last, what they hold.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collector/rewrite/rewrite_driver.h"
#include "collector/rewrite/word_writers.h"
#include "collector/rewrite/writer_candidates.h"
#include "protocol/event_sink.h"
#include "protocol/open_work.h"

namespace wicprof::collector {

/// A word at which a wait has been seen for the first time.
struct NewWord {
  SiteId site = 0;
  std::uint64_t address = 0;
  DeviceId device = 0;
  CUcontext context = nullptr;
};

/// A wait that has begun and not ended, of one block at one word.
struct LastingWait {
  SiteId site = 0;
  std::uint64_t address = 0;  ///< 0: not known
  DeviceId device = 0;
  std::uint32_t block = 0;
  std::uint16_t warp = 0, sm = 0;
  TimeNs begin = 0;
  std::uint64_t value = 0;  ///< when the wait began
};

/// What the program's code says about a site.
struct SiteCode {
  std::string name;
  bool knows_word = false;
  WantedValue wanted;
};

/// What takes the driver may wait for a kernel: one thread does it. Everything else comes from any thread and waits for
/// no call of the driver.
class PolledWords {
 public:
  /// Waits are shown in the session's table from this age on, as those of the wic backend.
  static constexpr TimeNs kShownAfter = kSecond / 2;
  /// Groups of waits of this process in that table.
  static constexpr std::size_t kMostShown = 1024;
  /// Words that are read for whoever asks.
  static constexpr std::size_t kMostRead = 64;

  /// `work`: the session's; nullptr: nothing is shown there.
  explicit PolledWords(OpenWork* work) : work_(work) {}
  PolledWords(const PolledWords&) = delete;
  PolledWords& operator=(const PolledWords&) = delete;

  /// Asks the driver what memory the words are in, and tells the trace. `driver`: nullptr: the driver may not be asked.
  void add(const RewriteDriver* driver, const std::vector<NewWord>& words, const std::map<SiteId, SiteCode>& sites,
           EventSink& sink);
  /// Writes the kernels that may have written the words, and the copies that have; `all`: also those whose time is not
  /// known yet.
  void write_writers(WriterCandidates& candidates, EventSink& sink, bool all);

  /// Whether somebody wants to know what the words hold.
  bool is_asked() const { return work_ != nullptr && work_->asked.load() != work_->answered.load(); }
  /// Reads the words of the waits, once per question: those of host memory now, those of device memory by copies. True:
  /// all have arrived.
  bool read(const RewriteDriver& driver, const std::vector<LastingWait>& waits);
  /// Shows the waits in the session's table, with what was read last of their words.
  void show(const std::vector<LastingWait>& waits, const std::map<SiteId, SiteCode>& sites);
  /// What read() has read is shown.
  void answer();
  /// Takes all waits out of the session's table, while the session is mapped.
  void hide();
  /// The thread of read().
  void context_ends(CUcontext context);

 private:
  struct Word {
    PolledWord polled;
    DeviceId device = 0;
    CUcontext context = nullptr;
    WordMemory memory = WordMemory::unknown;
    std::uint64_t begin = 0, bytes = 0;  // of its allocation; bytes 0: not known
    std::uint64_t host_address = 0;      // of host memory
    std::optional<std::uint64_t> value;  // when it was read last
    TimeNs read = 0;
  };
  // Copies words of one context to the host, on a stream of its own.
  struct Reader {
    CUstream stream = nullptr;
    std::uint64_t* words = nullptr;        // kMostRead, pinned
    std::vector<std::uint64_t> addresses;  // that are on their way
    std::uint32_t asked = 0;
  };
  using Key = std::tuple<SiteId, std::uint64_t, DeviceId, std::uint32_t>;  // site, address, device, block

  void find_memory(const RewriteDriver& driver, Word& word) const;
  void read_words(const RewriteDriver& driver, const std::vector<LastingWait>& waits);
  bool take_copies(const RewriteDriver& driver);
  Reader* reader_of(const RewriteDriver& driver, CUcontext context);

  OpenWork* work_;
  // Of the thread that uses the driver:
  std::map<CUcontext, Reader> readers_;
  std::uint32_t begun_ = 0;  // the last question whose copies have been ordered
  // Never held while the driver is called:
  std::mutex mutex_;
  std::map<std::uint64_t, std::vector<Word>> words_;  // by address: a word may be polled at several sites
  std::map<Key, OpenEntry<OpenWait>*> shown_;
};

}  // namespace wicprof::collector
