// SPDX-License-Identifier: BSD-3-Clause
// Begin and end of a process: where its counts go.
#define _GNU_SOURCE
#include "life.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counts.h"
#include "mpi/pmix_plugin.h"
#include "observe.h"

#ifdef OPEN_MPI
static const char OUR_MPI[] = "Open MPI";
#else
static const char OUR_MPI[] = "MPICH";
#endif

static char path[4096];
static int rank, size;

static const char* directory(void) {
  return getenv("TAILRACE_MESSAGES");
}

// Constants differ between MPIs: calls of another one are passed on and not understood.
static int is_our_mpi(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  if (strstr(version, OUR_MPI) != NULL) return 1;
  fprintf(stderr,
          "tailrace: messages are not counted: the program has %.40s, the profiler was built with %s. "
          "Fix: use the build of Tailrace for that MPI\n",
          version, OUR_MPI);
  return 0;
}

// Processes that others have started have a world, and so numbers, of their own.
static void choose_path(void) {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  char name[64];
  if (parent == MPI_COMM_NULL) {
    snprintf(name, sizeof name, "rank-%05d.json", rank);
  } else {
    snprintf(name, sizeof name, "started-%ld-%05d.json", (long)getpid(), rank);
  }
  snprintf(path, sizeof path, "%s/%s", directory(), name);
}

void life_begin(void) {
  int level = MPI_THREAD_SINGLE;
  if (observe_on || directory() == NULL || !is_our_mpi()) return;
  tailrace_keep_pmix_plugin();
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Query_thread(&level);
  choose_path();
  counts_begin(level == MPI_THREAD_MULTIPLE);
  observe_on = 1;
}

static void write_all(FILE* file, int complete) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  fprintf(file,
          "{\"format\":\"tailrace-messages\",\"format_version\":1,\"rank\":%d,\"ranks\":%d,\"host\":\"%s\","
          "\"mpi\":\"%s\",\"complete\":%s,\"elapsed_s\":%.3f,\n",
          rank, size, host, OUR_MPI, complete ? "true" : "false", counts_elapsed_s());
  counts_write(file);
  fprintf(file, "}\n");
}

// Whole or not at all: the file gets its name at the end.
static void write_file(int complete) {
  char partial[sizeof path + 16];
  snprintf(partial, sizeof partial, "%s.partial", path);
  mkdir(directory(), 0777);
  FILE* file = fopen(partial, "w");
  if (file != NULL) write_all(file, complete);
  if (file == NULL || fclose(file) != 0 || rename(partial, path) != 0) {
    fprintf(stderr, "tailrace: %s: the counts of messages cannot be written: %s\n", path, strerror(errno));
  }
}

static void end(int complete) {
  if (!observe_on) return;
  observe_on = 0;
  write_file(complete);
}

void life_end(void) {
  end(1);
}

// A program that never ends MPI.
__attribute__((destructor)) static void end_of_process(void) {
  end(0);
}

int MPI_Init(int* argc, char*** argv) {
  ++observe_depth;
  const int code = PMPI_Init(argc, argv);
  if (--observe_depth == 0 && code == MPI_SUCCESS) life_begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  ++observe_depth;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (--observe_depth == 0 && code == MPI_SUCCESS) life_begin();
  return code;
}

int MPI_Finalize(void) {
  if (observe_depth == 0) life_end();
  return PMPI_Finalize();
}
