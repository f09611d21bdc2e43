// The verbs, in the order of the help text.
//
// To add a verb, write its file beside this one and add one line below. The file defines
// `template <> VerbBody declare<struct NewVerb>(CLI::App& verb, const ProgramWords& program)`.
#pragma once

#include "cli/commands/command.h"

namespace wicprof::cli {

inline constexpr Command kCommands[] = {
    {"run", "launch a program, record it, summarize the result", declare<struct RunVerb>},
    {"attach", "record a program that runs already, and let it go on", declare<struct AttachVerb>},
    {"why", "why a program is slow, with the remedy tried", declare<struct WhyVerb>},
    {"sessions", "list the running sessions", declare<struct SessionsVerb>},
    {"toggle", "change how a running program waits", declare<struct ToggleVerb>},
    {"dump", "write a trace of a running program's last minutes", declare<struct DumpVerb>},
    {"stuck", "what a program waits for, when it hangs", declare<struct StuckVerb>},
    {"analyze", "waits, classification and findings of a trace", declare<struct AnalyzeVerb>},
    {"compare", "before and after, inside one trace or between two", declare<struct CompareVerb>},
    {"report", "write a report about a trace", declare<struct ReportVerb>},
    {"digest", "a small file of a rank's trace, to be analyzed with those of others", declare<struct DigestVerb>},
    {"import", "make a trace of what Nsight Systems or PyTorch recorded", declare<struct ImportVerb>},
    {"gui", "browse traces, live or recorded, and toggle the mode", declare<struct GuiVerb>},
    {"ci", "repeated runs against limits, for build services", declare<struct CiVerb>},
    {"rewrite", "which loops of a PTX text wait, and the text with their patch", declare<struct RewriteVerb>},
    {"explain", "what a word in the outputs means", declare<struct ExplainVerb>},
    {"doctor", "what this machine can and cannot do", declare<struct DoctorVerb>},
    {"demo", "poll against park on a bundled sample", declare<struct DemoVerb>},
    {"help", "the options of a verb", declare<struct HelpVerb>},
    {"generate", "man pages and completions", declare<struct GenerateVerb>},
};

}  // namespace wicprof::cli
