#include "gui/window/fonts.h"

#include <array>
#include <filesystem>
#include <string>

namespace wicprof::gui {

namespace {

constexpr const char* kFolder = "/usr/share/fonts/";
// Regular and bold of each family; Roboto and DejaVu have digits of equal width, which align in columns.
constexpr std::array<std::array<const char*, 2>, 4> kText{{
    {"truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf", "truetype/roboto/unhinted/RobotoTTF/Roboto-Bold.ttf"},
    {"truetype/dejavu/DejaVuSans.ttf", "truetype/dejavu/DejaVuSans-Bold.ttf"},
    {"truetype/noto/NotoSans-Regular.ttf", "truetype/noto/NotoSans-Bold.ttf"},
    {"truetype/liberation/LiberationSans-Regular.ttf", "truetype/liberation/LiberationSans-Bold.ttf"},
}};
constexpr std::array kMono{"truetype/dejavu/DejaVuSansMono.ttf", "truetype/liberation/LiberationMono-Regular.ttf"};
constexpr const char* kSymbols = "truetype/dejavu/DejaVuSans.ttf";

// Latin with extensions, Greek, punctuation; and the symbols: arrows, mathematical operators, triangles.
constexpr ImWchar kTextRange[] = {0x20, 0x24f, 0x370, 0x3ff, 0x2010, 0x2027, 0};
constexpr ImWchar kSymbolRange[] = {0x2190, 0x21ff, 0x2200, 0x22ff, 0x25a0, 0x25ff, 0};

bool installed(const char* name) {
  std::error_code error;
  return std::filesystem::is_regular_file(std::string(kFolder) + name, error);
}

ImFont* load(const char* name, float size, bool symbols) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFontConfig config;
  config.OversampleH = 2;
  config.OversampleV = 1;
  if (name == nullptr) {
    config.SizePixels = size;
    return atlas->AddFontDefault(&config);
  }
  ImFont* font = atlas->AddFontFromFileTTF((std::string(kFolder) + name).c_str(), size, &config, kTextRange);
  if (symbols && installed(kSymbols)) {
    ImFontConfig merge;
    merge.MergeMode = true;
    atlas->AddFontFromFileTTF((std::string(kFolder) + kSymbols).c_str(), size, &merge, kSymbolRange);
  }
  return font;
}

}  // namespace

void load_fonts(Ui& ui) {
  ImGui::GetIO().Fonts->Clear();
  const char* regular = nullptr;
  const char* bold = nullptr;
  for (const auto& [text, strong] : kText) {
    if (!installed(text) || !installed(strong)) continue;
    regular = text;
    bold = strong;
    break;
  }
  const char* mono = nullptr;
  for (const char* name : kMono) {
    if (mono == nullptr && installed(name)) mono = name;
  }
  ui.regular = load(regular, ui.px(15), true);
  ui.bold = load(bold, ui.px(15), true);
  ui.large = load(bold, ui.px(20), false);
  ui.small = load(regular, ui.px(13), true);
  ui.mono = load(mono != nullptr ? mono : regular, ui.px(13), false);
}

}  // namespace wicprof::gui
