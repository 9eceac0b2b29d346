// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <stdint.h>

// What was counted under one key.
typedef struct {
  int64_t key;
  int64_t messages;  // 0: the slot is free
  int64_t bytes;
} Slot;

// A hash table of counts that grows up to a limit, so that its memory is bounded. Begins as zeros with a
// limit.
typedef struct {
  Slot* slots;
  size_t capacity;
  size_t used;
  size_t limit;
} Table;

// Adds to the counts of a key. Returns 0 when the key is new and the table has as many as it may, or memory
// is out.
int table_add(Table* table, int64_t key, int64_t messages, int64_t bytes);
