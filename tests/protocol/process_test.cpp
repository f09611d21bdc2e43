// The event that a producer writes about its process.
#include "protocol/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "protocol/shell_words.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof {
namespace {

constexpr const char* kVariables[] = {
    "OMPI_COMM_WORLD_RANK",       "PMIX_RANK",       "PMI_RANK",       "SLURM_PROCID",  "RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID", "LOCAL_RANK"};

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static ProcessEvent tell(const PlainRing& ring) {
    EventSink sink(ring.ring());
    write_process_event(sink);
    const auto events = ring.read().all<ProcessEvent>();
    return events.size() == 1 ? events[0] : ProcessEvent{};
  }
};

TEST_F(ProcessTest, DescribesTheProcess) {
  const PlainRing ring;
  EventSink sink(ring.ring());
  const TimeNs before = now_ns();
  write_process_event(sink);
  const Delivered got = ring.read();
  ASSERT_EQ(got.all<ProcessEvent>().size(), 1u);
  const ProcessEvent event = got.all<ProcessEvent>()[0];
  EXPECT_EQ(event.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(event.parent, static_cast<std::uint32_t>(getppid()));
  EXPECT_EQ(got.text(event.name), "protocol_process_test");
  EXPECT_NE(got.text(event.command).find("protocol_process_test"), std::string::npos);
  EXPECT_EQ(event.rank, -1);
  EXPECT_EQ(event.local_rank, -1);
  EXPECT_GE(event.seen_ns, before);
  EXPECT_LE(event.seen_ns, now_ns());
}

TEST_F(ProcessTest, KnowsTheRanksOfEveryLauncher) {
  const std::pair<const char*, const char*> launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                                           {"PMI_RANK", "MPI_LOCALRANKID"},
                                                           {"SLURM_PROCID", "SLURM_LOCALID"},
                                                           {"RANK", "LOCAL_RANK"}};
  for (const auto& [rank, local] : launchers) {
    SetUp();
    setenv(rank, "12", 1);
    setenv(local, "3", 1);
    const PlainRing ring;
    const ProcessEvent event = tell(ring);
    EXPECT_EQ(event.rank, 12) << rank;
    EXPECT_EQ(event.local_rank, 3) << local;
  }
}

TEST_F(ProcessTest, NonNumericRankIsNoRank) {
  for (const char* text : {"", "x", "1x", "-1", "99999999999999"}) {
    setenv("RANK", text, 1);
    const PlainRing ring;
    EXPECT_EQ(tell(ring).rank, -1) << text;
  }
}

TEST(CommandLine, QuotesTheProcessArguments) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "kill -STOP $$", "0 0", nullptr);
    _exit(1);
  }
  const TimeNs end = now_ns() + 60 * kSecond;
  std::string line;
  while ((line = command_line_of(static_cast<std::uint32_t>(child))) != "sh -c 'kill -STOP $$' '0 0'" && now_ns() < end)
    usleep(1000);
  EXPECT_EQ(line, "sh -c 'kill -STOP $$' '0 0'");
  EXPECT_FALSE(executable_name_of(static_cast<std::uint32_t>(child)).empty());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(command_line_of(static_cast<std::uint32_t>(child)), "");
}

TEST(ShellWord, QuotesWhatAShellInterprets) {
  EXPECT_EQ(shell_word("plain-1.0/x=y"), "plain-1.0/x=y");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace wicprof
