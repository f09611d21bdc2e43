// Shared by the tests of the store: a temporary folder, events with simple values, a recorder.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/events/clock.h"
#include "protocol/events/device.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/text.h"
#include "protocol/events/wait.h"
#include "protocol/ring.h"
#include "store/read/reader.h"
#include "store/write/recorder.h"

namespace wicprof::store {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "wicprof-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path() const { return path_; }
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_contents(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A text as a ring holds it.
class Text {
 public:
  Text(TextId id, const std::string& text) : bytes_((sizeof(TextEvent) + text.size() + 7) / 8) {
    TextEvent event = make_event<TextEvent>();
    event.id = id;
    event.length = static_cast<std::uint32_t>(text.size());
    event.header.size = static_cast<std::uint16_t>(bytes_.size() * 8);
    std::memcpy(bytes_.data(), &event, sizeof event);
    std::memcpy(reinterpret_cast<char*>(bytes_.data()) + sizeof event, text.data(), text.size());
  }
  const EventHeader& header() const { return *reinterpret_cast<const EventHeader*>(bytes_.data()); }

 private:
  std::vector<std::uint64_t> bytes_;
};

/// A wait on the host clock; its iteration identifies it.
inline WaitEvent wait_event(std::uint32_t iteration, DeviceId device = kHostDevice) {
  WaitEvent event = make_event<WaitEvent>();
  event.site = 1;
  event.device = device;
  event.iteration = iteration;
  event.polls = iteration * 3;
  event.arrived_ns = 1'000'000 + iteration * 1000ull;
  event.resumed_ns = event.arrived_ns + 700;
  event.value = iteration + 1;
  return event;
}

inline SignalEvent signal_event(std::uint32_t iteration, std::uint64_t at_ns, DeviceId device = kHostDevice) {
  SignalEvent event = make_event<SignalEvent>();
  event.site = 1;
  event.device = device;
  event.iteration = iteration;
  event.value = iteration + 1;
  event.at_ns = at_ns;
  return event;
}

inline ClockEvent clock_event(DeviceId device, std::uint64_t device_ns, TimeNs host_ns, std::uint32_t error_ns) {
  ClockEvent event = make_event<ClockEvent>();
  event.device = device;
  event.device_ns = device_ns;
  event.host_ns = host_ns;
  event.error_ns = error_ns;
  return event;
}

inline RecorderOptions options_for(const std::string& path) {
  RecorderOptions options;
  options.path = path;
  return options;
}

/// The value of a stat row, or `otherwise` without such a row.
inline std::int64_t stat_value(const Reader& reader, const std::string& name, const std::string& detail = "",
                               std::int64_t otherwise = 0) {
  const auto stats = reader.stats();
  if (!stats) return otherwise;
  for (const StatRow& row : *stats) {
    if (row.name == name && (detail.empty() || row.detail == detail)) return row.value;
  }
  return otherwise;
}

/// A complete trace of `waits` waits.
inline void record_waits(const std::string& path, std::uint32_t waits) {
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  for (std::uint32_t i = 0; i < waits; ++i) recorder->add(0, wait_event(i).header);
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
}

}  // namespace wicprof::store
