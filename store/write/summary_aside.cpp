#include "store/write/summary_aside.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace wicprof::store {

namespace {
constexpr std::chrono::milliseconds kLook{5};
constexpr int kAsideBusyMilliseconds = 5000;
constexpr int kNoMemory = 7;  // SQLITE_NOMEM
}  // namespace

std::unique_ptr<SummaryAside> SummaryAside::begin(const std::string& path) {
  std::unique_ptr<SummaryAside> aside(new SummaryAside);
  Database& database = aside->database_;
  if (database.open(path, OpenMode::read_only) != 0) return nullptr;
  database.set_busy_timeout(kAsideBusyMilliseconds);
  // The transaction sees the rows as they are now, whatever is written meanwhile.
  if (database.execute("BEGIN; SELECT count(*) FROM meta;") != 0) return nullptr;
  try {
    aside->thread_ = std::thread([to = aside.get()] { to->read(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return aside;
}

SummaryAside::~SummaryAside() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void SummaryAside::read() {
  int code = kNoMemory;
  try {
    code = summary_.read(database_, [this](double part) {
      part_ = part;
      return !stop_;
    });
  } catch (const std::exception&) {  // out of memory
  }
  const std::lock_guard lock(mutex_);
  code_ = code;
  ended_.notify_all();
}

std::optional<Summary> SummaryAside::finish(const SummaryWatch& goes_on) {
  {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kLook, [&] { return code_.has_value(); })) {
      lock.unlock();
      if (!goes_on(part_)) stop_ = true;
      lock.lock();
    }
  }
  thread_.join();
  database_.close();
  if (code_ != 0) return std::nullopt;
  return std::move(summary_);
}

}  // namespace wicprof::store
