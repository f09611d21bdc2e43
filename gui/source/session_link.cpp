#include "gui/source/session_link.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace wicprof::gui {

namespace {
// Not calibrated.
constexpr std::chrono::milliseconds kStatusTick{200};  // between two requests
constexpr int kMaxFailures = 3;                        // consecutive failures until the session counts as ended
}  // namespace

struct SessionLink::State {
  explicit State(SessionInfo info) : session(std::move(info)) {
    view.name = session.name;
    thread = std::thread([this] { run(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    thread.join();
  }

  void run() {
    int failures = 0;
    std::unique_lock lock(mutex);
    while (!stop) {
      while (asked < view.toggles.size() && !stop) {
        const ToggleRequest request = view.toggles[asked].request;
        lock.unlock();
        const Result<ToggleReply> reply = ask_toggle(session.socket_path, request);
        lock.lock();
        ToggleOutcome& outcome = view.toggles[asked++];
        if (reply) {
          outcome.reply = *reply;
        } else {
          outcome.error = reply.error();
        }
      }
      if (stop) return;
      if (const std::optional<AbRequest> wanted = std::exchange(ab_wanted, std::nullopt)) {
        lock.unlock();
        const Result<> begun = ask_ab(session.socket_path, *wanted);
        lock.lock();
        view.ab_error = begun ? std::nullopt : std::optional(begun.error());
      }
      lock.unlock();
      const Result<SessionStatus> status = ask_status(session.socket_path);
      lock.lock();
      if (status) {
        view.status = *status;
        failures = 0;
      } else if (++failures >= kMaxFailures) {
        view.ended = true;
        return fail_open_requests();
      }
      wake.wait_for(lock, kStatusTick, [this] { return stop || ab_wanted || asked < view.toggles.size(); });
    }
  }

  void fail_open_requests() {
    for (; asked < view.toggles.size(); ++asked)
      view.toggles[asked].error = bad_input("session '" + session.name + "' has ended");
  }

  const SessionInfo session;
  mutable std::mutex mutex;
  std::condition_variable wake;
  SessionView view;
  std::size_t asked = 0;
  std::optional<AbRequest> ab_wanted;
  bool stop = false;
  std::thread thread;  // last, because it uses all members above
};

SessionLink::SessionLink(SessionInfo session) : state_(std::make_unique<State>(std::move(session))) {}
SessionLink::~SessionLink() = default;

SessionView SessionLink::view() const {
  const std::lock_guard lock(state_->mutex);
  return state_->view;
}

std::size_t SessionLink::toggle(const ToggleRequest& request) {
  const std::lock_guard lock(state_->mutex);
  const std::size_t place = state_->view.toggles.size();
  state_->view.toggles.push_back({request, std::nullopt, std::nullopt});
  if (state_->view.ended) {
    state_->view.toggles.back().error = bad_input("session '" + state_->view.name + "' has ended");
  } else {
    state_->wake.notify_all();
  }
  return place;
}

void SessionLink::compare_modes(const AbRequest& request) {
  const std::lock_guard lock(state_->mutex);
  state_->view.ab_error.reset();
  state_->ab_wanted = request;
  state_->wake.notify_all();
}

}  // namespace wicprof::gui
