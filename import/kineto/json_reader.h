// Takes apart the JSON of a Kineto file as it is read: events one by one, and what stands beside them.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/kineto/bytes.h"
#include "import/kineto/json_event.h"
#include "import/trace/times.h"
#include "protocol/events/text.h"

namespace wicprof::imports {

/// A handler of nlohmann's SAX parser.
class JsonReader {
 public:
  using Json = nlohmann::json;
  std::function<void(const JsonEvent&)> on_event;
  std::function<void(const JsonDevice&)> on_device;

  explicit JsonReader(Bytes& bytes) : bytes_(bytes) {}

  /// False: the text is no JSON, or ends early; problem() says where.
  bool read() { return Json::sax_parse(ByteIterator(bytes_), ByteIterator(), this) && problem_.empty(); }
  const std::string& problem() const { return problem_; }
  bool has_events() const { return has_events_; }
  std::optional<std::int64_t> base_time() const { return base_time_; }
  std::optional<std::int64_t> rank() const { return rank_; }

  bool null() {
    return value([] {});
  }
  bool boolean(bool) {
    return value([] {});
  }
  bool number_integer(std::int64_t number) {
    return value([&] { take(number); });
  }
  bool number_unsigned(std::uint64_t number) {
    return value([&] {
      if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        take(static_cast<std::int64_t>(number));
    });
  }
  bool number_float(double number, const std::string& text) {
    return value([&] {
      constexpr double kMost = 9e15;  // microseconds, and integers, that a double holds
      if (is_time()) {
        std::optional<std::int64_t> time = nanoseconds_of(text);
        if (!time && std::abs(number) < kMost) time = static_cast<std::int64_t>(number * 1000);
        time_of(key_) = time;
      } else if (std::abs(number) < kMost) {
        take(static_cast<std::int64_t>(number));
      }
    });
  }
  bool string(std::string& text) {
    return value([&] { take(text); });
  }
  bool binary(Json::binary_t&) { return true; }
  bool key(std::string& name) {
    bytes_.text_ends();
    key_ = places_.back() == At::elsewhere ? Key::other : key_of(name);
    return true;
  }
  bool start_object(std::size_t);
  bool start_array(std::size_t);
  bool end_object();
  bool end_array() { return leave(); }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error);

 private:
  enum class At : std::uint8_t { top, events, event, args, triple, devices, device, distributed, elsewhere };
  enum class Key : std::uint8_t {
    other,
    trace_events,
    device_properties,
    distributed_info,
    base_time,
    rank,
    name,
    category,
    phase,
    pid,
    tid,
    ts,
    dur,
    args,
    correlation,
    device,
    context,
    stream,
    bytes,
    registers,
    shared_memory,
    grid,
    block,
    graph,
    graph_node,
    sync_kind,
    awaited_stream,
    awaited_event,
    recorded_by,
    id,
    memory,
    major,
    minor,
    threads_per_sm,
    registers_per_sm,
    shared_per_sm,
    sms,
  };
  static constexpr std::size_t kMostNested = 1'000;

  static Key key_of(std::string_view name);
  bool is_time() const { return places_.back() == At::event && (key_ == Key::ts || key_ == Key::dur); }
  std::optional<std::int64_t>& time_of(Key key) { return key == Key::ts ? event_.ts : event_.dur; }
  std::optional<std::int64_t>* number_at();
  std::string* text_at();
  void take(std::int64_t number);
  void take(const std::string& text) {
    if (std::string* const to = text_at()) to->assign(text, 0, kMaxTextLength);
  }
  template <class Take>
  bool value(Take&& take) {
    bytes_.text_ends();
    if (!places_.empty()) take();
    return true;
  }
  bool enter(At at);
  bool leave() {
    places_.pop_back();
    key_ = Key::other;
    return true;
  }

  Bytes& bytes_;
  std::vector<At> places_;
  Key key_ = Key::other;
  JsonEvent event_;
  JsonDevice device_;
  std::int64_t* triple_ = nullptr;
  int triple_at_ = 0;
  bool has_events_ = false;
  std::optional<std::int64_t> base_time_, rank_;
  std::string problem_;
};

}  // namespace wicprof::imports
