// A disk that fills up while recording: a real small file system, and a limit on the trace's size.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/store/support.h"

namespace wicprof::store {
namespace {

// A file system of `size`, mounted during the object's lifetime.
class SmallDisk {
 public:
  explicit SmallDisk(const char* size) {
    if (mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, (std::string("size=") + size).c_str()) != 0) error_ = errno;
  }
  ~SmallDisk() {
    if (error_ == 0) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  int error() const { return error_; }
  std::string operator/(const std::string& file) const { return folder_ / file; }
  std::string path() const { return folder_.path(); }

 private:
  TempFolder folder_;
  int error_ = 0;
};

#define SKIP_WITHOUT(disk)                                                                                   \
  if ((disk).error() != 0) {                                                                                 \
    GTEST_SKIP() << "mounting a small file system is not permitted here: " << std::strerror((disk).error()); \
  }

// Checks a trace that could not hold all of `sent` waits.
void expect_readable(const std::string& path, Recorder& recorder, std::uint32_t sent) {
  const RecorderProgress progress = recorder.progress();
  ASSERT_FALSE(progress.stopped.empty());
  EXPECT_NE(progress.stopped.find(path), std::string::npos) << progress.stopped;
  EXPECT_NE(progress.stopped.find("; "), std::string::npos) << progress.stopped;
  EXPECT_EQ(progress.waits + progress.lost, sent);
  recorder.set_meta(store::MetaKey::app_status, "5");

  const Result<> done = recorder.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unavailable);
  EXPECT_NE(done.error().message.find(path), std::string::npos) << done.error().message;
  EXPECT_NE(done.error().message.find(std::to_string(progress.lost)), std::string::npos) << done.error().message;

  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto waits = reader->rows<WaitTable>();
  ASSERT_TRUE(waits) << waits.error().message;
  EXPECT_EQ(waits->size(), progress.waits);
  EXPECT_GT(waits->size(), 1000u);
  for (std::size_t i = 0; i < waits->size(); ++i) ASSERT_EQ(waits->at(i).iteration, i);
  EXPECT_EQ(stat_value(*reader, "store_lost") + static_cast<std::int64_t>(waits->size()), sent);
  EXPECT_EQ(stat_value(*reader, "store_stopped"), 1);
  EXPECT_EQ(stat_value(*reader, "not_matched"), 1);
  EXPECT_EQ(reader->meta()->at("state"), "complete");
  EXPECT_EQ(reader->meta()->at("app_status"), "5");
}

TEST(DiskFull, StopsCountsAndStaysReadable) {
  for (const char* size : {"1m", "2m", "5m", "20m"}) {
    const SmallDisk disk(size);
    SKIP_WITHOUT(disk);
    const std::string path = disk / "trace.wicprof";
    Result<Recorder> recorder = Recorder::create(options_for(path));
    ASSERT_TRUE(recorder) << recorder.error().message;
    constexpr std::uint32_t kWaits = 500'000;
    for (std::uint32_t i = 0; i < kWaits; ++i) recorder->add(0, wait_event(i).header);
    expect_readable(path, *recorder, kWaits);
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(disk.path())) files.push_back(entry.path().filename());
    EXPECT_EQ(files, std::vector<std::string>{"trace.wicprof"}) << size;
  }
}

TEST(DiskFull, FilledByAnotherProgram) {
  const SmallDisk disk("8m");
  SKIP_WITHOUT(disk);
  const std::string path = disk / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  std::uint32_t sent = 0;
  for (; sent < 30'000; ++sent) recorder->add(0, wait_event(sent).header);
  ASSERT_EQ(recorder->progress().stopped, "");
  {
    std::ofstream filler(disk / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (filler.write(block.data(), 4096).flush()) {
    }
  }
  for (; sent < 200'000; ++sent) recorder->add(0, wait_event(sent).header);
  expect_readable(path, *recorder, sent);
}

TEST(DiskFull, TooFullToBegin) {
  const SmallDisk disk("300k");
  SKIP_WITHOUT(disk);
  const Result<Recorder> recorder = Recorder::create(options_for(disk / "trace.wicprof"));
  ASSERT_FALSE(recorder);
  EXPECT_EQ(recorder.error().kind, ErrorKind::unavailable);
  EXPECT_NE(recorder.error().message.find(disk / "trace.wicprof"), std::string::npos) << recorder.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(disk.path()));
}

// Enough space for the rows but not for what finish() adds: the rows stay, the rest is reported as missing.
TEST(DiskFull, NoSpaceForTheIndexes) {
  const SmallDisk disk("16m");
  SKIP_WITHOUT(disk);
  const std::string path = disk / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  constexpr std::uint32_t kWaits = 100'000;
  for (std::uint32_t i = 0; i < kWaits; ++i) recorder->add(0, wait_event(i).header);
  {
    // The log keeps its size, so only a little is left beyond it.
    std::ofstream filler(disk / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (filler.write(block.data(), 4096).flush()) {
    }
  }
  ASSERT_EQ(recorder->progress().stopped, "");
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->rows<WaitTable>()->size(), kWaits);
  EXPECT_EQ(reader->meta()->at("state"), "complete");
  EXPECT_EQ(stat_value(*reader, "not_indexed"), 1);
}

TEST(DiskFull, ObeysALimitOnTheSize) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  RecorderOptions options = options_for(path);
  options.max_bytes = 3 << 20;
  Result<Recorder> recorder = Recorder::create(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  constexpr std::uint32_t kWaits = 200'000;
  for (std::uint32_t i = 0; i < kWaits; ++i) recorder->add(0, wait_event(i).header);
  expect_readable(path, *recorder, kWaits);
  EXPECT_LT(std::filesystem::file_size(path), options.max_bytes + (256 << 10));
  EXPECT_GT(std::filesystem::file_size(path), options.max_bytes / 3);
}

TEST(DiskFull, HeldDeviceEventsAreCountedOnce) {
  const TempFolder folder;
  RecorderOptions options = options_for(folder / "trace.wicprof");
  options.max_bytes = 1 << 20;
  Result<Recorder> recorder = Recorder::create(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  constexpr std::uint32_t kWaits = 60'000;
  for (std::uint32_t i = 0; i < kWaits; ++i) recorder->add(0, wait_event(i, 0).header);
  recorder->add(0, clock_event(0, 1, 1'000, 10).header);
  const RecorderProgress progress = recorder->progress();
  EXPECT_FALSE(progress.stopped.empty());
  EXPECT_EQ(progress.waits + progress.lost, kWaits + (progress.events == progress.waits ? 1 : 0));
}

}  // namespace
}  // namespace wicprof::store
