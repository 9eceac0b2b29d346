// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/pmix_plugin.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>

namespace tailrace::mpi {

/// Stops at the first library that is the plug-in, and writes its path.
static int find_plugin(dl_phdr_info* library, std::size_t, void* path) {
  const std::string_view name(library->dlpi_name);
  const std::string_view file = name.substr(name.rfind('/') + 1);
  if (!file.starts_with("mca_pmix_")) return 0;
  *static_cast<std::string*>(path) = name;
  return 1;
}

void keep_pmix_plugin() noexcept {
  std::string path;
  if (dl_iterate_phdr(find_plugin, &path) != 0)
    static_cast<void>(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace tailrace::mpi
