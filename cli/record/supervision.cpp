#include "cli/record/supervision.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/record/guarded.h"
#include "cli/record/stop_signal.h"
#include "cli/stacks/child_processes.h"
#include "cli/terminal/messages.h"
#include "protocol/environment.h"
#include "protocol/shell_words.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kGrace = 5 * kSecond;  // time that an interrupted program gets to end by itself
/// Collectors look every 100 ms, and CUPTI hands a buffer over once the work in it has ended.
constexpr TimeNs kHandOver = 250 * kMillisecond;
constexpr TimeNs kTick = 100 * kMillisecond;          // longest pause between checks
constexpr TimeNs kAttachTick = 5 * kMillisecond;      // same, while a schedule waits for the wic runtime
constexpr TimeNs kAbTick = 5 * kMillisecond;          // same, while both modes are compared: a phase takes 50 ms
constexpr TimeNs kAutopilotTick = 50 * kMillisecond;  // same, while the autopilot watches and measures nothing
constexpr TimeNs kApplyTimeout = 2 * kSecond;         // until a scheduled change counts as not applied
constexpr TimeNs kThreePresses = 2 * kSecond;         // in which three Ctrl-C kill a program that handles Ctrl-C itself

}  // namespace

Supervision::Supervision(RecordedProcess& app, const SessionMap& session, Switchboard& switchboard, const Drain& drain,
                         TerminalSignals& signals, CaptureWindow& window, AbRun& ab, AutoRun& autopilot,
                         OtherRoot& other_root, const RunPlan& plan, LastSight& sight, Triggers* triggers, pid_t helper)
    : app_(app),
      session_(session),
      switchboard_(switchboard),
      drain_(drain),
      signals_(signals),
      window_(window),
      ab_(ab),
      autopilot_(autopilot),
      other_root_(other_root),
      plan_(plan),
      sight_(sight),
      triggers_(triggers),
      helper_(helper),
      schedule_(plan.phases),
      progress_(!plan.quiet, now_ns()),
      long_wait_(session.open_work(), longest_wait()) {
  if (plan.time_limit > 0) limit_at_ = now_ns() + plan.time_limit;
  if (plan.attach_time > 0) limit_at_ = now_ns() + plan.attach_time;
}

std::optional<AppEnd> Supervision::until_end() noexcept {
  for (;;) {
    bool done = false;
    const bool fine = guarded("watching over the program", [&] {
      // Check before every wait: SIGCHLD only ends the wait early.
      done = over();
      if (!done) step();
    });
    if (done || left_running_) break;
    if (!fine) signals_.wait(kTick);
  }
  if (left_running_) sight_.end(LastSight::End::told);
  progress_.clear();
  return end_;
}

bool Supervision::over() {
  if (!end_ && !left_running_ && app_.has_left()) {
    left_running_ = true;
    say("the program is not recorded any more: wic-prof was stopped, or had no CPU for long, and its library has left");
  }
  if (!end_) {
    end_ = app_.ended();
    if (end_) {
      sight_.end(how_it_ended());
      ab_.program_ended(now_ns());
      autopilot_.program_ended();
    }
    if (end_ && plan_.wait_for_all && !left_behind().empty()) {
      if (ending_) {
        send(SIGTERM);
      } else if (!plan_.quiet) {
        tell("the program has ended; waiting for the processes that it has started (Ctrl-C ends them)");
      }
    }
  }
  const std::vector<pid_t> others = plan_.wait_for_all ? left_behind() : std::vector<pid_t>();
  return end_ && others.empty();
}

LastSight::End Supervision::how_it_ended() const {
  using enum LastSight::End;
  // Whoever ends a whole job may reach the program first.
  const std::optional<int> signal = end_->signal;
  if (interrupted_ || signal == SIGTERM || signal == SIGINT || signal == SIGHUP) return told;
  return end_->status == 0 ? well : failed;
}

void Supervision::step() {
  follow_window();
  follow_schedule();
  follow_ab();
  follow_autopilot();
  report_trouble();
  report_long_wait();
  if (!end_ && !ending_) sight_.follow(now_ns());
  report_dumps();
  progress_.show(drain_.progress(), switchboard_.wanted());
  if (limit_at_ && now_ns() >= *limit_at_) {
    limit_at_.reset();
    left_running_ = plan_.attach.has_value();
    if (left_running_) return;
    timed_out_ = true;
    say("the program has reached its time limit; ending it");
    end_program(SIGTERM);
  }
  if (end_with_ && now_ns() >= end_with_->at) {
    kill_at_ = now_ns() + kGrace;
    send(std::exchange(end_with_, std::nullopt)->signal);
  }
  if (kill_at_ && now_ns() >= *kill_at_) kill_program("it did not end within 5 s");
  if (const std::optional<TerminalSignals::Signal> signal = signals_.wait(pause())) take(*signal);
}

