// Waits and updates through the atomic objects of libcu++.
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "common.h"

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

KERNEL wait_ref_acquire(unsigned* flag, float* out) {
  Word ref(*flag);
  while (ref.load(cuda::memory_order_acquire) == 0) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_system_u64_reaches(u64* counter, u64 want, float* out) {
  cuda::atomic_ref<u64, cuda::thread_scope_system> ref(*counter);
  if (threadIdx.x == 0) {
    while (ref.load(cuda::memory_order_acquire) < want) {
    }
  }
  __syncthreads();
  out[threadIdx.x] += 1;
}
KERNEL wait_sequentially_consistent(cuda::atomic<int, cuda::thread_scope_device>* flag, int want, float* out) {
  while (flag->load() != want) {
  }
  out[threadIdx.x] += 1;
}
KERNEL wait_relaxed_then_fence(unsigned* flag, unsigned want, float* out) {
  Word ref(*flag);
  while (ref.load(cuda::memory_order_relaxed) != want) {
  }
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
  out[threadIdx.x] += 1;
}
KERNEL wait_flag_test_and_set(cuda::std::atomic_flag* lock, unsigned* count) {
  if (threadIdx.x == 0) {
    while (lock->test_and_set(cuda::memory_order_acquire)) {
    }
    *count += 1;
    lock->clear(cuda::memory_order_release);
  }
}
KERNEL wait_exchange_lock(cuda::atomic<unsigned, cuda::thread_scope_device>* lock, unsigned* count) {
  if (threadIdx.x == 0) {
    while (lock->exchange(1, cuda::memory_order_acquire) != 0) __nanosleep(20);
    *count += 1;
    lock->store(0, cuda::memory_order_release);
  }
}
KERNEL wait_compare_exchange_lock(unsigned* lock, unsigned* count) {
  if (threadIdx.x == 0) {
    Word ref(*lock);
    unsigned expected = 0;
    while (!ref.compare_exchange_weak(expected, 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
      expected = 0;
    *count += 1;
    ref.store(0, cuda::memory_order_release);
  }
}
struct Gate {
  cuda::atomic<bool, cuda::thread_scope_system> open;
  float value;
};
KERNEL wait_bool_member(Gate* gate, float* out) {
  while (!gate->open.load(cuda::memory_order_acquire)) {
  }
  out[threadIdx.x] = gate->value;
}
KERNEL either_wait_method(cuda::atomic<unsigned, cuda::thread_scope_device>* word, float* out) {
  word->wait(0, cuda::memory_order_acquire);
  out[threadIdx.x] += 1;
}
KERNEL either_flag_wait_method(cuda::std::atomic_flag* flag, float* out) {
  flag->wait(false, cuda::memory_order_acquire);
  out[threadIdx.x] += 1;
}
KERNEL work_multiply(float* product, const float* factors) {
  cuda::atomic_ref<float, cuda::thread_scope_device> ref(*product);
  const float factor = factors[threadIdx.x];
  float seen = ref.load(cuda::memory_order_relaxed);
  while (!ref.compare_exchange_weak(seen, seen * factor, cuda::memory_order_relaxed)) {
  }
}
KERNEL work_raise_to(unsigned* most, const unsigned* values) {
  Word ref(*most);
  const unsigned value = values[threadIdx.x];
  unsigned seen = ref.load(cuda::memory_order_relaxed);
  while (seen < value && !ref.compare_exchange_weak(seen, value, cuda::memory_order_relaxed)) {
  }
}
KERNEL work_claim_items(unsigned* next, unsigned items, const float* in, float* out) {
  Word ref(*next);
  for (unsigned item = ref.fetch_add(1); item < items; item = ref.fetch_add(1)) out[item] = in[item] * 2;
}
struct Node {
  Node* next;
  unsigned value;
};
KERNEL work_push(cuda::atomic<Node*, cuda::thread_scope_device>* head, Node* nodes) {
  Node* const node = nodes + threadIdx.x;
  node->next = head->load(cuda::memory_order_relaxed);
  while (!head->compare_exchange_weak(node->next, node, cuda::memory_order_release, cuda::memory_order_relaxed)) {
  }
}
KERNEL work_sum_words(unsigned* words, unsigned n, unsigned* sum) {
  unsigned total = 0;
  for (unsigned i = 0; i < n; ++i) total += Word(words[i]).load(cuda::memory_order_relaxed);
  sum[threadIdx.x] = total;
}
KERNEL work_set_bit_once(unsigned* bits, unsigned bit, unsigned* first) {
  Word ref(*bits);
  unsigned seen = ref.load(cuda::memory_order_relaxed);
  while ((seen & bit) == 0 && !ref.compare_exchange_weak(seen, seen | bit, cuda::memory_order_acq_rel)) {
  }
  if ((seen & bit) == 0) first[0] = threadIdx.x;
}
