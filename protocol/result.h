// Errors are values: Result<T> holds either a T or an Error that names the object and the remedy.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace wicprof {

/// What kind of failure, which decides wic-prof's exit status (docs/user-guide.md).
enum class ErrorKind {
  bad_input,    ///< bad usage or a bad input file: exit status 2
  unavailable,  ///< this machine cannot do it: exit status 3
  failed,       ///< a check or a threshold failed: exit status 1
};

struct Error {
  ErrorKind kind = ErrorKind::bad_input;
  std::string message;  ///< one line: what failed, on which file or name, and what to do about it
};

inline Error bad_input(std::string message) { return {ErrorKind::bad_input, std::move(message)}; }
inline Error unavailable(std::string message) { return {ErrorKind::unavailable, std::move(message)}; }
inline Error failed(std::string message) { return {ErrorKind::failed, std::move(message)}; }

template <class T = std::monostate>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T operator*() && { return std::get<0>(std::move(state_)); }  // by value: `for (x : *list())` keeps the list
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// The success value of an operation that returns nothing else.
inline Result<> ok() { return std::monostate{}; }

}  // namespace wicprof
