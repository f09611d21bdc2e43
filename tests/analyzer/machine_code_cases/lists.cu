// Lists and trees, and waits for their links.
#include "cases.h"

struct Node {
  Node* next;
  unsigned ready;
  unsigned value;
};

// The queue lock of Mellor-Crummey and Scott waits for its successor's link.
CASE(wait_for_link) {
  Node* node = (Node*)WORD(0);
  while (*(Node* volatile*)&node->next == nullptr) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(wait_at_own_node) {
  Node* node = (Node*)WORD(0);
  if (threadIdx.x == 0) {
    while (load_acquire(&node->ready) == 0) {
    }
  }
  __syncthreads();
  out[ELEMENT] = data[ELEMENT];
}
// The address of the flag is in memory too.
CASE(wait_through_pointer) {
  unsigned* const volatile* place = (unsigned* const volatile*)(out + kElements);
  while (volatile_load(*place + (blockIdx.x & 63) * 512) != want) {
  }
  out[ELEMENT] = data[ELEMENT];
}
CASE(work_list_walk) {
  int at = ELEMENT;
  for (unsigned i = 0; i < n && at >= 0; ++i) at = index[at];
  out[ELEMENT] = at;
}
CASE(work_list_to_end) {
  int at = ELEMENT, length = 0;
  do at = *(volatile int*)&index[at];
  while (at != (int)ELEMENT && ++length < (int)(64 * n));
  out[ELEMENT] = length;
}
CASE(work_tree_descent) {
  unsigned node = 1;
  const float key = data[ELEMENT];
  while (node < kElements / 2) node = 2 * node + (data[node] < key);
  out[ELEMENT] = node;
}
CASE(work_hash_lookup) {
  unsigned found = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned slot = (ELEMENT * 2654435761u + i) % kElements;
    while (index[slot] != (int)(slot ^ 1) && (slot & 63) != 0) slot = (slot + 1) % kElements;
    found += slot;
  }
  out[ELEMENT] = found;
}
CASE(work_frontier_scan) {
  unsigned count = 0;
  for (unsigned i = ELEMENT; i < kElements; i += gridDim.x * blockDim.x) {
    if (index[i] & 1) out[atomicAdd(WORD(1), 1) % kElements] = i;
    ++count;
  }
}
CASE(work_union_find) {
  int root = ELEMENT;
  unsigned steps = 0;
  while (index[root] != root && steps++ < n) root = index[index[root]];
  out[ELEMENT] = root;
}
