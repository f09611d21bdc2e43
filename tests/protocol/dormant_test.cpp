#include "protocol/dormant.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "protocol/session.h"

namespace wicprof {
namespace {

class Dormant : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "wicprof-dormant-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static DormantPage page() {
    Result<DormantPage> made = DormantPage::create();
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  static void call(const DormantPage& page, const std::string& session) {
    const int file = open(page.path().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    const Result<> woken = wake_dormant(file, {session, "cuda,nvtx"});
    EXPECT_TRUE(woken) << woken.error().message;
    close(file);
  }

  std::string folder_;
};

TEST_F(Dormant, SleepsUntilItIsCalledAndAgain) {
  DormantPage page = Dormant::page();
  std::string heard;
  std::thread sleeper([&] {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(page.sleep());
      const Result<WakeRequest> request = page.request();
      ASSERT_TRUE(request) << request.error().message;
      EXPECT_EQ(request->trace, "cuda,nvtx");
      heard = request->session;
      if (heard == "/last.session") return;
    }
  });
  for (int i = 0; i < 50; ++i) call(page, "/" + std::to_string(i) + ".session");  // some of them before it looks
  call(page, "/last.session");
  sleeper.join();
  EXPECT_EQ(heard, "/last.session");
}

TEST_F(Dormant, HasAFileOfItsOwnersAlone) {
  std::string path;
  {
    DormantPage page = Dormant::page();
    path = page.path();
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const std::string prefix = folder_ + "/wic-prof/" + std::to_string(getpid()) + ".";
    EXPECT_EQ(path.substr(0, prefix.size()), prefix);
    EXPECT_FALSE(is_dormant_file_stale(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Dormant, WhoeverCutsOrReplacesTheFileEndsIt) {
  DormantPage page = Dormant::page();
  ASSERT_EQ(truncate(page.path().c_str(), 0), 0);
  EXPECT_FALSE(page.sleep());
  EXPECT_FALSE(page.request());
  DormantPage other = Dormant::page();
  call(other, "/a.session");
  ASSERT_TRUE(other.sleep());
  std::filesystem::rename(other.path(), other.path() + "x");
  std::filesystem::copy(other.path() + "x", other.path());
  EXPECT_FALSE(other.request());
}

TEST_F(Dormant, TextsThatDoNotFitAreRefused) {
  DormantPage page = Dormant::page();
  const int file = open(page.path().c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(wake_dormant(file, {std::string(5000, 'x'), "cuda"}));
  EXPECT_FALSE(wake_dormant(file, {"/a.session", std::string(5000, 'x')}));
  close(file);
}

TEST_F(Dormant, FilesOfEndedProgramsAreRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    DormantPage* const left = new DormantPage(page());  // as one that is killed
    _exit(left->path().empty() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto files = [&] {
    const std::filesystem::directory_iterator all(folder_ + "/wic-prof");
    return std::distance(begin(all), end(all));
  };
  DormantPage own = Dormant::page();
  EXPECT_EQ(files(), 2);
  ASSERT_TRUE(list_sessions());
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(std::filesystem::exists(own.path()));
}

TEST_F(Dormant, EmptyFilesOfProgramsThatEndedWhileTheyMadeThemAreRemoved) {
  const std::string path = page().path();  // gone by now
  for (const std::uintmax_t bytes : {0, 4096}) {
    std::ofstream(path).close();
    std::filesystem::resize_file(path, bytes);
    EXPECT_FALSE(is_dormant_file_stale(path)) << "its program may be about to write";
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
    EXPECT_TRUE(is_dormant_file_stale(path)) << bytes;
  }
  std::ofstream(path) << std::string(4096, 'x');  // of a version that is not known
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  EXPECT_FALSE(is_dormant_file_stale(path));
}

TEST_F(Dormant, AChildRemovesNothingAndHasNoPage) {
  DormantPage page = Dormant::page();
  const pid_t child = fork();
  if (child == 0) {
    page.remove_file();
    _exit(page.sleep() ? 1 : 0);  // the kernel finds no page
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(page.path()));
}

}  // namespace
}  // namespace wicprof
