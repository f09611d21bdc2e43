// The event that a producer writes about its process.
#include "protocol/process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "protocol/file_text.h"
#include "protocol/shell_words.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof {
namespace {

constexpr const char* kVariables[] = {"OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "PMIX_RANK",
                                      "PMIX_NAMESPACE",
                                      "PMI_LOCAL_RANK",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "MPI_LOCALRANKID",
                                      "SLURM_PROCID",
                                      "SLURM_NTASKS",
                                      "SLURM_LOCALID",
                                      "SLURM_JOB_ID",
                                      "PBS_JOBID",
                                      "LSB_JOBID",
                                      "RANK",
                                      "WORLD_SIZE",
                                      "LOCAL_RANK",
                                      "TORCHELASTIC_RUN_ID"};

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

TEST_F(ProcessTest, KnowsWhatEveryLauncherSays) {
  struct Case {
    const char *rank, *ranks, *local, *job;
  };
  const Case launchers[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "SLURM_JOB_ID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
      {"RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"}};
  for (const Case& launcher : launchers) {
    SetUp();
    setenv(launcher.rank, "12", 1);
    setenv(launcher.ranks, "16", 1);
    setenv(launcher.local, "3", 1);
    setenv(launcher.job, "a job", 1);
    const PlainRing ring;
    EventSink sink(ring.ring());
    write_process_event(sink);
    const Delivered got = ring.read();
    const ProcessEvent event = got.all<ProcessEvent>().at(0);
    EXPECT_EQ(event.rank, 12) << launcher.rank;
    EXPECT_EQ(event.ranks, 16) << launcher.rank;
    EXPECT_EQ(event.local_rank, 3) << launcher.rank;
    EXPECT_EQ(got.text(event.job), "a job") << launcher.rank;
  }
}

TEST_F(ProcessTest, TheInnerOfTwoLaunchersCounts) {
  setenv("SLURM_PROCID", "0", 1);
  setenv("SLURM_NTASKS", "1", 1);
  setenv("RANK", "5", 1);
  setenv("WORLD_SIZE", "8", 1);
  const PlainRing srun;
  EXPECT_EQ(tell(srun).rank, 0) << "a program's own RANK";
  setenv("TORCHELASTIC_RUN_ID", "none", 1);
  const PlainRing torchrun;
  EXPECT_EQ(tell(torchrun).rank, 5);
  unsetenv("TORCHELASTIC_RUN_ID");
  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  const PlainRing mpirun;
  EXPECT_EQ(tell(mpirun).rank, 7);
}

TEST(Launch, IsReadFromTheEnvironmentOfAnotherProcess) {
  using namespace std::literals;
  const Launch launch = read_launch("A=1\0XPMI_RANK=9\0PMI_RANK=2\0PMI_SIZE=4\0MPI_LOCALRANKID=1\0"sv);
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.job, "");
  const Launch pmi_of_srun = read_launch("PMI_RANK=2\0PMI_SIZE=4\0SLURM_PROCID=2\0SLURM_LOCALID=0\0SLURM_JOB_ID=7\0"sv);
  EXPECT_EQ(pmi_of_srun.local_rank, 0);
  EXPECT_EQ(pmi_of_srun.job, "7");
  EXPECT_EQ(read_launch("PMI_RANK=2\0SLURM_PROCID=0\0SLURM_LOCALID=1\0"sv).local_rank, -1) << "of another launcher";
  EXPECT_EQ(read_launch(""sv).rank, -1);
  EXPECT_EQ(read_launch("PMI_RANK=3"sv).rank, 3);
  EXPECT_EQ(read_launch("PMI_RANK"sv).rank, -1);
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

TEST(FileTextTest, IsEmptyWhereAReadFails) {
  EXPECT_EQ(file_text("/proc/self/mem"), "");  // its first page is not mapped: the read fails, as of one that has ended
  EXPECT_EQ(file_text("/no/such/file"), "");
  EXPECT_EQ(file_text("/proc/self"), "");
  EXPECT_NE(file_text("/proc/self/stat"), "");
}

}  // namespace
}  // namespace wicprof
