// Wait sites of host threads: each NVTX range in which a call of CUDA waits, and each place in the program from which
// one waits outside of all ranges.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collector/program/python_frames.h"
#include "collector/waits/range_names.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"
#include "protocol/events/site.h"

namespace wicprof::collector {

/// What one thread knows of the places where it waits: a table without locks. A place that finds no room replaces
/// another, which then begins to count its waits anew. Used by one thread.
class ThreadsPlaces {
 public:
  struct Place {
    std::uint64_t key = 0;
    SiteId site = 0;
    std::uint32_t waits = 0;
  };

  /// The place with that key, else the one to use for it.
  Place& at(std::uint64_t key) {
    const std::size_t first = (key * 0x9e3779b97f4a7c15u) >> 58;
    for (std::size_t i = 0; i < kTries; ++i) {
      Place& place = places_[(first + i) % kPlaces];
      if (place.key == key || place.key == 0) return place;
    }
    return places_[first];
  }

 private:
  static constexpr std::size_t kPlaces = 64, kTries = 8;
  std::array<Place, kPlaces> places_;
};

/// A wait's site, and how often the calling thread has waited there before.
struct PlaceOfWait {
  SiteId site = 0;  ///< 0: not known
  std::uint32_t iteration = 0;
  ThreadsPlaces::Place* counts = nullptr;  ///< the thread's; nullptr: none
};

/// Any thread. A place that a thread has seen before takes no lock.
class WaitSites {
 public:
  /// Numbers start behind those of the sites that the program declares, which have their own ring and numbers.
  static constexpr SiteId kFirst = kMaxSites;
  /// The session's table has kMaxSites places, also for the program's own sites. Waits elsewhere have no site.
  static constexpr SiteId kMost = kMaxSites / 2;
  /// A program that gives each iteration a range with a name of its own leaves room for places. Not calibrated.
  static constexpr SiteId kMostRanges = kMost / 2;

  /// `control`: the session's, in which toggles find the sites by name; nullptr: none.
  explicit WaitSites(ControlBlock* control) : control_(control) {}
  WaitSites(const WaitSites&) = delete;
  WaitSites& operator=(const WaitSites&) = delete;

  /// Whether the thread, whose places these are, has waited at that place in call `number` before.
  static bool known(ThreadsPlaces& places, std::uint32_t number, const void* caller) {
    const std::uint64_t key = key_of(number, caller);
    return places.at(key).key == key;
  }

  /// Whether the thread has made the driver's call `number` from that address before, and by which call: that of the
  /// runtime, or the driver's itself.
  static bool known_path(ThreadsPlaces& places, std::uint32_t number, const void* caller) {
    const std::uint64_t key = path_key(number, caller);
    return places.at(key).key == key;
  }
  static std::uint32_t call_of_path(ThreadsPlaces& places, std::uint32_t number, const void* caller) {
    return places.at(path_key(number, caller)).site;
  }
  static void note_path(ThreadsPlaces& places, std::uint32_t number, const void* caller, std::uint32_t call) {
    const std::uint64_t key = path_key(number, caller);
    places.at(key) = {key, call, 0};
  }

  /// The place, which name_places() declares to the trace if it is new. `call`: the call's name. `caller`: the address
  /// to which it returns; nullptr: not known.
  PlaceOfWait enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call, const void* caller);

  /// The same for a wait within an NVTX range, wherever the call stands. Nothing for a further range once kMostRanges
  /// sites have the names of ranges: its waits are those of their place.
  std::optional<PlaceOfWait> enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call,
                                   const RangeName& range, EventSink& sink);

  /// The same for a wait in a Python function: a site of its own for each function from which the thread comes to the
  /// place in the interpreter's libraries that makes the call. Nothing where the function has no name.
  std::optional<PlaceOfWait> enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call,
                                   const void* caller, PythonFrames::Function function, EventSink& sink);

  /// Names the places that are new: their sites have numbers at once, but a name takes some 10 ms where a module has
  /// many symbols, by which the program's call would begin later. `sink`: an EventSink or an EventBatch. One thread.
  template <class Sink>
  void name_places(Sink& sink) {
    std::vector<NewPlace> places;
    {
      const std::lock_guard lock(mutex_);
      places.swap(new_places_);
    }
    for (const NewPlace& place : places) {
      const PlaceText text = text_of(place);
      const std::lock_guard lock(mutex_);
      sink.write(event_of(place.site, text.name, text.place, sink));
    }
  }

  /// The number of a site in the session's table; 0: none.
  std::uint32_t session_number(SiteId site) const;

 private:
  static std::uint64_t path_key(std::uint32_t number, const void* caller) { return key_of(number + 64, caller); }
  static std::uint64_t key_of(std::uint32_t number, const void* caller) {
    return (static_cast<std::uint64_t>(number + 1) << 56) ^ reinterpret_cast<std::uintptr_t>(caller);
  }
  struct NewPlace {
    SiteId site = 0;
    std::string call;
    const void* caller = nullptr;
  };
  struct PlaceText {
    std::string name, place;
  };
  static PlaceText text_of(const NewPlace& place);
  SiteId declare_place(std::uint64_t key, std::string_view call, const void* caller);
  SiteId declare_function(std::uint64_t key, std::string_view call, PythonFrames::Function function, EventSink& sink);
  SiteId declare_range(std::uint64_t key, std::string_view call, const RangeName& range, EventSink& sink);
  /// Under the lock. `place`: for the trace.
  SiteId declare(std::uint64_t key, const std::string& name, std::string_view place, EventSink& sink);
  /// Under the lock: the site's name, unlike all others, which the session gets to know.
  std::string name_site(SiteId site, const std::string& base);
  template <class Sink>
  SiteEvent event_of(SiteId site, const std::string& base, std::string_view place, Sink& sink) {
    auto event = make_event<SiteEvent>();
    event.site = site;
    event.name = sink.text(name_site(site, base));
    event.side = SiteSide::host;
    event.place = sink.text(place);
    return event;
  }

  ControlBlock* control_;
  std::mutex mutex_;
  // By number of the call, and caller or range. 0: the table is full.
  std::unordered_map<std::uint64_t, SiteId> sites_;
  std::unordered_set<std::string> names_;
  std::vector<NewPlace> new_places_;
  SiteId next_ = kFirst, ranges_ = 0;
  std::array<std::atomic<std::uint32_t>, kMost> session_numbers_{};
};

}  // namespace wicprof::collector
