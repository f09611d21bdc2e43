// The program's iterations while it runs, as the events of its waits show them: for a schedule that adapts to them. The
// analyzer finds the exact ones in the trace (analyzer/waits/iterations.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/measure/numbered_names.h"
#include "protocol/events/header.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::cli {

class IterationMeter {
 public:
  /// Until then events pass by unread. `side`: for host threads that wait in calls of CUDA, NVTX ranges and launches of
  /// kernels count, too, since a step of the program may have many such waits. Any thread.
  void enable(WaitSide side) {
    for_hosts_.store(side == WaitSide::host, std::memory_order_relaxed);
    enabled_.store(true, std::memory_order_relaxed);
  }

  /// One event that the program has written to that ring. `text_of` gives the text with a number in the ring. The
  /// drain's thread.
  template <class TextOf>
  void see(std::size_t ring, const EventHeader& event, const TextOf& text_of) {
    if (!enabled_.load(std::memory_order_relaxed)) return;
    if (event.kind != NvtxEvent::kKind) return look_at(ring, event);
    if (!for_hosts_.load(std::memory_order_relaxed)) return;
    const auto& range = reinterpret_cast<const NvtxEvent&>(event);
    add_range(ring, range, text_of(range.name));
  }

  /// Ends a stretch and begins another: returns the durations of the iterations, in ns and in order, that were seen
  /// since the last call, at the place (a site and the waiters of a device) that has the most since the start. For
  /// host threads, as analyzer/compare/timed_units.h: wait sites that the program declares and that count its
  /// iterations, else the NVTX ranges that took the longest, else those whose names differ in numbers only, else the
  /// kernel with the fewest launches, if they repeat; what the first call finds stays for as long as it shows
  /// iterations. An iteration that was in progress at the last call is left out. Any thread.
  std::vector<TimeNs> take();
  /// The same without ending the stretch.
  std::vector<TimeNs> peek() const;
  /// What shows them, for people: "range step"; empty: nothing does yet. Any thread.
  std::string what() const;
  struct Latest {
    std::string what;  ///< what shows them; empty: nothing does yet
    std::vector<TimeNs> durations;
  };
  /// The iterations that ended since the last call, also those that were in progress then, at the best place so far.
  /// Not together with take(). Any thread.
  Latest next();
  /// Whether a wait at a site that the program declares has ended. Any thread.
  bool sees_sites() const;

 private:
  /// What shows iterations; the earlier is the better clock. `numbered`: ranges whose names differ in numbers only.
  enum class Source : std::uint32_t { declared_site, range, numbered, launch, call };
  struct Key {
    Source source = Source::declared_site;
    std::uint32_t ring = 0;  ///< sites have no ring: theirs are the program's
    std::uint32_t id = 0;    ///< of a site, or of a kernel's name
    std::int64_t on = 0;     ///< the device, or a range's thread
    std::string name;        ///< of a range
    bool operator==(const Key&) const = default;
  };
  static std::string words_of(const Key& key);
  struct HashKey {
    std::size_t operator()(const Key& key) const;
  };
  struct Place {
    std::unordered_map<std::uint32_t, std::int64_t> arrivals;  // of the latest iterations
    std::uint32_t newest = 0;
    std::size_t seen = 0;
    std::size_t fresh = 0;          // of them, in the stretch
    std::int64_t taken = 0;         // by the ranges that were seen, in ns
    std::int64_t last = 0;          // start of a kernel
    std::size_t skip = 0;           // iterations in progress when the stretch began
    std::vector<TimeNs> durations;  // of the stretch
  };
  using Places = std::unordered_map<Key, Place, HashKey>;

  void look_at(std::size_t ring, const EventHeader& event);
  void arrive(const Key& key, std::uint32_t iteration, std::int64_t at);
  Place* place_of(Key key);  // nullptr: too many
  void add_range(std::size_t ring, const NvtxEvent& range, const std::string& name);
  void add_range(Place* place, const NvtxEvent& range);
  void add_launch(std::size_t ring, const KernelEvent& kernel);
  std::size_t rank_of(const Places::value_type& place) const;
  bool better(const Places::value_type& a, const Places::value_type& b) const;
  bool far_better(const Places::value_type& a, const Places::value_type& b) const;
  const Place* busiest() const;
  const Place* best_of(bool fresh) const;
  static void count(Place& place) { ++place.seen, ++place.fresh; }
  bool is_wanted(const Place& place) const { return chosen_ == nullptr || chosen_ == &place; }

  std::atomic<bool> enabled_{false}, for_hosts_{false};
  mutable std::mutex mutex_;  // guards what follows
  Places places_;
  analyzer::NumberedNames numbered_;
  const Place* chosen_ = nullptr;             // an element of places_, which do not move
  std::int64_t since_ = 0;                    // the stretch
  const Places::value_type* last_ = nullptr;  // of next()
};

}  // namespace wicprof::cli
