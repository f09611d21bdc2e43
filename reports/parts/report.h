// What every report format takes, and how a format describes itself.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analyzer/analysis.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports {

/// A trace and what the analyzer found in it. The comparison may be absent.
struct ReportInput {
  const TraceModel& model;
  const Analysis& analysis;
  const Comparison* comparison = nullptr;
  const TraceModel* before = nullptr;          ///< the first trace, in a comparison of two traces
  std::shared_ptr<const FigureTrace> drawn{};  ///< what figures and timelines are made of; made anew if absent
};

struct Format {
  std::string_view name;    ///< the value of --format
  std::string_view ending;  ///< of the names of such files
  std::string_view what;    ///< a remark for the help text; may be empty
  std::string (*render)(const ReportInput& input);
  bool is_binary = false;
  bool of_digests = false;  ///< whether it shows what digests have
  bool draws = false;       ///< whether it uses ReportInput::drawn
};

/// Renders the whole report as one document; text ends with a newline. Declared only: each format's file specializes
/// it for the format's tag, which reports/render.cpp names.
template <class Tag>
std::string render_as(const ReportInput& input);

}  // namespace wicprof::reports
