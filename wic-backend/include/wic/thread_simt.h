// wic::Thread on the CPU device. Loads of shared words acquire. Every access to a shared word yields first, so that a
// polling warp takes turns from computing warps, as on an SM.
#pragma once

namespace wic {

WIC_DEVICE inline std::uint32_t Thread::index() const { return context_->thread; }
WIC_DEVICE inline std::uint32_t Thread::block_size() const { return context_->block_size; }
WIC_DEVICE inline std::uint32_t Thread::barrier_size() const { return context_->block_size; }
WIC_DEVICE inline std::uint32_t Thread::block() const { return context_->block; }
WIC_DEVICE inline std::uint32_t Thread::block_count() const { return context_->block_count; }
WIC_DEVICE inline std::uint32_t Thread::sm() const { return context_->sm; }
WIC_DEVICE inline void* Thread::shared() const { return context_->shared; }
WIC_DEVICE inline GroupScratch& Thread::group_scratch(std::uint32_t barrier) const {
  return static_cast<GroupScratch*>(context_->group_scratch)[barrier];
}
WIC_DEVICE inline void Thread::barrier(std::uint32_t id, std::uint32_t threads) const { simt::barrier(id, threads); }
WIC_DEVICE inline void Thread::sync_warp() const {}
WIC_DEVICE inline void Thread::mbarrier_init(std::uint64_t* mbarrier) const { *mbarrier = 0; }
WIC_DEVICE inline void Thread::mbarrier_arrive(std::uint64_t* mbarrier) const { *mbarrier = 1; }
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier) const {
  return mbarrier_try_wait(mbarrier, 1'000);
}
// One OS thread runs all threads of a block, so plain accesses suffice.
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier, std::uint32_t hint_ns) const {
  if (*mbarrier == 0) simt::sleep(hint_ns);
  return *mbarrier != 0;
}
WIC_DEVICE inline void Thread::mbarrier_invalidate(std::uint64_t*) const {}
WIC_DEVICE inline std::uint64_t Thread::clock_ns() const { return simt::clock_ns(); }
WIC_DEVICE inline std::uint32_t Thread::cycles() const { return static_cast<std::uint32_t>(simt::clock_ns()); }
WIC_DEVICE inline void Thread::sleep_ns(std::uint32_t ns) const { simt::sleep(ns); }
WIC_DEVICE inline void Thread::release_dependents() const { simt::release_dependents(); }
WIC_DEVICE inline void Thread::wait_for_earlier_kernels() const {
  while (!simt::earlier_kernels_ended()) sleep_ns(1'000);
}
WIC_DEVICE inline void Thread::step() const { simt::switch_thread(); }

WIC_DEVICE inline std::uint32_t Thread::load(const std::uint32_t* from) const {
  simt::before_access(simt::Access::load, from);
  return simt::atomic(*from).load();
}
WIC_DEVICE inline std::uint64_t Thread::load(const std::uint64_t* from) const {
  simt::before_access(simt::Access::load, from);
  return simt::atomic(*from).load();
}
WIC_DEVICE inline void Thread::load_quad(const std::uint32_t* from, std::uint32_t (&values)[4]) const {
  simt::before_access(simt::Access::load, from);
  for (int i = 0; i < 4; ++i) values[i] = simt::atomic(from[i]).load();
}
WIC_DEVICE inline void Thread::store(std::uint32_t* to, std::uint32_t value) const {
  simt::before_access(simt::Access::store, to);
  simt::atomic(*to).store(value);
}
WIC_DEVICE inline void Thread::store(std::uint64_t* to, std::uint64_t value) const {
  simt::before_access(simt::Access::store, to);
  simt::atomic(*to).store(value);
}
WIC_DEVICE inline void Thread::store_release(std::uint32_t* to, std::uint32_t value) const { store(to, value); }
WIC_DEVICE inline void Thread::store_release(std::uint64_t* to, std::uint64_t value) const { store(to, value); }
WIC_DEVICE inline void Thread::fence_acquire() const {}  // every load above acquires
WIC_DEVICE inline void Thread::fence_release() const {}  // and every store releases
WIC_DEVICE inline void Thread::fence_release_system() const {}
WIC_DEVICE inline void Thread::fence_async_copies() const {}  // there are none

WIC_DEVICE inline std::uint32_t Thread::fetch_add(std::uint32_t* at, std::uint32_t value) const {
  simt::before_access(simt::Access::atomic, at);
  return simt::atomic(*at).fetch_add(value);
}
WIC_DEVICE inline std::uint64_t Thread::fetch_add(std::uint64_t* at, std::uint64_t value) const {
  simt::before_access(simt::Access::atomic, at);
  return simt::atomic(*at).fetch_add(value);
}
WIC_DEVICE inline void Thread::add(std::uint64_t* at, std::uint64_t value) const { fetch_add(at, value); }
WIC_DEVICE inline std::uint32_t Thread::fetch_add_acq_rel(std::uint32_t* at, std::uint32_t value) const {
  return fetch_add(at, value);
}
WIC_DEVICE inline std::uint32_t Thread::fetch_add_system(std::uint32_t* at, std::uint32_t value) const {
  return fetch_add(at, value);
}
WIC_DEVICE inline std::uint32_t Thread::exchange(std::uint32_t* at, std::uint32_t value) const {
  simt::before_access(simt::Access::atomic, at);
  return simt::atomic(*at).exchange(value);
}
WIC_DEVICE inline std::uint32_t Thread::fetch_add_acq_rel_system(std::uint32_t* at, std::uint32_t value) const {
  return fetch_add(at, value);
}
WIC_DEVICE inline void Thread::flip_bits(std::uint32_t* at, std::uint32_t mask) const {
  simt::switch_thread();
  simt::atomic(*at).fetch_xor(mask);
}
WIC_DEVICE inline void Thread::ring(std::uint32_t* bell) const {
  fetch_add(bell, 1);
  simt::wake_host(bell);
}
WIC_DEVICE inline bool Thread::compare_exchange(std::uint64_t* at, std::uint64_t& expected,
                                                std::uint64_t desired) const {
  simt::before_access(simt::Access::atomic, at);
  return simt::atomic(*at).compare_exchange(expected, desired);
}
WIC_DEVICE inline void Thread::store_quad(void* to, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                          std::uint32_t d) const {
  // A GPU writes all four in one access. Here the last word is 0 while the others change: a reader that has seen (and
  // acquired) one of their new values no longer finds the old last word.
  auto* words = static_cast<std::uint32_t*>(to);
  const std::uint32_t values[5] = {0, a, b, c, d};
  const int places[5] = {3, 0, 1, 2, 3};
  for (int i = 0; i < 5; ++i) {
    simt::atomic(words[places[i]]).store(values[i]);
  }
}

}  // namespace wic
