#include "reports/parts/hang.h"

#include <fmt/format.h>

#include "reports/parts/phrases.h"

namespace wicprof::reports {

Json hang_document(const std::string& text) {
  constexpr int kDeepest = 8;  // who writes a document out goes into it level by level
  Json document = Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; }, false);
  return document.is_object() ? document : Json(nullptr);
}

Json hang_causes(const TraceModel& model) {
  const Json document = hang_document(model.meta_value(store::MetaKey::stuck));
  if (document.is_null()) return nullptr;
  const auto causes = document.find("causes");
  return causes != document.end() && causes->is_array() && !causes->empty() ? *causes : Json(nullptr);
}

std::string cause_kind(const Json& cause) {
  return one_line(
      fmt::format("{} ({})", cause.at("kind").get<std::string>(), cause.at("confidence").get<std::string>()));
}

std::string cause_text(const Json& cause) { return one_line(cause.at("text").get<std::string>()); }

std::optional<Hang> hang_of(const TraceModel& model) {
  const Json causes = hang_causes(model);
  if (causes.is_null()) return std::nullopt;
  try {
    return Hang{cause_kind(causes.front()), cause_text(causes.front()), "wic-prof stuck " + trace_words(model)};
  } catch (const Json::exception&) {
    return std::nullopt;  // somebody has changed the trace
  }
}

}  // namespace wicprof::reports
