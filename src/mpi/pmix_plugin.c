// SPDX-License-Identifier: BSD-3-Clause
// In C, because the message profiler, which is loaded into any program, is in C.
#define _GNU_SOURCE
#include "pmix_plugin.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static const char FILE_NAME[] = "mca_pmix_";

// Stops at the first library that is the plug-in, and leaves its path.
static int find_plugin(struct dl_phdr_info* library, size_t size, void* path) {
  (void)size;
  const char* slash = strrchr(library->dlpi_name, '/');
  const char* file = slash ? slash + 1 : library->dlpi_name;
  if (strncmp(file, FILE_NAME, sizeof FILE_NAME - 1) != 0) return 0;
  *(const char**)path = library->dlpi_name;
  return 1;
}

void tailrace_keep_pmix_plugin(void) {
  const char* path = NULL;
  if (dl_iterate_phdr(find_plugin, &path) != 0) dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
