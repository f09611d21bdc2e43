// The verbs, in the order of the help text. A new one: its file in this folder, and its line here.
#pragma once

#include <array>

#include "cli/commands/command.h"

namespace wicprof::cli {

VerbBody declare_run(CLI::App& verb, const ProgramWords& program);
VerbBody declare_sessions(CLI::App& verb, const ProgramWords& program);
VerbBody declare_toggle(CLI::App& verb, const ProgramWords& program);
VerbBody declare_analyze(CLI::App& verb, const ProgramWords& program);
VerbBody declare_compare(CLI::App& verb, const ProgramWords& program);
VerbBody declare_report(CLI::App& verb, const ProgramWords& program);
VerbBody declare_gui(CLI::App& verb, const ProgramWords& program);
VerbBody declare_ci(CLI::App& verb, const ProgramWords& program);
VerbBody declare_doctor(CLI::App& verb, const ProgramWords& program);
VerbBody declare_demo(CLI::App& verb, const ProgramWords& program);

inline constexpr std::array kCommands{
    Command{"run", "launch a program, record it, sum it up", declare_run},
    Command{"sessions", "list the running sessions", declare_sessions},
    Command{"toggle", "change how a running program waits", declare_toggle},
    Command{"analyze", "waits, classification and findings of a trace", declare_analyze},
    Command{"compare", "before and after, inside one trace or between two", declare_compare},
    Command{"report", "write a report about a trace", declare_report},
    Command{"gui", "browse traces, live or recorded, and flip the toggle", declare_gui},
    Command{"ci", "repeated runs against limits, for build services", declare_ci},
    Command{"doctor", "what this machine can and cannot do", declare_doctor},
    Command{"demo", "poll against park on a bundled sample", declare_demo},
};

}  // namespace wicprof::cli
