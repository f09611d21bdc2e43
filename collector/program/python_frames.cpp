#include "collector/program/python_frames.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <optional>

namespace wicprof::collector {

namespace {

constexpr int kMostPythonFrames = 24;
constexpr std::size_t kLongestText = 512;

template <class Value>
Value load(const void* object, int offset) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

/// Reads memory that may not be there.
bool read_safely(const void* from, void* to, std::size_t bytes) {
  const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

template <class Value>
std::optional<Value> load_safely(const void* object, int offset) {
  Value value;
  if (object == nullptr || !read_safely(static_cast<const char*>(object) + offset, &value, sizeof value))
    return std::nullopt;
  return value;
}

}  // namespace

const PythonFrames& PythonFrames::of_process() {
  static const PythonFrames none;
  const PythonFrames* const found = found_.load(std::memory_order_acquire);
  return found == nullptr ? none : *found;
}

void PythonFrames::look() {
  if (!none()) return;
  auto* const frames = new PythonFrames;
  const PythonFrames* expected = nullptr;
  if (!frames->find_interpreter() || !found_.compare_exchange_strong(expected, frames)) delete frames;
}

bool PythonFrames::find_interpreter() {
  const auto find = [](const char* name) { return dlsym(RTLD_DEFAULT, name); };
  const void* const version = find("Py_Version");
  this_thread_ = reinterpret_cast<void* (*)()>(find("PyGILState_GetThisThreadState"));
  void* finalizing = find("Py_IsFinalizing");
  if (finalizing == nullptr) finalizing = find("_Py_IsFinalizing");
  finalizing_ = reinterpret_cast<int (*)()>(finalizing);
  code_type_ = find("PyCode_Type");
  text_type_ = find("PyUnicode_Type");
  if (version == nullptr || this_thread_ == nullptr || finalizing_ == nullptr || code_type_ == nullptr ||
      text_type_ == nullptr)
    return false;
  layout_ = python_layout(load<unsigned long>(version, 0));
  return layout_ != nullptr;
}

/// Whether the calling thread's frames are as the layout says. Only a thread that is in a Python function can tell.
bool PythonFrames::check() const {
  const auto wrong = [this] { return state_ = -1, false; };
  const void* const thread = this_thread_();
  if (thread == nullptr) return false;
  std::optional<const void*> frame = load_safely<const void*>(thread, layout_->frame_of_thread);
  if (frame && layout_->frame_of_that >= 0) frame = load_safely<const void*>(*frame, layout_->frame_of_that);
  if (!frame) return wrong();
  if (*frame == nullptr) return false;
  int functions = 0;
  for (int i = 0; i < kMostPythonFrames && *frame != nullptr; ++i) {
    const auto owner = load_safely<char>(*frame, layout_->owner);
    const auto code = load_safely<const void*>(*frame, layout_->code);
    if (!owner || !code) return wrong();
    if (*owner != kFrameOfInterpreter) {
      if (load_safely<const void*>(*code, kPythonType) != code_type_) return wrong();
      for (const int text : {layout_->file, layout_->qualified_name}) {
        const auto object = load_safely<const void*>(*code, text);
        if (!object || load_safely<const void*>(*object, kPythonType) != text_type_) return wrong();
      }
      if (load_safely<std::int32_t>(*code, layout_->line).value_or(-1) < 0) return wrong();
      ++functions;
    }
    frame = load_safely<const void*>(*frame, layout_->previous);
    if (!frame) return wrong();
  }
  if (functions == 0) return false;
  state_ = 1;
  return true;
}

PythonFrames::Function PythonFrames::function_of(const char* frame) const {
  if (load<char>(frame, layout_->owner) == kFrameOfInterpreter) return {};
  const auto* const code = load<const void*>(frame, layout_->code);
  if (code == nullptr || load<const void*>(code, kPythonType) != code_type_) return {};
  return {code, static_cast<std::uint32_t>(load<std::int32_t>(code, layout_->line))};
}

PythonFrames::Function PythonFrames::innermost(Cache& cache) const {
  const int state = state_.load(std::memory_order_relaxed);
  if (layout_ == nullptr || state < 0 || finalizing_() != 0) return {};
  if (state == 0 && !check()) return {};
  const void* const thread = this_thread_();
  if (thread == nullptr) return {};
  const auto* frame = load<const char*>(thread, layout_->frame_of_thread);
  if (frame != nullptr && layout_->frame_of_that >= 0) frame = load<const char*>(frame, layout_->frame_of_that);
  Function first;
  for (int i = 0; i < kMostPythonFrames && frame != nullptr; ++i, frame = load<const char*>(frame, layout_->previous)) {
    const Function function = function_of(frame);
    if (!function) continue;
    if (!of_library(function, cache)) return function;
    if (!first) first = function;
  }
  return first;
}

bool PythonFrames::of_library(Function function, Cache& cache) const {
  const std::uint64_t key = function.key();
  Cache::Known& known = cache.functions_[key >> 58];
  if (known.key != key) {
    const std::string file = text_at(function.code, layout_->file);
    known.key = key;
    known.of_library = file.starts_with("<frozen") || file.find("/site-packages/") != std::string::npos ||
                       file.find("/dist-packages/") != std::string::npos ||
                       file.find("/lib/python3") != std::string::npos;
  }
  return known.of_library;
}

/// Empty for a text with other characters than ASCII.
std::string PythonFrames::text_at(const void* object, int offset) const {
  const auto text = load_safely<const char*>(object, offset);
  if (!text || load_safely<const void*>(*text, kPythonType) != text_type_) return {};
  const auto length = load_safely<std::size_t>(*text, kPythonTextLength);
  const auto state = load_safely<std::uint32_t>(*text, kPythonTextState);
  if (!length || !state || (*state & kCompactAsciiText) != kCompactAsciiText || *length > kLongestText) return {};
  std::string read(*length, '\0');
  return read_safely(*text + layout_->text, read.data(), read.size()) ? read : std::string();
}

std::string PythonFrames::name(Function function) const {
  std::string name = text_at(function.code, layout_->qualified_name);
  // "training.<locals>.step" is known as "step".
  constexpr std::string_view kLocal = "<locals>.";
  if (const std::size_t at = name.rfind(kLocal); at != std::string::npos) name.erase(0, at + kLocal.size());
  return name;
}

std::string PythonFrames::place(Function function) const {
  std::string file = text_at(function.code, layout_->file);
  if (file.empty()) return {};
  file.erase(0, file.rfind('/') + 1);
  return file + ":" + std::to_string(function.first_line);
}

}  // namespace wicprof::collector
