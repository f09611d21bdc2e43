#include "cli/stacks/python_stacks.h"

#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "cli/stacks/mapped_object.h"
#include "cli/stacks/python_lines.h"
#include "protocol/python_layout.h"

namespace wicprof::cli {

namespace {

// What is there may be half changed: no list is followed further.
constexpr int kMostInterpreters = 16, kMostThreads = 4096, kMostFrames = 1000;
constexpr std::size_t kLongestText = 512, kLongestTable = std::size_t{1} << 20;

/// One look at one process.
class Interpreter {
 public:
  explicit Interpreter(pid_t pid) : memory_(pid) {}

  PythonStacks look() {
    PythonStacks stacks;
    if (!find()) {
      stacks.refused = runs_python_ && !can_read_;
      return stacks;
    }
    std::uint64_t interpreter = pointer(runtime_ + first_interpreter_);
    for (int i = 0; i < kMostInterpreters && interpreter != 0; ++i) {
      std::uint64_t thread = pointer(interpreter + first_thread_);
      for (int j = 0; j < kMostThreads && thread != 0; ++j) {
        const auto number = memory_.value<std::uint64_t>(thread + offset(layout_->native_thread));
        std::vector<analyzer::PythonLine> lines = lines_of(thread);
        if (number && !lines.empty()) stacks.threads[static_cast<std::uint32_t>(*number)] = std::move(lines);
        thread = pointer(thread + offset(kNextPythonThread));
        memory_.forget();  // as many pages as a thread has frames
      }
      interpreter = pointer(interpreter + next_interpreter_);
    }
    return stacks;
  }

 private:
  static std::uint64_t offset(int bytes) { return static_cast<std::uint64_t>(bytes); }
  std::uint64_t pointer(std::uint64_t at) { return memory_.value<std::uint64_t>(at).value_or(0); }

  /// The interpreter is in a shared library or in the program.
  bool find() {
    std::set<std::pair<std::string, std::uint64_t>> seen;
    for (const Mapping& part : memory_.mappings()) {
      const bool is_python = part.file_name().find("python3") != std::string_view::npos;
      if (part.inode == 0 || (!is_python && !seen.empty()) || !seen.emplace(part.device, part.inode).second) continue;
      runs_python_ = runs_python_ || is_python;
      const std::optional<MappedObject> object = MappedObject::of(memory_, part);
      can_read_ = can_read_ || object.has_value();
      if (object && take(*object)) return true;
    }
    return false;
  }

  bool take(const MappedObject& object) {
    const auto version = object.variable(memory_, "Py_Version"), runtime = object.variable(memory_, "_PyRuntime"),
               code = object.variable(memory_, "PyCode_Type"), text = object.variable(memory_, "PyUnicode_Type");
    if (!version || !runtime || !code || !text) return false;
    layout_ = python_layout(pointer(*version));
    if (layout_ == nullptr) return false;
    runtime_ = *runtime, code_type_ = *code, text_type_ = *text;
    first_interpreter_ = offset(layout_->first_interpreter), first_thread_ = offset(layout_->first_thread);
    next_interpreter_ = offset(layout_->next_interpreter);
    if (layout_->first_interpreter >= 0) return true;
    char cookie[sizeof kPythonCookie - 1];
    if (!memory_.read(runtime_, cookie, sizeof cookie) || std::memcmp(cookie, kPythonCookie, sizeof cookie) != 0)
      return false;
    first_interpreter_ = pointer(runtime_ + kSaysFirstInterpreter);
    next_interpreter_ = pointer(runtime_ + kSaysNextInterpreter);
    first_thread_ = pointer(runtime_ + kSaysFirstThread);
    return true;
  }

  std::vector<analyzer::PythonLine> lines_of(std::uint64_t thread) {
    std::vector<analyzer::PythonLine> lines;
    std::uint64_t frame = pointer(thread + offset(layout_->frame_of_thread));
    if (frame != 0 && layout_->frame_of_that >= 0) frame = pointer(frame + offset(layout_->frame_of_that));
    for (int i = 0; i < kMostFrames && frame != 0 && lines.size() < kMostPythonLines; ++i) {
      if (std::optional<analyzer::PythonLine> line = line_of(frame)) lines.push_back(*std::move(line));
      frame = pointer(frame + offset(layout_->previous));
    }
    return lines;
  }

  std::optional<analyzer::PythonLine> line_of(std::uint64_t frame) {
    const std::uint64_t code = pointer(frame + offset(layout_->code));
    const auto owner = memory_.value<char>(frame + offset(layout_->owner));
    if (code == 0 || !owner || *owner == kFrameOfInterpreter || pointer(code + offset(kPythonType)) != code_type_)
      return std::nullopt;
    analyzer::PythonLine line;
    line.function = text_at(pointer(code + offset(layout_->qualified_name)));
    line.file = text_at(pointer(code + offset(layout_->file)));
    const auto first = memory_.value<std::int32_t>(code + offset(layout_->line)).value_or(0);
    const std::uint64_t begin = code + offset(layout_->instructions);
    const std::uint64_t at = pointer(frame + offset(layout_->instruction));
    line.line = static_cast<std::uint32_t>(first);
    if (at >= begin) line.line = python_line(table_of(code), line.line, (at - begin) / 2);
    return line;
  }

  std::string table_of(std::uint64_t code) {
    const std::uint64_t bytes = pointer(code + offset(layout_->line_table));
    const std::uint64_t size = bytes == 0 ? 0 : pointer(bytes + offset(kPythonByteCount));
    if (size > kLongestTable) return {};
    std::string table(size, '\0');
    return memory_.read(bytes + offset(kPythonBytes), table.data(), size) ? table : std::string();
  }

  /// "?" for a text with other characters than ASCII.
  std::string text_at(std::uint64_t text) {
    const std::uint64_t length = pointer(text + offset(kPythonTextLength));
    const auto state = memory_.value<std::uint32_t>(text + offset(kPythonTextState));
    if (pointer(text + offset(kPythonType)) != text_type_ || !state ||
        (*state & kCompactAsciiText) != kCompactAsciiText || length > kLongestText)
      return "?";
    std::string read(length, '\0');
    return memory_.read(text + offset(layout_->text), read.data(), length) ? read : "?";
  }

  AddressSpace memory_;
  const PythonLayout* layout_ = nullptr;
  std::uint64_t runtime_ = 0, code_type_ = 0, text_type_ = 0;
  std::uint64_t first_interpreter_ = 0, next_interpreter_ = 0, first_thread_ = 0;
  bool runs_python_ = false, can_read_ = false;
};

}  // namespace

PythonStacks python_stacks(pid_t pid) { return Interpreter(pid).look(); }

}  // namespace wicprof::cli
