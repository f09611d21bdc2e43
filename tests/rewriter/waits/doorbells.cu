// Words that another agent rings: hosts, other grids, devices with queues. And readers of descriptors that wait for
// nobody.
#include "common.h"

KERNEL wait_doorbell_changes(const unsigned* bell, const float* in, float* out) {
  unsigned last = 0;
  for (;;) {
    unsigned now;
    while ((now = volatile_load(bell)) == last) {
    }
    if (now == ~0u) return;
    out[now] = in[now] * 2;
    last = now;
  }
}
struct Command {
  unsigned kind, argument;
};
KERNEL wait_command_ring(const unsigned* tail, const Command* ring, float* out) {
  if (threadIdx.x != 0) return;
  for (unsigned head = 0;; ++head) {
    while (load_acquire_system(tail) == head) __nanosleep(200);
    const Command command = ring[head % 64];
    if (command.kind == 0) return;
    out[command.argument] += command.kind;
  }
}
KERNEL wait_host_word_relaxed_64(const u64* bell, u64 want, float* out) {
  while (load_relaxed_system(bell) < want) {
  }
  __threadfence_system();
  out[threadIdx.x] += 1;
}
KERNEL wait_pointer_published(float* const volatile* published, float* out) {
  const float* data;
  while ((data = *published) == nullptr) {
  }
  __threadfence();
  out[threadIdx.x] = data[threadIdx.x];
}
struct alignas(16) Completion {
  u64 result;
  unsigned short head, queue, command, status;
};
KERNEL wait_completion_phase(const Completion* queue, unsigned entries, unsigned count, unsigned* out) {
  unsigned head = 0, phase = 1;
  for (unsigned i = 0; i < count; ++i) {
    while ((volatile_load(&queue[head].status) & 1) != phase) {
    }
    out[i] = volatile_load(&queue[head].command);
    if (++head == entries) {
      head = 0;
      phase ^= 1;
    }
  }
}
KERNEL wait_owner_bit_clears(const unsigned* descriptor, float* out) {
  while (volatile_load(descriptor + blockIdx.x * 4) & 0x80000000u) {
  }
  out[threadIdx.x] = descriptor[blockIdx.x * 4 + 1];
}
KERNEL wait_negative_means_not_yet(const float* value, float* out) {
  float seen;
  do {
    seen = volatile_load(value);
  } while (seen < 0);
  out[threadIdx.x] = seen;
}
KERNEL wait_not_a_number_means_not_yet(const float* values, float* out) {
  float seen;
  while (isnan(seen = volatile_load(values + blockIdx.x))) {
  }
  out[threadIdx.x] = seen;
}
KERNEL wait_either_of_two_bells(const unsigned* left, const unsigned* right, unsigned* out) {
  unsigned a, b;
  do {
    a = volatile_load(left);
    b = volatile_load(right);
  } while ((a | b) == 0);
  out[0] = a != 0 ? a : b;
}
KERNEL stay_answers_while_it_waits(const unsigned* bell, unsigned* alive) {
  unsigned ticks = 0;
  while (volatile_load(bell) == 0) *(volatile unsigned*)alive = ++ticks;
}
KERNEL work_drain_to_snapshot(const unsigned* tail, const float* ring, float* out) {
  const unsigned end = volatile_load(tail);
  float sum = 0;
  for (unsigned head = 0; head != end; ++head) sum += volatile_load(ring + head % 1024);
  out[threadIdx.x] = sum;
}
struct Descriptor {
  unsigned flags, bytes;
};
KERNEL work_chain_of_descriptors(const Descriptor* descriptors, unsigned* bytes) {
  unsigned i = 0, sum = 0;
  while (true) {
    const unsigned flags = volatile_load(&descriptors[i].flags);
    sum += volatile_load(&descriptors[i].bytes);
    if (flags & 1) break;
    ++i;
  }
  *bytes = sum;
}
KERNEL work_packets_until_end(const unsigned char* stream, unsigned* packets) {
  unsigned at = 0, count = 0;
  unsigned length;
  while ((length = volatile_load(stream + at)) != 0) {
    at += length;
    ++count;
  }
  *packets = count;
}
KERNEL work_find_completion(const Completion* queue, unsigned entries, unsigned command, unsigned* found) {
  unsigned i = 0;
  while (i != entries && volatile_load(&queue[i].command) != command) ++i;
  *found = i;
}
KERNEL work_indices_until_negative(const int* indices, const float* in, float* out) {
  float sum = 0;
  for (const int* at = indices + blockIdx.x * 64; *at >= 0; ++at) sum += in[*at];
  out[threadIdx.x] = sum;
}
KERNEL work_toggle_bits(unsigned* words, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    if ((volatile_load(words + i) & 1) != (i & 1)) *(volatile unsigned*)(words + i) ^= 1;
  }
}
