#include "collector/rewrite/door.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace wicprof::collector {

namespace {

// A driver that compiles a few lines needs milliseconds; a program's load waits for the answer.
constexpr std::chrono::seconds kPatience{5};

// Two modules that differ in the name of their only kernel. The oldest target that a patch works on.
constexpr char kAsked[] = ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry __wic_asked()\n{\nret;\n}\n";
constexpr char kAnswer[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry __wic_answer()\n{\nret;\n}\n";

}  // namespace

const void* Door::answer(const void* image) {
  if (image != kAsked) return nullptr;
  seen_ = true;
  return kAnswer;
}

void Door::ask(const RewriteDriver& driver) {
  std::string problem;
  CUlibrary library = nullptr;
  const CUresult loaded = driver.library_load(&library, kAsked, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (loaded != CUDA_SUCCESS) {
    problem = "the driver refused a module of ours (error " + std::to_string(loaded) + ")";
  } else {
    CUkernel kernel = nullptr;
    if (!seen_) {
      problem = "CUPTI made no callback at the load of a module";
    } else if (driver.library_kernel(&kernel, library, "__wic_answer") != CUDA_SUCCESS) {
      problem = "this driver does not take the image that a callback names";
    }
    driver.library_unload(library);
  }
  const std::lock_guard lock(mutex_);
  problem_ = problem;
  done_ = true;
  asked_.notify_all();
}

void Door::begin(const RewriteDriver& driver) {
  if (begun_) return;
  begun_ = true;
  if (!driver.complete()) {
    problem_ = "the driver is older than CUDA 12, or incomplete";
    done_ = true;
    return;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread takes no signals of the program
  // Detached: if the driver does not answer, the program goes on without us. The object is never destroyed then.
  std::thread([this, &driver] { ask(driver); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Door::ask_early(const RewriteDriver& driver) {
  const std::lock_guard lock(mutex_);
  begin(driver);
}

std::string Door::problem(const RewriteDriver& driver) {
  std::unique_lock lock(mutex_);
  begin(driver);
  if (!asked_.wait_for(lock, kPatience, [this] { return done_; })) return "the driver did not answer in time";
  return problem_;
}

}  // namespace wicprof::collector
