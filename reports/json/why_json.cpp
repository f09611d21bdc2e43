#include "reports/json/why_json.h"

#include "reports/json/values.h"

namespace wicprof::reports {

std::string why_json(const Why& why, const Comparison* comparison, const std::vector<std::string>& traces) {
  Json value = {{"answer", why.paragraph()}, {"sentences", Json::array()}};
  for (const WhySentence& sentence : why.sentences) {
    value["sentences"].push_back({{"about", sentence.about}, {"text", sentence.text}, {"backed_by", sentence.backing}});
  }
  value["cause"] = why.cause != nullptr ? finding_value(*why.cause) : Json(nullptr);
  value["tried"] = why.tried != nullptr ? finding_value(*why.tried) : Json(nullptr);
  value["comparison"] = comparison != nullptr ? comparison_value(*comparison) : Json(nullptr);
  value["command"] = why.command.empty() ? Json(nullptr) : Json(why.command);
  value["traces"] = traces;
  return json_document(value);
}

}  // namespace wicprof::reports
