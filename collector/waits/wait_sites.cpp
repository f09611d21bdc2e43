#include "collector/waits/wait_sites.h"

#include "collector/program/place_name.h"
#include "collector/program/source_line.h"

namespace wicprof::collector {

namespace {

/// No address of a program has the highest of these bits.
std::uint64_t range_key(std::uint32_t number, const RangeName& range) {
  constexpr std::uint64_t kOfRange = std::uint64_t{1} << 55;
  return (static_cast<std::uint64_t>(number + 1) << 56) | kOfRange | (range.key & (kOfRange - 1));
}

/// Places and functions: these keys have this bit, and ranges do not have it alone.
std::uint64_t function_key(std::uint32_t number, const void* caller, PythonFrames::Function function) {
  constexpr std::uint64_t kOfFunction = std::uint64_t{1} << 54;
  const std::uint64_t both = function.key() ^ (reinterpret_cast<std::uintptr_t>(caller) * 0xff51afd7ed558ccdu);
  return (static_cast<std::uint64_t>(number + 128) << 56) | kOfFunction | (both & (kOfFunction - 1));
}

/// Of a range or a function that has no site: its waits are those of their place.
constexpr SiteId kByPlace = ~SiteId{0};

/// "cudaStreamSynchronize in step", within the length that a session's table has for a name. `where`: with the length
/// that is left for it, names the place.
template <class Where>
std::string name_of(std::string_view call, Where&& where) {
  std::string name(call);
  constexpr std::string_view kIn = " in ";
  constexpr std::size_t kCounter = 3;  // "#17"
  if (name.size() + kIn.size() + kCounter >= kMaxSiteName) return name.substr(0, kMaxSiteName - 1 - kCounter);
  const std::size_t left = kMaxSiteName - 1 - kCounter - kIn.size() - name.size();
  return name.append(kIn).append(std::string_view(where(left)).substr(0, left));
}

std::string name_of(std::string_view call, const FunctionAt& function) {
  return name_of(call, [&](std::size_t left) {
    std::string where = short_function(function.name, left);
    if (where.empty()) where = place_text(function);
    return where.empty() ? "unknown code" : where;
  });
}

}  // namespace

PlaceOfWait WaitSites::enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call, const void* caller) {
  if (caller == nullptr) return {};
  const std::uint64_t key = key_of(number, caller);
  ThreadsPlaces::Place& place = places.at(key);
  if (place.key != key) place = {key, declare_place(key, call, caller), 0};
  return {place.site, place.waits++, &place};
}

std::optional<PlaceOfWait> WaitSites::enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call,
                                            const RangeName& range, EventSink& sink) {
  const std::uint64_t key = range_key(number, range);
  ThreadsPlaces::Place& place = places.at(key);
  if (place.key != key) place = {key, declare_range(key, call, range, sink), 0};
  if (place.site == kByPlace) return std::nullopt;
  return PlaceOfWait{place.site, place.waits++, &place};
}

std::optional<PlaceOfWait> WaitSites::enter(ThreadsPlaces& places, std::uint32_t number, std::string_view call,
                                            const void* caller, PythonFrames::Function function, EventSink& sink) {
  const std::uint64_t key = function_key(number, caller, function);
  ThreadsPlaces::Place& place = places.at(key);
  if (place.key != key) place = {key, declare_function(key, call, function, sink), 0};
  if (place.site == kByPlace) return std::nullopt;
  return PlaceOfWait{place.site, place.waits++, &place};
}

SiteId WaitSites::declare_place(std::uint64_t key, std::string_view call, const void* caller) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sites_.find(key); found != sites_.end()) return found->second;
  if (next_ == kFirst + kMost) return sites_[key] = 0;
  new_places_.push_back({next_, std::string(call), caller});
  return sites_[key] = next_++;
}

WaitSites::PlaceText WaitSites::text_of(const NewPlace& place) {
  const char* const within = static_cast<const char*>(place.caller) - 1;  // the call
  const FunctionAt function = function_at(within);
  const std::string line = source_line(within);
  return {name_of(place.call, function), line.empty() ? place_text(function) : line};
}

SiteId WaitSites::declare_function(std::uint64_t key, std::string_view call, PythonFrames::Function function,
                                   EventSink& sink) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sites_.find(key); found != sites_.end()) return found->second;
  const std::string name = PythonFrames::of_process().name(function);
  if (name.empty()) return kByPlace;
  return declare(key, name_of(call, [&](std::size_t) { return name; }), PythonFrames::of_process().place(function),
                 sink);
}

SiteId WaitSites::declare_range(std::uint64_t key, std::string_view call, const RangeName& range, EventSink& sink) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sites_.find(key); found != sites_.end()) return found->second;
  if (ranges_ == kMostRanges) return kByPlace;
  ++ranges_;
  return declare(key, name_of(call, [&](std::size_t) { return std::string(range.str()); }), "NVTX range", sink);
}

SiteId WaitSites::declare(std::uint64_t key, const std::string& base, std::string_view place, EventSink& sink) {
  if (next_ == kFirst + kMost) return sites_[key] = 0;
  const SiteId site = next_++;
  sink.write_or_hold(event_of(site, base, place, sink));
  return sites_[key] = site;
}

std::string WaitSites::name_site(SiteId site, const std::string& base) {
  std::string name = base;
  for (int more = 2; !names_.insert(name).second; ++more) name = base + "#" + std::to_string(more);
  if (control_ != nullptr) {
    const std::uint32_t in_session = register_site(*control_, name.c_str());
    if (in_session != 0) control_->sites[in_session].side.store(static_cast<std::uint32_t>(WaitSide::host));
    session_numbers_[site - kFirst].store(in_session, std::memory_order_relaxed);
  }
  return name;
}

std::uint32_t WaitSites::session_number(SiteId site) const {
  return site < kFirst || site >= kFirst + kMost ? 0 : session_numbers_[site - kFirst].load(std::memory_order_relaxed);
}

}  // namespace wicprof::collector
