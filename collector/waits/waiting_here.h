// How a thread waits in a call's place.
#pragma once

#include <cstdint>
#include <optional>

#include "collector/program/pause.h"
#include "collector/waits/cpu_meter.h"
#include "collector/waits/host_control.h"
#include "collector/waits/others_work.h"
#include "collector/waits/parking.h"
#include "protocol/time.h"

namespace wicprof::collector {

/// Sleeps on the word that a toggle wakes.
class WaitingHere final : public Waiting {
 public:
  WaitingHere(const HostControl& control, std::uint32_t site, SleepLateness& sleeps, CpuMeter& meter,
              const OthersWork::Wait& others)
      : control_(control), site_(site), sleeps_(sleeps), meter_(meter), others_(others) {}
  StrategyId wanted() override {
    sequence_ = control_.sequence();  // before the question, so that no change is missed
    return control_.wanted(site_);
  }
  bool gives_way() override { return others_.has_to_go_on(); }
  void sleep(TimeNs time) override {
    if (!exact_) exact_.emplace();
    const TimeNs begin = now_ns();
    control_.sleep(sequence_, time);
    const TimeNs late = now_ns() - begin - time;
    if (late >= 0) sleeps_.sleep_ended(late, control_.costs().late);
    slept_ = true;
  }
  void pause() override { pause_briefly(); }
  void leaves() override {
    if (slept_) meter_.woke();
  }
  TimeNs now() override { return now_ns(); }

 private:
  const HostControl& control_;
  std::uint32_t site_;
  SleepLateness& sleeps_;
  CpuMeter& meter_;
  const OthersWork::Wait& others_;
  bool slept_ = false;
  std::uint32_t sequence_ = 0;
  std::optional<ExactSleeps> exact_;
};

}  // namespace wicprof::collector
