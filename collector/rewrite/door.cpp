#include "collector/rewrite/door.h"

#include <chrono>
#include <thread>

#include "collector/program/own_thread.h"
#include "collector/rewrite/own_modules.h"

namespace wicprof::collector {

namespace {

// A driver takes machine code in a tenth of a millisecond, and compiles a few lines in some; a program's load waits for
// the answer.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

const void* Door::answer(const void* image) {
  const OwnModule asked = asked_module(), answer = answer_module();
  if (image == nullptr || (image != asked.machine_code && image != asked.ptx)) return nullptr;
  seen_ = true;
  return image == asked.ptx ? answer.ptx : answer.machine_code;
}

void Door::ask(const RewriteDriver& driver) {
  std::string problem;
  CUlibrary library = nullptr;
  const CUresult loaded = load_own(driver, asked_module(), library);
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

std::string Door::problem(const RewriteDriver& driver) {
  std::unique_lock lock(mutex_);
  if (!begun_) {
    begun_ = true;
    if (!driver.complete()) {
      problem_ = "the driver is older than CUDA 12, or incomplete";
      done_ = true;
    } else {
      // Detached: if the driver does not answer, the program goes on without us. The object is never destroyed then.
      std::thread asks = start_own_thread([this, &driver] { ask(driver); });
      if (asks.joinable()) {
        asks.detach();
      } else {
        problem_ = refused_thread("nobody asks whether this driver takes patched code");
        done_ = true;
      }
    }
  }
  if (!asked_.wait_for(lock, kPatience, [this] { return done_; })) return "the driver did not answer in time";
  return problem_;
}

}  // namespace wicprof::collector
