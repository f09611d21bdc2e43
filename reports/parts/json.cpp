#include "reports/parts/json.h"

#include <string_view>

namespace wicprof::reports {

std::string dump_json(const Json& json, int indent) {
  std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  // JSON itself allows the control characters from U+007F to U+009F, which lie in strings only.
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t at = 0; (at = text.find_first_of("\x7f\xc2", at)) != std::string::npos; ++at) {
    const bool is_delete = text[at] == '\x7f';
    const auto code = static_cast<unsigned char>(is_delete ? 0x7f : text[at + 1]);
    if (code >= 0xa0) continue;
    const char escaped[] = {'\\', 'u', '0', '0', kDigits[code >> 4], kDigits[code & 15]};
    text.replace(at, is_delete ? 1 : 2, escaped, sizeof escaped);
  }
  return text;
}

}  // namespace wicprof::reports
