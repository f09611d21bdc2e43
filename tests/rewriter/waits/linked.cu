// Lists, trees, tables: waits for a neighbour in a list, and walks that wait for nobody.
#include "common.h"

struct Node {
  Node* next;
  int key, locked;
};
KERNEL wait_for_successor(Node* nodes, Node** tail) {
  Node* const mine = nodes + blockIdx.x;
  if (threadIdx.x != 0) return;
  if (atomicCAS((u64*)tail, (u64)mine, 0ull) == (u64)mine) return;
  Node* next;
  while ((next = *(Node* volatile*)&mine->next) == nullptr) {
  }
  __threadfence();
  *(volatile int*)&next->locked = 0;
}
KERNEL wait_for_predecessor_in_queue(Node* nodes, Node** tail, int* count) {
  Node* const mine = nodes + blockIdx.x;
  if (threadIdx.x != 0) return;
  mine->next = nullptr;
  mine->locked = 1;
  __threadfence();
  Node* const before = (Node*)atomicExch((u64*)tail, (u64)mine);
  if (before != nullptr) {
    *(Node* volatile*)&before->next = mine;
    while (volatile_load(&mine->locked)) {
    }
  }
  *count += 1;
}
KERNEL wait_on_previous_node(Node* nodes, Node** tail, int* count) {
  Node* const mine = nodes + blockIdx.x;
  if (threadIdx.x != 0) return;
  *(volatile int*)&mine->locked = 1;
  __threadfence();
  Node* const before = (Node*)atomicExch((u64*)tail, (u64)mine);
  while (volatile_load(&before->locked) != 0) __nanosleep(30);
  *count += 1;
  __threadfence();
  *(volatile int*)&mine->locked = 0;
}
KERNEL wait_until_list_has_head(Node* const volatile* head, int* out) {
  while (*head == nullptr) __nanosleep(100);
  __threadfence();
  out[threadIdx.x] = (*head)->key;
}
KERNEL wait_dependences_of_row(const int* row_begin, const int* columns, const float* values, const float* b,
                               volatile float* x, volatile int* solved) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = b[row];
  const int end = row_begin[row + 1] - 1;
  for (int i = row_begin[row]; i < end; ++i) {
    const int column = columns[i];
    while (solved[column] == 0) {
    }
    __threadfence();
    sum -= values[i] * x[column];
  }
  x[row] = sum / values[end];
  __threadfence();
  solved[row] = 1;
}
KERNEL work_walk(const Node* head, int* sum) {
  int total = 0;
  for (const Node* at = head; at != nullptr; at = *(Node* const volatile*)&at->next) total += volatile_load(&at->key);
  *sum = total;
}
KERNEL work_find(Node* const* buckets, int key, Node** found) {
  Node* at = buckets[key & 255];
  while (at != nullptr && *(volatile int*)&at->key != key) at = *(Node* volatile*)&at->next;
  *found = at;
}
struct Tree {
  int left, right;
  float split;
};
KERNEL work_descend(const Tree* tree, const float* x, int* leaf) {
  int at = 0;
  while (volatile_load(&tree[at].left) >= 0) at = x[threadIdx.x] < tree[at].split ? tree[at].left : tree[at].right;
  leaf[threadIdx.x] = at;
}
KERNEL work_root_of_set(int* parent, int* roots) {
  int at = threadIdx.x;
  int up;
  while ((up = volatile_load(parent + at)) != at) at = up;
  roots[threadIdx.x] = at;
}
KERNEL work_hook_roots(int* parent, const int2* edges) {
  int a = edges[threadIdx.x].x, b = edges[threadIdx.x].y;
  for (;;) {
    while (volatile_load(parent + a) != a) a = volatile_load(parent + a);
    while (volatile_load(parent + b) != b) b = volatile_load(parent + b);
    if (a == b) return;
    if (a < b) {
      const int swap = a;
      a = b;
      b = swap;
    }
    if (atomicCAS(parent + a, a, b) == a) return;
  }
}
KERNEL work_insert_by_probing(unsigned* table, unsigned mask, const unsigned* keys) {
  unsigned at = keys[threadIdx.x] * 2654435761u & mask;
  while (atomicCAS(table + at, ~0u, keys[threadIdx.x]) != ~0u) at = (at + 1) & mask;
}
KERNEL work_look_up_by_probing(const unsigned* table, unsigned mask, const unsigned* keys, unsigned* found) {
  const unsigned key = keys[threadIdx.x];
  unsigned at = key * 2654435761u & mask;
  unsigned seen;
  while ((seen = volatile_load(table + at)) != key && seen != ~0u) at = (at + 1) & mask;
  found[threadIdx.x] = at;
}
KERNEL work_pop_free(Node** head, Node** taken) {
  Node* seen = *(Node* volatile*)head;
  while (seen != nullptr) {
    Node* const next = *(Node* volatile*)&seen->next;
    Node* const before = (Node*)atomicCAS((u64*)head, (u64)seen, (u64)next);
    if (before == seen) break;
    seen = before;
  }
  taken[threadIdx.x] = seen;
}
KERNEL work_cuckoo(u64* table, unsigned mask, u64 key) {
  unsigned at = (unsigned)key & mask;
  for (int moves = 0; moves < 64 && key != 0; ++moves) {
    key = atomicExch(table + at, key);
    at = ((unsigned)(key >> 32) ^ at) & mask;
  }
}
KERNEL work_length_of_path(const unsigned* next, unsigned* lengths) {
  unsigned at = threadIdx.x, length = 0;
  while (at != 0) {
    at = next[at];
    ++length;
    __threadfence();
  }
  lengths[threadIdx.x] = length;
}
