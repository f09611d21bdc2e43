// The look of the HTML report. Its colours are css_variables() of analyzer/colours.h.
#pragma once

#include <string_view>

namespace wicprof::analyzer {

inline constexpr std::string_view kHtmlStyle = R"css(
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans",
  "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 48px; }
header { margin-bottom: 16px; }
h1 { font-size: 22px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 10px; }
h3 { font-size: 13px; margin: 18px 0 6px; color: var(--faint); font-weight: 600; }
p { margin: 6px 0; }
code { font: 12.5px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px 18px; margin: 0 0 16px; }
.faint { color: var(--faint); } .small { font-size: 12.5px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 8px 0 0; }
.facts dt { color: var(--faint); display: inline; } .facts dd { display: inline; margin: 0 0 0 6px; overflow-wrap: anywhere; }
.loss { background: var(--bad-soft); border-color: var(--bad); } .loss h2 { color: var(--bad); } .loss ul { margin: 0; padding-left: 20px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: 12.5px; border-bottom: 1px solid var(--line); }
th, td { padding: 5px 12px 5px 0; vertical-align: baseline; } td { border-bottom: 1px solid var(--line); }
th.n, td.n { text-align: right; white-space: nowrap; } th:last-child, td:last-child { padding-right: 0; }
tr:last-child td { border-bottom: 0; } td.name { overflow-wrap: anywhere; min-width: 160px; }
tr.sub td { color: var(--faint); border-bottom-style: dotted; } tr.sub td.name { padding-left: 18px; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 4px 0 12px; }
.tile { flex: 1 1 180px; border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.tile b { display: block; font-size: 24px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile.poll { border-top: 4px solid var(--poll); } .tile.park { border-top: 4px solid var(--park); } .tile.ratio { border-top: 4px solid var(--mark); }
.badge { display: inline-block; border-radius: 4px; padding: 1px 8px; font-size: 12.5px; font-weight: 600; background: var(--lane); }
.badge.good { color: var(--good); background: var(--good-soft); } .badge.bad { color: var(--bad); background: var(--bad-soft); }
.badge.warn { color: var(--warn); background: var(--warn-soft); }
.finding { border-top: 1px solid var(--line); padding: 10px 0; } .finding:first-of-type { border-top: 0; padding-top: 0; }
.finding p { margin: 3px 0; } .finding dl { display: grid; grid-template-columns: 64px 1fr; gap: 2px 0; margin: 4px 0 0; }
.finding dt { color: var(--faint); } .finding dd { margin: 0; overflow-wrap: anywhere; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 12.5px; color: var(--faint); margin: 6px 0 0; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px; vertical-align: -1px; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, "Noto Sans", "DejaVu Sans", sans-serif; fill: var(--faint); }
svg .strong { fill: var(--text); font-weight: 600; } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .cut { stroke: var(--mark); stroke-width: 1; stroke-dasharray: 4 3; } svg .lane { fill: var(--lane); }
svg .poll { fill: var(--poll); } svg .park { fill: var(--park); } svg .host { fill: var(--host); } svg .kernel { fill: var(--kernel); }
svg .spread { opacity: .25; } svg .mid { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
svg .mid.poll { stroke: var(--poll); fill: none; } svg .mid.park { stroke: var(--park); fill: none; }
footer { color: var(--faint); font-size: 12.5px; }
@media print { body { background: #fff; } main { max-width: none; padding: 0; } section { break-inside: avoid; border-color: #bbb; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } }
)css";

}  // namespace wicprof::analyzer
