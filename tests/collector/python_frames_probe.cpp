// What PythonFrames says of its caller, for tests/collector/test_python_frames.py, which calls it from Python without
// the interpreter's lock.
#include <cstdio>
#include <string>

#include "collector/program/python_frames.h"

/// Writes "NAME PLACE" of the calling thread's function, or "none", to `to` (256 bytes). Returns a number that tells
/// the function apart.
extern "C" __attribute__((visibility("default"))) unsigned long long probe(char* to) {
  using wicprof::collector::PythonFrames;
  thread_local PythonFrames::Cache cache;
  PythonFrames::look();
  const PythonFrames& frames = PythonFrames::of_process();
  const PythonFrames::Function function = frames.innermost(cache);
  const std::string text = function ? frames.name(function) + " " + frames.place(function) : "none";
  std::snprintf(to, 256, "%s", text.c_str());
  return function.key();
}
