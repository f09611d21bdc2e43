// A fiber: code with its own stack that an OS thread runs until it suspends itself. Never moves to another OS thread.
#pragma once

#include <boost/context/fiber.hpp>
#include <functional>
#include <vector>

namespace wic::simt {

/// Keeps the stacks of ended fibers for the next ones. One OS thread.
class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  ~StackPool();
  boost::context::stack_context take();
  void give_back(boost::context::stack_context stack) { free_.push_back(stack); }

 private:
  std::vector<boost::context::stack_context> free_;
};

class Fiber {
 public:
  /// `body` starts at the first resume().
  Fiber(StackPool& stacks, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  ~Fiber();  ///< the body must have ended, or never have begun

  void resume();          ///< runs the body until it suspends or ends
  static void suspend();  ///< inside a body: returns to the caller of resume()
  bool done() const { return done_; }

 private:
  StackPool& stacks_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;
  boost::context::fiber outside_;
  bool done_ = false;
  void* sanitizer_fiber_ = nullptr;
  void* sanitizer_outside_ = nullptr;
};

}  // namespace wic::simt