TimeNs Supervision::pause() const {
  TimeNs pause = kTick;
  if (const std::optional<TimeNs> next = window_.next()) pause = std::clamp<TimeNs>(*next - now_ns(), 0, kTick);
  if (const TimeNs attached = drain_.attached(); attached == 0) {
    if (!schedule_.finished()) pause = std::min(pause, kAttachTick);
  } else if (const std::optional<TimeNs> next = schedule_.next(attached)) {
    pause = std::min(pause, *next - now_ns());
  }
  if (ab_.running() || autopilot_.measures()) pause = std::min(pause, kAbTick);
  if (autopilot_.running()) pause = std::min(pause, kAutopilotTick);
  const std::optional<TimeNs> end_at = end_with_ ? std::optional(end_with_->at) : std::nullopt;
  for (const std::optional<TimeNs>& end : {kill_at_, limit_at_, end_at}) {
    if (end) pause = std::min(pause, *end - now_ns());
  }
  return pause;
}

void Supervision::follow_window() {
  const std::optional<std::string> done = window_.follow(now_ns());
  if (!done) return;
  const bool ends_program = window_.over() && plan_.stop_signal.value_or(kNoSignal) != kNoSignal;
  if (!plan_.quiet) tell(ends_program ? "recording ends, and so does the program" : *done);
  if (ends_program) end_as_planned(*plan_.stop_signal);
}

void Supervision::follow_schedule() {
  const TimeNs attached = drain_.attached();
  if (attached == 0) return;
  if (const std::optional<WantedWait> wait = schedule_.due(now_ns(), attached)) {
    sequence_ = switchboard_.request(*wait, plan_.side);
    apply_deadline_ = now_ns() + kApplyTimeout;
  }
  if (sequence_ && switchboard_.applied(*sequence_)) sequence_.reset();
  if (sequence_ && now_ns() >= apply_deadline_) {
    sequence_.reset();
    say("the program did not apply the scheduled change within 2 s; the request stays pending");
  }
}

void Supervision::follow_ab() {
  if (const std::optional<std::string> news = ab_.follow(now_ns(), drain_.attached()); news && !plan_.quiet) {
    tell(*news);
  }
  if (!ab_.ends_program() || ending_ || interrupted_) return;
  end_as_planned(plan_.stop_signal.value_or(SIGTERM));
}

void Supervision::follow_autopilot() {
  if (const std::optional<std::string> news = autopilot_.follow(now_ns(), drain_.attached()); news && !plan_.quiet)
    tell(*news);
}

void Supervision::report_trouble() {
  if (const std::string news = other_root_.news(); !news.empty()) say(news);
  const store::RecorderProgress progress = drain_.progress();
  if (progress.stopped.empty()) trouble_reported_ = false;  // also where another trace goes on
  if (trouble_reported_) return;
  if (progress.news != news_) {
    news_ = progress.news;
    if (!news_.empty()) say(news_);
  }
  const std::string& stopped = progress.stopped;
  if (stopped.empty()) return;
  trouble_reported_ = true;
  say("RECORDING STOPPED: " + stopped + ". The program continues; its later events count as lost");
}

void Supervision::report_long_wait() {
  if (plan_.quiet) return;
  if (const std::optional<std::string> news = long_wait_.news(now_ns())) {
    tell(fmt::format("{}; should the program hang, another terminal says why: wic-prof stuck --session {}", *news,
                     shell_word(session_.header().name)));
  }
}

void Supervision::report_dumps() {
  if (triggers_ == nullptr) return;
  for (const std::string& news : triggers_->take_news()) {
    if (!plan_.quiet) tell(news);
  }
}

void Supervision::say(const std::string& text) {
  progress_.clear();
  warn(text);
}

void Supervision::tell(const std::string& text) {
  progress_.clear();
  note(text);
}

void Supervision::take(const TerminalSignals::Signal& signal) {
  using Use = TerminalSignals::Use;
  // The program's own signals have reached whom they were sent to.
  if (signal.from_program && (signal.use == Use::ends_run || signal.use == Use::for_program)) return;
  if (const std::string rule = triggers_ != nullptr ? triggers_->rule_of(signal.number) : ""; !rule.empty()) {
    const Result<> asked = triggers_->request(rule, fmt::format("signal {}", strsignal(signal.number)), now_ns());
    return asked ? void() : tell(fmt::format("{}: {}", rule, asked.error().message));
  }
  switch (signal.use) {
    case TerminalSignals::Use::child_changed:
      return;
    case TerminalSignals::Use::for_program:
      // The kernel sends SIGXCPU to the process that used the time: wic-prof itself.
      if (signal.number == SIGXCPU && signal.from_kernel) return say("wic-prof has used its CPU time (ulimit -t)");
      return pass_on(signal);
    case TerminalSignals::Use::stops:
      return stop_both(signal);
    case TerminalSignals::Use::continues:
      return;  // stop_both() has returned
    case TerminalSignals::Use::ends_run:
      return interrupt(signal);
  }
}

