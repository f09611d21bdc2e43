// A recorder killed with SIGKILL at any moment: all committed rows are present, in order and without gaps.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store/support.h"

namespace wicprof::store {
namespace {

// Records without end, and writes to the pipe how many waits are certainly committed.
[[noreturn]] void record_until_killed(const std::string& path, int report) {
  Result<Recorder> recorder = Recorder::create(options_for(path));
  if (!recorder) _exit(1);
  recorder->set_ring_dropped(0, 41, 0);
  for (std::uint32_t i = 0;; ++i) {
    recorder->add(0, wait_event(i).header);
    if (i % 20'000 == 19'999) {
      if (write(report, &i, sizeof i) != sizeof i) _exit(1);
    }
  }
}

TEST(KillTest, CommittedRowsSurvive) {
  for (int round = 0; round < 4; ++round) {
    const TempFolder folder;
    const std::string path = folder / "trace.wicprof";
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) record_until_killed(path, pipe_ends[1]);
    close(pipe_ends[1]);
    std::uint32_t reported = 0;
    for (int i = 0; i <= round * 3; ++i) ASSERT_EQ(read(pipe_ends[0], &reported, sizeof reported), 4);
    usleep(static_cast<useconds_t>(round) * 7'000);  // at some point of the next batch
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    close(pipe_ends[0]);

    {
      const Result<Reader> reader = Reader::open(path);
      ASSERT_TRUE(reader) << reader.error().message;
      EXPECT_EQ(reader->meta()->at("state"), "recording");
      const auto waits = reader->rows<WaitTable>();
      ASSERT_TRUE(waits) << waits.error().message;
      // The report comes when a batch is full, one row before or at its commit.
      ASSERT_GE(waits->size() + 20'000, reported);
      ASSERT_GE(waits->size(), 19'000u);
      for (std::size_t i = 0; i < waits->size(); ++i) ASSERT_EQ(waits->at(i).iteration, i);
      EXPECT_EQ(stat_value(*reader, "ring_dropped", "ring 0"), 41);
      EXPECT_EQ(stat_value(*reader, "waits"), static_cast<std::int64_t>(waits->size()));
    }
    // Opening the trace has folded its log: only the one file is left.
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      files.push_back(entry.path().filename());
    EXPECT_EQ(files, std::vector<std::string>{"trace.wicprof"});
  }
}

TEST(KillTest, TheTraceOfALiveRecorderIsNotFolded) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) record_until_killed(path, pipe_ends[1]);
  std::uint32_t reported = 0;
  std::size_t last = 0;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(read(pipe_ends[0], &reported, sizeof reported), 4);
    const Result<Reader> reader = Reader::open(path);
    ASSERT_TRUE(reader) << reader.error().message;
    const auto waits = reader->rows<WaitTable>();
    ASSERT_TRUE(waits) << waits.error().message;
    EXPECT_GE(waits->size(), last);
    last = waits->size();
    EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace wicprof::store
