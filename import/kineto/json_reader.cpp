#include "import/kineto/json_reader.h"

#include <fmt/format.h>

namespace wicprof::imports {

JsonReader::Key JsonReader::key_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Key> keys{
      {"traceEvents", Key::trace_events},
      {"deviceProperties", Key::device_properties},
      {"distributedInfo", Key::distributed_info},
      {"baseTimeNanoseconds", Key::base_time},
      {"rank", Key::rank},
      {"name", Key::name},
      {"cat", Key::category},
      {"ph", Key::phase},
      {"pid", Key::pid},
      {"tid", Key::tid},
      {"ts", Key::ts},
      {"dur", Key::dur},
      {"args", Key::args},
      {"correlation", Key::correlation},
      {"device", Key::device},
      {"context", Key::context},
      {"stream", Key::stream},
      {"bytes", Key::bytes},
      {"registers per thread", Key::registers},
      {"shared memory", Key::shared_memory},
      {"grid", Key::grid},
      {"block", Key::block},
      {"graph id", Key::graph},
      {"graph node id", Key::graph_node},
      {"cuda_sync_kind", Key::sync_kind},
      {"wait_on_stream", Key::awaited_stream},
      {"wait_on_cuda_event_id", Key::awaited_event},
      {"wait_on_cuda_event_record_corr_id", Key::recorded_by},
      {"id", Key::id},
      {"totalGlobalMem", Key::memory},
      {"computeMajor", Key::major},
      {"computeMinor", Key::minor},
      {"maxThreadsPerMultiprocessor", Key::threads_per_sm},
      {"regsPerMultiprocessor", Key::registers_per_sm},
      {"sharedMemPerMultiprocessor", Key::shared_per_sm},
      {"numSms", Key::sms},
  };
  const auto found = keys.find(name);
  return found == keys.end() ? Key::other : found->second;
}

std::optional<std::int64_t>* JsonReader::number_at() {
  switch (places_.back()) {
    case At::top:
      return key_ == Key::base_time ? &base_time_ : nullptr;
    case At::distributed:
      return key_ == Key::rank ? &rank_ : nullptr;
    case At::event:
      return key_ == Key::pid ? &event_.pid : key_ == Key::tid ? &event_.tid : nullptr;
    case At::args:
      switch (key_) {
        case Key::correlation:
          return &event_.correlation;
        case Key::device:
          return &event_.device;
        case Key::context:
          return &event_.context;
        case Key::stream:
          return &event_.stream;
        case Key::bytes:
          return &event_.bytes;
        case Key::registers:
          return &event_.registers;
        case Key::shared_memory:
          return &event_.shared_memory;
        case Key::graph:
          return &event_.graph;
        case Key::graph_node:
          return &event_.graph_node;
        case Key::awaited_stream:
          return &event_.awaited_stream;
        case Key::awaited_event:
          return &event_.awaited_event;
        case Key::recorded_by:
          return &event_.recorded_by;
        default:
          return nullptr;
      }
    case At::device:
      switch (key_) {
        case Key::id:
          return &device_.id;
        case Key::memory:
          return &device_.memory;
        case Key::major:
          return &device_.major;
        case Key::minor:
          return &device_.minor;
        case Key::threads_per_sm:
          return &device_.threads_per_sm;
        case Key::registers_per_sm:
          return &device_.registers_per_sm;
        case Key::shared_per_sm:
          return &device_.shared_per_sm;
        case Key::sms:
          return &device_.sms;
        default:
          return nullptr;
      }
    default:
      return nullptr;
  }
}

std::string* JsonReader::text_at() {
  const At at = places_.back();
  if (at == At::event) {
    return key_ == Key::name       ? &event_.name
           : key_ == Key::category ? &event_.category
           : key_ == Key::phase    ? &event_.phase
                                   : nullptr;
  }
  if (at == At::args)
    return key_ == Key::name ? &event_.given_name : key_ == Key::sync_kind ? &event_.sync_kind : nullptr;
  return at == At::device && key_ == Key::name ? &device_.name : nullptr;
}

void JsonReader::take(std::int64_t number) {
  if (places_.back() == At::triple) {
    if (triple_at_ < 3) triple_[triple_at_++] = number;
  } else if (is_time()) {
    std::int64_t nanoseconds = 0;
    if (!__builtin_mul_overflow(number, 1000, &nanoseconds)) time_of(key_) = nanoseconds;
  } else if (std::optional<std::int64_t>* const to = number_at()) {
    *to = number;
  }
}

bool JsonReader::enter(At at) {
  bytes_.text_ends();
  if (places_.size() == kMostNested) {
    problem_ =
        fmt::format("objects and arrays are nested more than {} deep at byte {}", kMostNested, bytes_.position());
    return false;
  }
  places_.push_back(at);
  key_ = Key::other;
  return true;
}

bool JsonReader::start_object(std::size_t) {
  if (places_.empty()) return enter(At::top);
  switch (places_.back()) {
    case At::top:
      return enter(key_ == Key::distributed_info ? At::distributed : At::elsewhere);
    case At::events:
      event_.clear();
      return enter(At::event);
    case At::event:
      return enter(key_ == Key::args ? At::args : At::elsewhere);
    case At::devices:
      device_ = {};
      return enter(At::device);
    default:
      return enter(At::elsewhere);
  }
}

bool JsonReader::start_array(std::size_t) {
  // Chrome's format may leave out the object around the events.
  if (places_.empty() || (places_.back() == At::top && key_ == Key::trace_events)) {
    has_events_ = true;
    return enter(At::events);
  }
  if (places_.back() == At::top && key_ == Key::device_properties) return enter(At::devices);
  if (places_.back() == At::args && (key_ == Key::grid || key_ == Key::block)) {
    triple_ = key_ == Key::grid ? event_.grid : event_.block;
    triple_at_ = 0;
    return enter(At::triple);
  }
  return enter(At::elsewhere);
}

bool JsonReader::end_object() {
  const At ended = places_.back();
  leave();
  if (ended == At::event) on_event(event_);
  if (ended == At::device) on_device(device_);
  return true;
}

bool JsonReader::parse_error(std::size_t position, const std::string&, const Json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while ..."
  std::string_view reason = error.what();
  if (const std::size_t at = reason.find(": "); at != std::string_view::npos) reason.remove_prefix(at + 2);
  if (const std::size_t at = reason.find("; last read"); at != std::string_view::npos) reason = reason.substr(0, at);
  problem_ = fmt::format("{} at byte {}", reason, position);
  return false;
}

}  // namespace wicprof::imports
