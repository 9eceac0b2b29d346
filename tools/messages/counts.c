// SPDX-License-Identifier: BSD-3-Clause
#include "counts.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "table.h"

enum { MAX_SIZES = 4096, MAX_PEERS = 65536, CLASSES = 65, BINS = 128 };
static const double FIRST_BIN_S = 0.01;

typedef struct {
  int64_t messages;
  int64_t bytes;
} Count;

// Sizes are counted exactly until there are too many; further ones in classes of powers of two.
typedef struct {
  Count all;
  Table sizes;
  Count classes[CLASSES];
} KindCounts;

static KindCounts kinds[KINDS];
static Table peers = {.limit = MAX_PEERS};  // by kind and peer
static Count left_out;                      // of peers beyond the limit
static Count bins[GROUPS][BINS];
static double bin_s;
static int64_t unseen;
static struct timespec begin;
static int shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define NAME_OF(name, group) #name,
static const char* const KIND_NAMES[] = {MESSAGE_KINDS(NAME_OF)};
#define GROUP_OF(name, group) group,
static const Group GROUP[] = {MESSAGE_KINDS(GROUP_OF)};
static const char* const GROUP_NAMES[] = {"sent", "received", "one_sided", "collective"};

void counts_lock(void) {
  if (shared) pthread_mutex_lock(&mutex);
}

void counts_unlock(void) {
  if (shared) pthread_mutex_unlock(&mutex);
}

void counts_begin(int threads) {
  shared = threads;
  bin_s = FIRST_BIN_S;
  for (int kind = 0; kind < KINDS; ++kind) kinds[kind].sizes.limit = MAX_SIZES;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &begin);
}

// The coarse clock costs a fraction of the exact one, and its few milliseconds are less than a bin.
double counts_elapsed_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec);
}

static void widen_bins(void) {
  for (int group = 0; group < GROUPS; ++group) {
    for (int i = 0; i < BINS; ++i) {
      const Count kept = bins[group][i];
      bins[group][i] = (Count){0, 0};
      bins[group][i / 2].messages += kept.messages;
      bins[group][i / 2].bytes += kept.bytes;
    }
  }
  bin_s *= 2;
}

static void add(Count* count, int64_t bytes) {
  ++count->messages;
  count->bytes += bytes;
}

static void add_to_bin(Group group, int64_t bytes) {
  const double elapsed_s = counts_elapsed_s();
  while (elapsed_s >= BINS * bin_s) widen_bins();
  add(&bins[group][(int)(elapsed_s / bin_s)], bytes);
}

// 0 for no byte, else 1 more than the power of two that is not larger.
static int class_of(int64_t bytes) {
  return bytes <= 0 ? 0 : 64 - __builtin_clzll((uint64_t)bytes);
}

void counts_add(Kind kind, int peer, int64_t bytes) {
  counts_lock();
  KindCounts* counts = &kinds[kind];
  add(&counts->all, bytes);
  if (!table_add(&counts->sizes, bytes, 1, bytes)) add(&counts->classes[class_of(bytes)], bytes);
  if (peer != NO_PEER && !table_add(&peers, ((int64_t)kind << 32) + (peer - FOREIGN_PEER), 1, bytes)) {
    add(&left_out, bytes);
  }
  add_to_bin(GROUP[kind], bytes);
  counts_unlock();
}

void counts_add_unseen(void) {
  counts_lock();
  ++unseen;
  counts_unlock();
}

static const char* comma(int* first) {
  const char* text = *first ? "" : ",";
  *first = 0;
  return text;
}

static void write_sizes(FILE* file, const Table* sizes) {
  int first = 1;
  for (size_t i = 0; i < sizes->capacity; ++i) {
    const Slot* slot = &sizes->slots[i];
    if (slot->messages == 0) continue;
    fprintf(file, "%s[%" PRId64 ",%" PRId64 "]", comma(&first), slot->key, slot->messages);
  }
}

// Lowest and highest size of each class, messages, bytes.
static void write_classes(FILE* file, const Count* classes) {
  int first = 1;
  for (int i = 0; i < CLASSES; ++i) {
    if (classes[i].messages == 0) continue;
    const int64_t low = i == 0 ? 0 : (int64_t)1 << (i - 1);
    fprintf(file, "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", comma(&first), low,
            low == 0 ? 0 : 2 * (low - 1) + 1, classes[i].messages, classes[i].bytes);
  }
}

static void write_kinds(FILE* file) {
  int first = 1;
  for (int kind = 0; kind < KINDS; ++kind) {
    const KindCounts* counts = &kinds[kind];
    if (counts->all.messages == 0) continue;
    fprintf(
        file,
        "%s\n  {\"group\":\"%s\",\"kind\":\"%s\",\"messages\":%" PRId64 ",\"bytes\":%" PRId64 ",\"sizes\":[",
        comma(&first), GROUP_NAMES[GROUP[kind]], KIND_NAMES[kind], counts->all.messages, counts->all.bytes);
    write_sizes(file, &counts->sizes);
    fprintf(file, "],\"classes\":[");
    write_classes(file, counts->classes);
    fprintf(file, "]}");
  }
}

// Group, kind, peer, messages, bytes.
static void write_peers(FILE* file) {
  int first = 1;
  for (size_t i = 0; i < peers.capacity; ++i) {
    const Slot* slot = &peers.slots[i];
    if (slot->messages == 0) continue;
    const int kind = (int)(slot->key >> 32);
    const int peer = (int)(slot->key & 0xffffffff) + FOREIGN_PEER;
    fprintf(file, "%s\n  [\"%s\",\"%s\",%d,%" PRId64 ",%" PRId64 "]", comma(&first), GROUP_NAMES[GROUP[kind]],
            KIND_NAMES[kind], peer, slot->messages, slot->bytes);
  }
}

static void write_bins(FILE* file, Group group) {
  int last = BINS - 1;
  while (last >= 0 && bins[group][last].messages == 0) --last;
  for (int i = 0; i <= last; ++i) {
    fprintf(file, "%s[%" PRId64 ",%" PRId64 "]", i == 0 ? "" : ",", bins[group][i].messages,
            bins[group][i].bytes);
  }
}

void counts_write(FILE* file) {
  fprintf(file, "\"max_sizes\":%d,\"unseen_receives\":%" PRId64 ",\n\"kinds\":[", MAX_SIZES, unseen);
  write_kinds(file);
  fprintf(file, "],\n\"peers\":[");
  write_peers(file);
  fprintf(file, "],\n\"peers_left_out\":[%" PRId64 ",%" PRId64 "],\n\"time\":{\"bin_s\":%g",
          left_out.messages, left_out.bytes, bin_s);
  for (int group = 0; group < GROUPS; ++group) {
    fprintf(file, ",\n  \"%s\":[", GROUP_NAMES[group]);
    write_bins(file, (Group)group);
    fprintf(file, "]");
  }
  fprintf(file, "}");
}
