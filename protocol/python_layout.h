// Where CPython keeps what tells which functions a thread is in. The layouts belong to a minor version.
#pragma once

#include <cstdint>

namespace wicprof {

/// Offsets in bytes, of one minor version.
struct PythonLayout {
  unsigned minor;
  int frame_of_thread;             ///< of the frame, or of what points to it
  int frame_of_that;               ///< -1: the frame itself
  int code, previous, owner;       ///< of a frame
  int file, qualified_name, line;  ///< of a code object
  int text;                        ///< of an ASCII string: its characters
  // For who looks from outside of the process:
  int instruction;        ///< of a frame: the one that it is at, or that it ran last
  int line_table;         ///< of a code object: pointer to bytes
  int instructions;       ///< of a code object
  int native_thread;      ///< of a thread: its number in the operating system
  int first_interpreter;  ///< of the runtime; -1: it says so itself, at kSaysFirstInterpreter
  int first_thread;       ///< of an interpreter; -1: the runtime says so, at kSaysFirstThread
  int next_interpreter;   ///< of an interpreter; -1: the runtime says so, at kSaysNextInterpreter
};

// Of 64-bit builds; the same in each release of a minor version. Measured with offsetof() on 3.11.7, 3.12.1 and 3.13.0.
inline constexpr PythonLayout kPythonLayouts[] = {
    {11, 56, 8, 32, 48, 69, 112, 128, 72, 48, 56, 136, 184, 160, 40, 16, 0},
    {12, 56, 0, 0, 8, 70, 112, 128, 68, 40, 56, 136, 192, 144, 40, 72, 0},
    {13, 72, -1, 0, 8, 70, 112, 128, 68, 40, 56, 136, 200, 160, -1, -1, -1},
};

/// Of every object, of a string, of bytes and of a thread, in all of these versions.
inline constexpr int kPythonType = 8, kPythonTextLength = 16, kPythonTextState = 32, kPythonByteCount = 16,
                     kPythonBytes = 32, kNextPythonThread = 8;
inline constexpr std::uint32_t kCompactAsciiText = 0x60;  ///< bits of a string's state
inline constexpr char kFrameOfInterpreter = 3;  ///< the owner of a frame that stands for the interpreter's own call
/// Of the runtime since 3.13, which begins with the cookie and has offsets there, of 8 bytes each.
inline constexpr char kPythonCookie[] = "xdebugpy";
inline constexpr int kSaysFirstInterpreter = 40, kSaysNextInterpreter = 64, kSaysFirstThread = 72;

/// `version`: what Py_Version holds (0x030b07f0). nullptr: not known.
inline const PythonLayout* python_layout(std::uint64_t version) {
  for (const PythonLayout& layout : kPythonLayouts) {
    if (version >> 24 == 3 && (version >> 16 & 0xff) == layout.minor) return &layout;
  }
  return nullptr;
}

}  // namespace wicprof
