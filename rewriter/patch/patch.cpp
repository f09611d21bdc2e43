#include "rewriter/patch/patch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace wicprof::rewriter {

namespace {

// What the patch inserts stands between these. The original contains neither, because it contains no kMark.
constexpr std::string_view kMark = "__wic_";
constexpr std::string_view kBegin = "/*__wic_begin*/";
constexpr std::string_view kEnd = "/*__wic_end*/";

// nanosleep needs sm_70 and version 6.3 of the language.
constexpr int kFirstArchitecture = 70;
constexpr int kFirstMajor = 6, kFirstMinor = 3;

/// FNV-1a, 64 bits. The table's name must differ from that of other modules that are linked with this one.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

struct Insertion {
  std::size_t at = 0;  ///< byte of the original
  std::string text;
};

std::string marked(const std::string& text) { return std::string(kBegin) + text + std::string(kEnd); }

// Registers of a patched function. They are the thread's own, so that no two threads disturb each other:
//   %__wic_n  rounds of this wait; a visit looks at the control word at each multiple of kRoundsPerRead
//   %__wic_s  the last pause of this wait, in ns; 0: none
//   %__wic_t  when the wait's first visit was that could pause, in ns; 0: none yet
//   %__wic_l  when the last visit was, in ns
constexpr std::string_view kRegisters = "\n.reg .b32 %__wic_n, %__wic_s;\n.reg .b64 %__wic_t, %__wic_l;\n";
constexpr std::string_view kReset =
    "\nmov.b32 %__wic_n, 0;\nmov.b32 %__wic_s, 0;\nmov.b64 %__wic_t, 0;\nmov.b64 %__wic_l, 0;\n";

/// A word of the site in the module's own memory.
std::string here(const Site& site, const std::string& table, std::size_t offset) {
  return "[" + table + "+" + std::to_string(sizeof(ModuleWords) + site.number * sizeof(DeviceWords) + offset) + "]";
}

/// A word of the site in the memory that the host reads and writes.
std::string there(const Site& site, std::size_t offset) {
  return "[%__wic_a+" + std::to_string(site.number * sizeof(SiteWords) + offset) + "]";
}

std::string to_host(const Site& site, const std::string& table, std::size_t from, std::size_t to) {
  return "ld.volatile.global.u64 %__wic_d, " + here(site, table, from) + ";\nst.volatile.global.u64 " +
         there(site, to) + ", %__wic_d;\n";
}

/// %__wic_r becomes the control word as the module has it. One thread at a time and per kLookEveryNs reads the host's
/// first: hundreds of readers of one host line wait for each other.
std::string read_control(const Site& site, const std::string& table) {
  const std::string number = std::to_string(site.number), known = "$__wic_known_" + number;
  const std::string look = here(site, table, offsetof(DeviceWords, look_ns));
  std::string text = "ld.volatile.global.u32 %__wic_r, " + here(site, table, offsetof(DeviceWords, control)) + ";\n";
  text += "ld.volatile.global.u64 %__wic_d, " + look + ";\nmov.u64 %__wic_now, %globaltimer;\n";
  text += "setp.lt.u64 %__wic_p, %__wic_now, %__wic_d;\n@%__wic_p bra " + known + ";\n";
  text += "add.u64 %__wic_f, %__wic_now, " + std::to_string(kLookEveryNs) + ";\n";
  text += "atom.global.cas.b64 %__wic_f, " + look + ", %__wic_d, %__wic_f;\n";
  text += "setp.ne.b64 %__wic_p, %__wic_f, %__wic_d;\n@%__wic_p bra " + known + ";\n";
  text += "ld.volatile.global.u32 %__wic_r, " + there(site, offsetof(SiteWords, control)) + ";\n";
  text += "st.volatile.global.u32 " + here(site, table, offsetof(DeviceWords, control)) + ", %__wic_r;\n";
  text += "setp.ge.s32 %__wic_p, %__wic_r, 0;\n@%__wic_p bra " + known + ";\n";
  text += to_host(site, table, offsetof(DeviceWords, waits), offsetof(SiteWords, waits));
  text += to_host(site, table, offsetof(DeviceWords, rounds), offsetof(SiteWords, rounds));
  text += to_host(site, table, offsetof(DeviceWords, ns), offsetof(SiteWords, ns));
  return text + known + ":\n";
}

/// Adds the rounds and the time since the last visit; the first visit of a wait adds the wait.
std::string count(const Site& site, const std::string& table) {
  const std::string number = std::to_string(site.number);
  const std::string again = "$__wic_again_" + number, counted = "$__wic_counted_" + number;
  std::string text = "setp.ge.s32 %__wic_p, %__wic_r, 0;\n@%__wic_p bra " + counted + ";\n";
  text += "setp.ne.b32 %__wic_p, %__wic_s, 0;\n";
  text += "selp.b64 %__wic_d, 1, " + std::to_string(kRoundsPerRead) + ", %__wic_p;\n";
  text += "red.global.add.u64 " + here(site, table, offsetof(DeviceWords, rounds)) + ", %__wic_d;\n";
  text += "setp.ne.b64 %__wic_p, %__wic_l, 0;\n@%__wic_p bra " + again + ";\n";
  text += "red.global.add.u64 " + here(site, table, offsetof(DeviceWords, waits)) + ", 1;\nbra " + counted + ";\n";
  text += again + ":\nsub.u64 %__wic_d, %__wic_now, %__wic_l;\n";
  text += "red.global.add.u64 " + here(site, table, offsetof(DeviceWords, ns)) + ", %__wic_d;\n";
  return text + counted + ":\n";
}

/// %__wic_s becomes the pause that this visit makes: a share of the wait so far; where a round takes long, since others
/// queue at the word, twice the last pause at least. Never more than the control word in %__wic_r allows.
std::string choose_pause(const Site& site, const std::string& skip) {
  const std::string number = std::to_string(site.number);
  const std::string first = "$__wic_first_" + number, later = "$__wic_later_" + number;
  const std::uint32_t longest = site.loop->pause == Pause::brief ? kLongestBriefPause : kLongestPause;
  std::string text = "and.b32 %__wic_r, %__wic_r, 0x7fffffff;\n";
  text += "min.u32 %__wic_r, %__wic_r, " + std::to_string(longest) + ";\n";
  text += "sub.u64 %__wic_d, %__wic_now, %__wic_l;\nmov.b64 %__wic_l, %__wic_now;\n";
  text += "setp.eq.b64 %__wic_p, %__wic_t, 0;\n@%__wic_p bra " + first + ";\n";
  text += "setp.le.u64 %__wic_p, %__wic_d, " + std::to_string(kLongestGapNs) + ";\n@%__wic_p bra " + later + ";\n";
  text += first + ":\nmov.b64 %__wic_t, %__wic_now;\nmov.b32 %__wic_s, 0;\nbra " + skip + ";\n";
  // A sleep lasts up to twice as long as asked for: what is left of the time since the last visit is the round's.
  text += later + ":\nmul.wide.u32 %__wic_f, %__wic_s, 2;\nmin.u64 %__wic_f, %__wic_f, %__wic_d;\n";
  text += "sub.u64 %__wic_d, %__wic_d, %__wic_f;\nsetp.eq.b32 %__wic_p, %__wic_s, 0;\n";
  text += "@%__wic_p shr.u64 %__wic_d, %__wic_d, " + std::to_string(kRoundsPerReadLog2) + ";\n";
  text +=
      "sub.u64 %__wic_f, %__wic_now, %__wic_t;\nshr.u64 %__wic_f, %__wic_f, " + std::to_string(kPauseShareLog2) + ";\n";
  text += "min.u64 %__wic_f, %__wic_f, " + std::to_string(kLongestPause) + ";\ncvt.u32.u64 %__wic_e, %__wic_f;\n";
  text += "setp.gt.u64 %__wic_p, %__wic_d, " + std::to_string(kSlowRoundNs) + ";\n";
  text += "@%__wic_p shl.b32 %__wic_s, %__wic_s, 1;\n@%__wic_p max.u32 %__wic_s, %__wic_s, " +
          std::to_string(kFirstPause) + ";\n@%__wic_p max.u32 %__wic_e, %__wic_e, %__wic_s;\n";
  text += "min.u32 %__wic_s, %__wic_e, %__wic_r;\n";
  text += "setp.ge.u32 %__wic_p, %__wic_s, " + std::to_string(kFirstPause) + ";\n";
  return text + "@!%__wic_p mov.b32 %__wic_s, 0;\n@!%__wic_p bra " + skip + ";\n";
}

std::string visit(const Site& site, const std::string& table, std::string_view guard, bool guard_negated) {
  const std::string skip = "$__wic_go_on_" + std::to_string(site.number);
  std::string text =
      "\n{\n.reg .pred %__wic_p;\n.reg .b32 %__wic_r, %__wic_e;\n"
      ".reg .b64 %__wic_a, %__wic_d, %__wic_f, %__wic_now;\n";
  if (!guard.empty()) text += std::string(guard_negated ? "@" : "@!") + std::string(guard) + " bra " + skip + ";\n";
  text += "add.u32 %__wic_n, %__wic_n, 1;\n";
  text += "and.b32 %__wic_r, %__wic_n, " + std::to_string(kRoundsPerRead - 1) + ";\n";
  text += "setp.ne.b32 %__wic_p, %__wic_r, 0;\n@%__wic_p bra " + skip + ";\n";
  text += "ld.volatile.global.u64 %__wic_a, [" + table + "];\n";
  text += "setp.eq.b64 %__wic_p, %__wic_a, 0;\n@%__wic_p bra " + skip + ";\n";
  text += read_control(site, table) + count(site, table);
  if (site.loop->pause == Pause::none) return text + "mov.b64 %__wic_l, %__wic_now;\n" + skip + ":\n}\n";
  text += choose_pause(site, skip);
  // The next round adds 1 and has its visit again.
  text += "mov.b32 %__wic_n, " + std::to_string(kRoundsPerRead - 1) + ";\n";
  return text + "nanosleep.u32 %__wic_s;\n" + skip + ":\n}\n";
}

/// Where the visit stands, and under which guard.
Insertion place_visit(const Function& function, const Site& site, const std::string& table) {
  const Statement& statement = function.statements[site.loop->back_edge];
  if (site.loop->falls_through) return {statement.range.end, marked(visit(site, table, {}, false))};
  return {statement.range.begin, marked(visit(site, table, statement.guard, statement.guard_negated))};
}

/// Before the loop's first label stands the beginning of a wait, for threads that come from above. Those that come by a
/// branch go on with the numbers of the wait before.
Insertion place_reset(const Function& function, const Site& site) {
  return {function.statements[site.loop->header].range.begin, marked(std::string(kReset))};
}

}  // namespace

Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts) {
  if (module.text.find(kMark) != std::string_view::npos) {
    return bad_input("the module uses names that begin with " + std::string(kMark) + ": perhaps it is patched already");
  }
  if (module.target_architecture < kFirstArchitecture || !module.is_64_bit ||
      std::pair(module.version_major, module.version_minor) < std::pair(kFirstMajor, kFirstMinor)) {
    return bad_input("the module is for " + std::string(module.target) +
                     "; a patch needs sm_70 or later, 64-bit addresses and version 6.3 of PTX or later");
  }
  Patch patch;
  char name[40];
  std::snprintf(name, sizeof name, "__wic_sites_%016llx", static_cast<unsigned long long>(hash_of(module.text)));
  patch.table = name;
  std::vector<Insertion> insertions;
  for (const FunctionVerdicts& verdict : verdicts) {
    const std::size_t before = patch.sites.size();
    for (const LoopVerdict& loop : verdict.loops) {
      if (loop.verdict != Verdict::wait) continue;
      patch.sites.push_back({patch.sites.size(), verdict.function->name, &loop});
      insertions.push_back(place_visit(*verdict.function, patch.sites.back(), patch.table));
      const StatementKind first = verdict.function->statements[loop.header].kind;
      if (first == StatementKind::label) insertions.push_back(place_reset(*verdict.function, patch.sites.back()));
    }
    if (patch.sites.size() == before) continue;
    insertions.push_back({verdict.function->body.begin + 1, marked(std::string(kRegisters) + std::string(kReset))});
  }
  if (!patch.sites.empty()) {
    const std::size_t bytes = sizeof(ModuleWords) + patch.sites.size() * sizeof(DeviceWords);
    insertions.push_back({module.after_header, marked("\n.visible .global .align 64 .b8 " + patch.table + "[" +
                                                      std::to_string(bytes) + "];\n")});
  }
  std::stable_sort(insertions.begin(), insertions.end(),
                   [](const Insertion& a, const Insertion& b) { return a.at < b.at; });
  std::size_t copied = 0;
  for (const Insertion& insertion : insertions) {
    patch.text += module.text.substr(copied, insertion.at - copied);
    patch.text += insertion.text;
    copied = insertion.at;
  }
  patch.text += module.text.substr(copied);
  return patch;
}

std::string strip(std::string_view text) {
  std::string original;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    original += text.substr(0, begin);
    if (begin == std::string_view::npos) return original;
    const std::size_t end = text.find(kEnd, begin);
    if (end == std::string_view::npos) return original;
    text.remove_prefix(end + kEnd.size());
  }
}

}  // namespace wicprof::rewriter
