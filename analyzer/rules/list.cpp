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
      Rule{"host_polls_queries", "host threads that ask the GPU again and again whether it is done",
           host_polls_queries},
      Rule{"host_descheduled", "host threads that were ready to run but had no CPU", host_descheduled},
      Rule{"polling_kernel", "kernels that poll, told from samples of program counters", polling_kernel},
      Rule{"shared_host_line", "many waiters on words in host memory, where the declaration does not show it",
           shared_host_line},
      Rule{"atomic_polls", "polling by atomic operations", atomic_polls},
      Rule{"early_polling", "polling beside work of the same iteration that is not done yet", early_polling},
      Rule{"late_wake", "waiters that go on long after they were released", late_wake},
      Rule{"exposed_transfer", "copies during which the device computes nothing", exposed_transfer},
      Rule{"managed_ping_pong", "pages of managed memory that go to and fro", managed_ping_pong},
      Rule{"module_loading", "code that is loaded while kernels run", module_loading},
      Rule{"co_residency", "waiting kernels of which not all blocks fit the device at once", co_residency},
      Rule{"underfilled_wave", "a last wave that leaves the device half empty and keeps the next kernel out",
           underfilled_wave},
  };
  return kRules;
}

}  // namespace wicprof::analyzer
