#include "src/runtime/producer_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/device/own_thread.h"

namespace wic {

namespace {
constexpr int kAskEveryMs = 20;
}

ProducerWatch::ProducerWatch(std::function<bool()> ask_devices) : ask_devices_(std::move(ask_devices)) {}

ProducerWatch::~ProducerWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) {
    wake();
    thread_.join();
  }
  for (const Process& process : processes_) close(process.fd);
  if (wake_fd_ >= 0) close(wake_fd_);
}

Result<> ProducerWatch::add_process(int pid, std::function<void()> ended) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) {
    return wicprof::bad_input("process " + std::to_string(pid) + " cannot be watched: " + std::strerror(errno));
  }
  const std::lock_guard lock(mutex_);
  processes_.push_back({fd, std::move(ended)});
  start();
  return wicprof::ok();
}

void ProducerWatch::start_asking() {
  const std::lock_guard lock(mutex_);
  asking_ = true;
  start();
}

void ProducerWatch::start() {
  if (!thread_.joinable()) {
    wake_fd_ = eventfd(0, EFD_CLOEXEC);
    thread_ = std::thread([this] { run(); });
  }
  wake();
}

void ProducerWatch::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void ProducerWatch::run() {
  enter_own_thread("wic-watch");
  std::vector<pollfd> fds;
  for (;;) {
    int timeout = -1;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      fds.assign(1, {wake_fd_, POLLIN, 0});
      for (const Process& process : processes_) fds.push_back({process.fd, POLLIN, 0});
      if (asking_ || wake_fd_ < 0) timeout = kAskEveryMs;
    }
    poll(fds.data(), fds.size(), timeout);
    if (fds[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = read(wake_fd_, &count, sizeof count);
    }
    std::vector<std::function<void()>> ended;
    bool ask = false;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      for (std::size_t i = 1; i < fds.size(); ++i) {
        if (fds[i].revents == 0) continue;
        const auto process = std::find_if(processes_.begin(), processes_.end(),
                                          [&](const Process& each) { return each.fd == fds[i].fd; });
        ended.push_back(std::move(process->ended));
        close(process->fd);
        processes_.erase(process);
      }
      ask = asking_;
      asking_ = false;  // a later start_asking() sets it again
    }
    for (const auto& act : ended) act();
    if (ask && ask_devices_()) {
      const std::lock_guard lock(mutex_);
      asking_ = true;
    }
  }
}

}  // namespace wic
