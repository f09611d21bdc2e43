// The keys of the table `meta`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wicprof::store {

enum class MetaKey : std::uint8_t {
  app,
  command,
  session,
  pid,
  attached,
  host,
  started_ns,
  started_utc,
  ended_ns,
  state,
  app_status,
  app_signal,
  mode,
  schedule,
  ab_phases,
  ab_seed,
  ab_end,
  ab_precision,
  ab_warm_up,
  ab_placebo,
  ab_side,
  ab_quota_period_ns,
  wic_prof_version,
  trace,
  rewrite,
  sass_missing,
  open_work,
  host_wake_ns,
  imported_from,
  imported_files,
  capture_delay_ns,
  capture_duration_ns,
  capture_from_ns,
  capture_until_ns,
  capture_ranges,
  capture_windows,
  capture_keep_last_ns,
  segment,
  capture_segment_ns,
  capture_segment_bytes,
  capture_triggers,
  dump_rule,
  dump_why,
  dump_at_ns,
  dump_at_utc,
  dump_value_ns,
  dump_limit_ns,
  dump_suppressed,
  digest_of,
};

struct MetaKeyText {
  std::string_view name, meaning;
};

/// By key; docs/schema.md has the same rows.
inline constexpr std::array kMetaKeys{
    MetaKeyText{"app", "name of the program's file"},
    MetaKeyText{"command", "the program and its arguments, as a shell takes them"},
    MetaKeyText{"session", "name of the session"},
    MetaKeyText{"pid", "process that wic-prof started, or attached to"},
    MetaKeyText{"attached", "1: the program ran before the recording (`wic-prof attach`)"},
    MetaKeyText{"host", "name of the machine"},
    MetaKeyText{"started_ns", "begin of the recording, ns of the trace's clock"},
    MetaKeyText{"started_utc", "the same as a date"},
    MetaKeyText{"ended_ns", "end of the recording, ns"},
    MetaKeyText{"state", "`recording` or `complete`"},
    MetaKeyText{"app_status", "exit status of the program"},
    MetaKeyText{"app_signal", "signal that ended the program"},
    MetaKeyText{"mode", "mode at the begin: `poll` or `park`"},
    MetaKeyText{"schedule", "text of `--schedule`"},
    MetaKeyText{"ab_phases", "phases of `--ab`, see below"},
    MetaKeyText{"ab_seed", "seed of their order"},
    MetaKeyText{"ab_end", "what ended the comparison"},
    MetaKeyText{"ab_precision", "`--precision`, as a share"},
    MetaKeyText{"ab_warm_up", "`steady` or `not steady`: the iterations before the first phase"},
    MetaKeyText{"ab_placebo", "1: `--placebo` was given"},
    MetaKeyText{"ab_side", "whose waits were compared"},
    MetaKeyText{"ab_quota_period_ns", "period of the CPU quota under which the phases were chosen, ns"},
    MetaKeyText{"wic_prof_version", "version of the recorder"},
    MetaKeyText{"trace", "sources of `--trace`"},
    MetaKeyText{"rewrite", "1: `--rewrite` was given"},
    MetaKeyText{"sass_missing", "why sampled functions have no machine code"},
    MetaKeyText{"open_work",
                "what the processes were in at the end, as JSON, for `wic-prof stuck`: of ranks, and of a program that "
                "hung"},
    MetaKeyText{"host_wake_ns", "what waking a host thread takes, ns"},
    MetaKeyText{"imported_from", "of an imported trace: the tools and their versions"},
    MetaKeyText{"imported_files", "of an imported trace: the number of files"},
    MetaKeyText{"capture_delay_ns", "`--delay`, ns"},
    MetaKeyText{"capture_duration_ns", "`--duration`, ns"},
    MetaKeyText{"capture_from_ns", "begin of the captured part, ns of the trace's clock"},
    MetaKeyText{"capture_until_ns", "its end, ns"},
    MetaKeyText{"capture_ranges", "`--capture-range`"},
    MetaKeyText{"capture_windows", "number of parts that were captured"},
    MetaKeyText{"capture_keep_last_ns", "`--keep-last`, ns"},
    MetaKeyText{"segment", "number of the segment, from 1"},
    MetaKeyText{"capture_segment_ns", "`--segment` as a time, ns"},
    MetaKeyText{"capture_segment_bytes", "`--segment` as a size, bytes"},
    MetaKeyText{"capture_triggers", "`--trigger`, all rules"},
    MetaKeyText{"dump_rule",
                "of a dump: the rule of `--trigger`, `dump` for a request, `end` for what was left at the end"},
    MetaKeyText{"dump_why", "what held, in words"},
    MetaKeyText{"dump_at_ns", "when that was noticed, ns of the trace's clock"},
    MetaKeyText{"dump_at_utc", "the same as a date"},
    MetaKeyText{"dump_value_ns", "the length that was over the rule's limit, ns"},
    MetaKeyText{"dump_limit_ns", "that limit, ns"},
    MetaKeyText{"dump_suppressed", "times that a rule held since the dump before without a dump of its own"},
    MetaKeyText{"digest_of", "of a digest: the trace's file"},
};
static_assert(kMetaKeys.size() == static_cast<std::size_t>(MetaKey::digest_of) + 1);

constexpr std::string_view name_of(MetaKey key) { return kMetaKeys[static_cast<std::size_t>(key)].name; }

}  // namespace wicprof::store