void Supervision::stop_both(const TerminalSignals::Signal& signal) {
  progress_.clear();
  if (plan_.attach) return signals_.stop_here();  // the program is not ours to stop
  const bool reached = signal.from_terminal || signal.from_program;
  const bool alone = !reached || end_ || !app_.shares_terminal_signals();
  // In a session of its own, a program that does not handle SIGTSTP ignores it.
  if (alone) send(!end_ && app_.handles(SIGTSTP) ? SIGTSTP : SIGSTOP);
  signals_.stop_here();
  if (alone) send(SIGCONT);
}

void Supervision::interrupt(const TerminalSignals::Signal& signal) {
  if (plan_.stop_signal == kNoSignal) {
    interrupted_ = signal.number;
    left_running_ = true;
    if (plan_.attach && plan_.quiet) return;
    return tell(fmt::format("{}: recording ends; the program goes on", strsignal(signal.number)));
  }
  if (ending_) {
    if (signal.number == SIGINT) kill_program("interrupted again");
    return;
  }
  interrupted_ = signal.number;
  // A REPL or a debugger: Ctrl-C interrupts its current command, and it goes on.
  if (signal.number == SIGINT && signal.from_terminal && !plan_.stop_signal && !end_ && app_.handles(SIGINT)) {
    if (is_third_press()) {
      ending_ = true;
      return kill_program("Ctrl-C came three times");
    }
    if (!said_may_go_on_) tell("the program handles Ctrl-C itself; three Ctrl-C within 2 s kill it");
    said_may_go_on_ = true;
    return pass_on(signal);
  }
  sight_.end(LastSight::End::told);
  tell(fmt::format("{}: ending the program; the trace is kept", strsignal(signal.number)));
  if (plan_.stop_signal) return end_program(*plan_.stop_signal);
  ending_ = true;
  kill_at_ = now_ns() + kGrace;
  pass_on(signal);
}

bool Supervision::is_third_press() {
  const TimeNs now = now_ns();
  const bool third = presses_[0] != 0 && now - presses_[0] <= kThreePresses;
  presses_ = {presses_[1], now};
  return third;
}

/// Unless the terminal has sent it to the program, too.
void Supervision::pass_on(const TerminalSignals::Signal& signal) {
  if (plan_.attach) return;  // nobody took wic-prof for it
  if (!signal.from_terminal || end_ || !app_.shares_terminal_signals()) send(signal.number);
}

void Supervision::end_program(int signal) {
  if (ending_) return;
  sight_.end(LastSight::End::told);
  ending_ = true;
  kill_at_ = now_ns() + kGrace;
  send(signal);
}

/// A program that dies by a signal would take along what CUPTI has not handed over. Where the user or a time limit ends
/// the program, recording goes on, since what the program does until its end is part of the answer.
void Supervision::end_as_planned(int signal) {
  if (ending_) return;
  sight_.end(LastSight::End::told);
  ending_ = ended_as_planned_ = true;
  window_.close();
  end_with_ = {signal, now_ns() + kHandOver};
}

void Supervision::kill_program(const char* why) {
  // What the program leaves behind is killed as it appears.
  if (plan_.wait_for_all) {
    kill_at_ = now_ns() + kTick;
  } else {
    kill_at_.reset();
  }
  say(fmt::format("killing the program: {}", why));
  send(SIGKILL);
}

/// To the program; once it has ended, to what it left behind.
void Supervision::send(int signal) {
  if (!end_) {
    kill(app_.pid(), signal);
    return;
  }
  for (const pid_t pid : left_behind()) kill(pid, signal);
}

/// The living processes that became wic-prof's children. Waits for the ended ones.
std::vector<pid_t> Supervision::left_behind() {
  std::vector<pid_t> living;
  const Result<std::vector<pid_t>> children = child_processes(getpid());
  if (!children) return living;
  for (const pid_t pid : *children) {
    if (pid == app_.pid() || pid == helper_) continue;
    if (waitpid(pid, nullptr, WNOHANG) == 0) living.push_back(pid);
  }
  return living;
}

}  // namespace wicprof::cli
