#include "collector/dormant.h"

#include <pthread.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "collector/injection.h"
#include "collector/program/own_thread.h"
#include "collector/program/without_forks.h"
#include "protocol/dormant.h"

namespace wicprof::collector {

namespace {

// The thread sleeps, and starts another for each recording, whose work needs more.
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

DormantPage* page = nullptr;  // never destroyed: the thread sleeps on it until the program ends

void* sleep_and_serve(void*) {
  pthread_setname_np(pthread_self(), "wicprof-dormant");
  try {
    while (page->sleep()) {
      const Result<WakeRequest> request = page->request();
      if (!request) break;  // nobody can call any more
      std::thread recording = start_own_thread([&request] { record_request(*request); });
      if (recording.joinable()) recording.join();
    }
  } catch (const std::exception&) {  // no memory: nobody can attach any more
  }
  return nullptr;
}

bool start_small_thread() {
  const WithoutSignals without;
  pthread_attr_t small;
  if (pthread_attr_init(&small) != 0) return false;
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const bool sized = pthread_attr_setstacksize(&small, kStackBytes) == 0;
  bool started = sized && pthread_create(&thread, &small, sleep_and_serve, nullptr) == 0;
  if (!started) {  // variables of threads may need more than that
    pthread_attr_t usual;
    pthread_attr_init(&usual);
    pthread_attr_setdetachstate(&usual, PTHREAD_CREATE_DETACHED);
    started = pthread_create(&thread, &usual, sleep_and_serve, nullptr) == 0;
    pthread_attr_destroy(&usual);
  }
  pthread_attr_destroy(&small);
  return started;
}

void remove_page() noexcept {
  if (page != nullptr) page->remove_file();
}

}  // namespace

void wait_to_be_woken() noexcept try {
  if (getauxval(AT_SECURE) != 0) return;  // its rights are not those of whoever may write the page
  WithoutForks::prepare();
  Result<DormantPage> made = DormantPage::create();
  if (!made) return;
  page = new DormantPage(*std::move(made));
  if (start_small_thread()) {
    std::atexit(remove_page);
  } else {
    delete std::exchange(page, nullptr);
  }
} catch (const std::exception&) {  // no memory
}

}  // namespace wicprof::collector
