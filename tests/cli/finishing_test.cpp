// What the user sees and can do while the recorder completes the trace: progress, Ctrl-C, the deadline.
#include "cli/record/finishing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace wicprof::cli {
namespace {

using store::FinishStep;

/// stderr as a file or a terminal of the test's own, while the object lives.
class Stderr {
 public:
  enum class Kind { file, terminal };
  explicit Stderr(Kind kind) : kept_(dup(STDERR_FILENO)) {
    int end = -1;
    if (kind == Kind::terminal) {
      mine_ = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
      if (mine_ < 0 || grantpt(mine_) != 0 || unlockpt(mine_) != 0) std::abort();
      end = open(ptsname(mine_), O_RDWR | O_NOCTTY);
    } else {
      int ends[2] = {-1, -1};
      if (pipe2(ends, O_NONBLOCK) != 0) std::abort();
      mine_ = ends[0];
      end = ends[1];
    }
    dup2(end, STDERR_FILENO);
    close(end);
  }
  ~Stderr() {
    dup2(kept_, STDERR_FILENO);
    close(kept_);
    close(mine_);
  }
  /// What was written since the last call.
  std::string text() const {
    std::string all;
    char bytes[4096];
    for (ssize_t n = 0; (n = read(mine_, bytes, sizeof bytes)) > 0;) all.append(bytes, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int kept_, mine_ = -1;
};

class FinishingTest : public testing::Test {
 protected:
  Finishing make(TimeNs recorded, bool quiet = false) {
    return Finishing(signals_, recorded, quiet, [this] { return now_; });
  }
  static void press(int number) { ASSERT_EQ(kill(getpid(), number), 0); }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  TerminalSignals signals_;  // blocks the signals that the tests send
  TimeNs now_ = 1000 * kSecond;
};

struct Step {
  FinishStep step;
  const char* name;
};
constexpr Step kSteps[] = {{FinishStep::matching, "matching waits with signals"},
                           {FinishStep::indexing, "making indexes"},
                           {FinishStep::summarising, "making summaries"}};

TEST_F(FinishingTest, GoesOnUndisturbed) {
  const Stderr err(Stderr::Kind::file);
  Finishing finishing = make(kSecond);
  for (const auto& [step, name] : kSteps) EXPECT_TRUE(finishing.goes_on(step, 0.5));
  now_ += 50 * kSecond;
  for (const auto& [step, name] : kSteps) EXPECT_TRUE(finishing.goes_on(step, std::nullopt));
  EXPECT_EQ(err.text(), "");  // no progress: not a terminal
}

TEST_F(FinishingTest, ShortRecordingsHaveAMinute) {
  const Stderr err(Stderr::Kind::file);
  Finishing finishing = make(kSecond);
  now_ += 60 * kSecond - 1;
  EXPECT_TRUE(finishing.goes_on(FinishStep::indexing, std::nullopt));
  now_ += 1;
  EXPECT_FALSE(finishing.goes_on(FinishStep::indexing, std::nullopt));
  EXPECT_TRUE(has(err.text(), "making indexes takes too long"));
  for (const auto& [step, name] : kSteps) EXPECT_FALSE(finishing.goes_on(step, std::nullopt));
  EXPECT_EQ(err.text(), "");  // said once
}

TEST_F(FinishingTest, LongRecordingsHaveTheirOwnLength) {
  const Stderr err(Stderr::Kind::file);
  Finishing finishing = make(600 * kSecond);
  now_ += 600 * kSecond - 1;
  EXPECT_TRUE(finishing.goes_on(FinishStep::summarising, 0.1));
  now_ += 1;
  EXPECT_FALSE(finishing.goes_on(FinishStep::summarising, 0.1));
  EXPECT_TRUE(has(err.text(), "making summaries takes too long"));
}

TEST_F(FinishingTest, TheFirstCtrlCGivesUpTheSummariesOnly) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Stderr err(Stderr::Kind::file);
    Finishing finishing = make(kSecond);
    press(number);
    EXPECT_TRUE(finishing.goes_on(FinishStep::matching, std::nullopt)) << number;
    EXPECT_TRUE(has(err.text(), "without its summaries"));
    EXPECT_TRUE(finishing.goes_on(FinishStep::indexing, std::nullopt));
    EXPECT_FALSE(finishing.goes_on(FinishStep::summarising, 0.5));
    EXPECT_EQ(err.text(), "");
  }
}

TEST_F(FinishingTest, TheSecondCtrlCGivesUpEverythingThatTakesLong) {
  const Stderr err(Stderr::Kind::file);
  Finishing finishing = make(kSecond);
  press(SIGINT);
  EXPECT_TRUE(finishing.goes_on(FinishStep::matching, std::nullopt));
  press(SIGINT);
  for (const auto& [step, name] : kSteps) EXPECT_FALSE(finishing.goes_on(step, std::nullopt));
  EXPECT_TRUE(has(err.text(), "interrupted again"));
  press(SIGINT);
  EXPECT_FALSE(finishing.goes_on(FinishStep::indexing, std::nullopt));
}

TEST_F(FinishingTest, OtherSignalsChangeNothing) {
  const Stderr err(Stderr::Kind::file);
  Finishing finishing = make(kSecond);
  for (const int number : {SIGQUIT, SIGUSR1, SIGTSTP, SIGCHLD, SIGWINCH}) press(number);
  for (const auto& [step, name] : kSteps) EXPECT_TRUE(finishing.goes_on(step, std::nullopt));
  EXPECT_EQ(err.text(), "");
}

TEST_F(FinishingTest, ATerminalShowsTheStepAfterASecondAndIsCleared) {
  const Stderr err(Stderr::Kind::terminal);
  {
    Finishing finishing = make(kSecond);
    EXPECT_TRUE(finishing.goes_on(FinishStep::matching, std::nullopt));
    now_ += kSecond - 1;
    EXPECT_TRUE(finishing.goes_on(FinishStep::matching, std::nullopt));
    EXPECT_EQ(err.text(), "");  // a small trace shows nothing
    now_ += 1;
    for (const auto& [step, name] : kSteps) {
      EXPECT_TRUE(finishing.goes_on(step, step == FinishStep::summarising ? std::optional(0.42) : std::nullopt));
      const std::string shown = err.text();
      EXPECT_TRUE(has(shown, name)) << shown;
      EXPECT_EQ(has(shown, "42 %"), step == FinishStep::summarising) << shown;
      EXPECT_FALSE(has(shown, "\n")) << shown;
      EXPECT_TRUE(finishing.goes_on(step, 0.5));
      EXPECT_EQ(err.text(), "");  // four times per second, no more often
      now_ += kSecond / 4;
    }
  }
  EXPECT_TRUE(has(err.text(), "\r\033[K"));
}

TEST_F(FinishingTest, QuietShowsNoProgressAndStillSaysWhatIsMissing) {
  const Stderr err(Stderr::Kind::terminal);
  {
    Finishing finishing = make(kSecond, true);
    now_ += 10 * kSecond;
    EXPECT_TRUE(finishing.goes_on(FinishStep::summarising, 0.5));
    EXPECT_EQ(err.text(), "");
    press(SIGINT);
    EXPECT_FALSE(finishing.goes_on(FinishStep::summarising, 0.5));
    EXPECT_TRUE(has(err.text(), "without its summaries"));
  }
}

}  // namespace
}  // namespace wicprof::cli
