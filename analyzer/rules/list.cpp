#include "analyzer/rules/list.h"

#include <array>

namespace wicprof::analyzer {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::critical:
      return "critical";
    case Severity::warning:
      return "warning";
    case Severity::info:
      break;
  }
  return "info";
}

std::span<const Rule> rules() {
  static constexpr std::array kRules{
      Rule{"data_lost", "records were lost, so results are uncertain", data_lost},
      Rule{"deadline_missed", "waits gave up before they were released", deadline_missed},
      Rule{"hot_word", "many waiters at once poll one word", hot_word},
      Rule{"no_gain", "waits that cost nothing, where parking gains nothing", no_gain},
      Rule{"host_spin", "host threads that burn CPU time while they wait", host_spin},
      Rule{"host_polls_queries", "host threads that ask the GPU again and again whether it is done", host_polls_queries},
      Rule{"host_descheduled", "host threads that were ready to run but had no CPU", host_descheduled},
      Rule{"polling_kernel", "kernels that poll, told from samples of program counters", polling_kernel},
  };
  return kRules;
}

}  // namespace wicprof::analyzer
