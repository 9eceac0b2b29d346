// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <stdlib.h>

// Fibonacci hashing: neighbouring keys, such as sizes, land far apart.
static size_t home_of(const Table* table, int64_t key) {
  return (size_t)(((uint64_t)key * 0x9e3779b97f4a7c15u) >> 20) & (table->capacity - 1);
}

static Slot* find(const Table* table, int64_t key) {
  size_t place = home_of(table, key);
  while (table->slots[place].messages != 0 && table->slots[place].key != key) {
    place = (place + 1) & (table->capacity - 1);
  }
  return &table->slots[place];
}

static int grow(Table* table) {
  Table larger = *table;
  larger.capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
  larger.slots = calloc(larger.capacity, sizeof(Slot));
  if (larger.slots == NULL) return 0;
  for (size_t i = 0; i < table->capacity; ++i) {
    if (table->slots[i].messages != 0) *find(&larger, table->slots[i].key) = table->slots[i];
  }
  free(table->slots);
  *table = larger;
  return 1;
}

int table_add(Table* table, int64_t key, int64_t messages, int64_t bytes) {
  if (table->capacity == 0 && !grow(table)) return 0;
  Slot* slot = find(table, key);
  if (slot->messages == 0) {
    if (table->used == table->limit) return 0;
    if (2 * (table->used + 1) > table->capacity) {
      if (!grow(table)) return 0;
      slot = find(table, key);
    }
    slot->key = key;
    ++table->used;
  }
  slot->messages += messages;
  slot->bytes += bytes;
  return 1;
}
