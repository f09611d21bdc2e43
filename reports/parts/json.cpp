#include "reports/parts/json.h"

namespace wicprof::reports {

std::string json_document(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace wicprof::reports
