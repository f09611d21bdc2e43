#include "simt/fiber.h"

#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/preallocated.hpp>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace wic::simt {

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
thread_local Fiber* running = nullptr;

// The pool frees stacks; the context library must not.
struct KeptStack {
  void deallocate(boost::context::stack_context&) {}
};

}  // namespace

StackPool::~StackPool() {
  boost::context::fixedsize_stack allocator(kStackBytes);
  for (boost::context::stack_context& stack : free_) allocator.deallocate(stack);
}

boost::context::stack_context StackPool::take() {
  if (free_.empty()) return boost::context::fixedsize_stack(kStackBytes).allocate();
  boost::context::stack_context stack = free_.back();
  free_.pop_back();
  return stack;
}

Fiber::Fiber(StackPool& stacks, std::function<void()> body) : stacks_(stacks), stack_(stacks.take()) {
  inside_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_),
                                  KeptStack{}, [this, body = std::move(body)](boost::context::fiber&& outside) {
                                    outside_ = std::move(outside);
                                    body();
                                    done_ = true;
#if defined(__SANITIZE_THREAD__)
                                    __tsan_switch_to_fiber(sanitizer_outside_, 0);
#endif
                                    return std::move(outside_);
                                  });
#if defined(__SANITIZE_THREAD__)
  sanitizer_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  inside_ = {};
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(sanitizer_fiber_);
#endif
  stacks_.give_back(stack_);
}

void Fiber::resume() {
  Fiber* const before = std::exchange(running, this);
#if defined(__SANITIZE_THREAD__)
  sanitizer_outside_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(sanitizer_fiber_, 0);
#endif
  inside_ = std::move(inside_).resume();
  running = before;
}

void Fiber::suspend() {
  Fiber* const self = running;
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(self->sanitizer_outside_, 0);
#endif
  self->outside_ = std::move(self->outside_).resume();
}

}  // namespace wic::simt
