// Which Python function the calling thread is in.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/python_layout.h"

namespace wicprof::collector {

/// The interpreter of the process, CPython 3.11 to 3.13. Reads its structures without its lock: a thread that is in a
/// call of a C library cannot change its own frames, and each frame keeps its code object. The layouts belong to a
/// minor version; before they are used, one walk checks them by the types of what it finds, through the kernel, so that
/// a wrong one cannot fault. Any thread.
class PythonFrames {
 public:
  /// A code object and the things of it that are worth a look per wait.
  struct Function {
    const void* code = nullptr;  ///< nullptr: no Python function, or not known
    std::uint32_t first_line = 0;
    explicit operator bool() const { return code != nullptr; }
    friend bool operator==(const Function&, const Function&) = default;
    /// Tells functions apart.
    std::uint64_t key() const { return reinterpret_cast<std::uintptr_t>(code) * 0x9e3779b97f4a7c15u + first_line; }
  };

  /// One per thread, used by that thread alone.
  class Cache {
    friend class PythonFrames;
    struct Known {
      std::uint64_t key = 0;
      bool of_library = false;
    };
    std::array<Known, 64> functions_;
  };

  /// Looks for the interpreter, unless it is known. Takes the loader's lock, which a thread in dlopen() may hold until
  /// the program's other threads have waited: call it within cuInit() and on threads of wic-prof only.
  static void look();

  /// As look() has found it last. Takes no lock.
  static const PythonFrames& of_process();

  /// Whether no interpreter is known: innermost() says nothing then.
  static bool none() { return found_.load(std::memory_order_relaxed) == nullptr; }

  /// The innermost function of the calling thread that belongs to the program, not to a library (the standard one, and
  /// what is installed beside it); the innermost of all if there is none. Takes some 20 ns.
  Function innermost(Cache& cache) const;

  /// "train_step"; empty: not known.
  std::string name(Function function) const;
  /// "train.py:12", with the function's first line; empty: not known.
  std::string place(Function function) const;

 private:
  PythonFrames() = default;
  bool find_interpreter();
  bool check() const;
  Function function_of(const char* frame) const;
  bool of_library(Function function, Cache& cache) const;
  std::string text_at(const void* object, int offset) const;

  static inline std::atomic<const PythonFrames*> found_{nullptr};  // never freed: threads may use it until the end

  const PythonLayout* layout_ = nullptr;
  void* (*this_thread_)() = nullptr;
  int (*finalizing_)() = nullptr;
  const void *code_type_ = nullptr, *text_type_ = nullptr;
  mutable std::atomic<int> state_{0};  // 0: not checked yet, 1: usable, -1: not
};

}  // namespace wicprof::collector
