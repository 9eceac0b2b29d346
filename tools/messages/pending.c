// SPDX-License-Identifier: BSD-3-Clause
#include "pending.h"

#include <stdlib.h>

enum { BUCKETS = 1024 };

typedef struct Node {
  struct Node* next;
  uintptr_t handle;
  Pending pending;
} Node;

static Node* buckets[BUCKETS];
static Node* unused;
atomic_int pending_count;

static Node** bucket_of(uintptr_t handle) {
  return &buckets[(((uint64_t)handle * 0x9e3779b97f4a7c15u) >> 32) % BUCKETS];
}

static Node* new_node(void) {
  Node* node = unused;
  if (node == NULL) return malloc(sizeof(Node));
  unused = node->next;
  return node;
}

void pending_put(uintptr_t handle, Pending pending) {
  counts_lock();
  Node* node = new_node();
  if (node != NULL) {
    Node** bucket = bucket_of(handle);
    *node = (Node){*bucket, handle, pending};
    *bucket = node;
    atomic_fetch_add_explicit(&pending_count, 1, memory_order_relaxed);
  }
  counts_unlock();
}

static Node* unlink_node(uintptr_t handle) {
  for (Node** at = bucket_of(handle); *at != NULL; at = &(*at)->next) {
    if ((*at)->handle != handle) continue;
    Node* found = *at;
    *at = found->next;
    return found;
  }
  return NULL;
}

int pending_take(uintptr_t handle, Pending* taken) {
  counts_lock();
  Node* node = unlink_node(handle);
  if (node != NULL) {
    *taken = node->pending;
    node->next = unused;
    unused = node;
    atomic_fetch_sub_explicit(&pending_count, 1, memory_order_relaxed);
  }
  counts_unlock();
  return node != NULL;
}
