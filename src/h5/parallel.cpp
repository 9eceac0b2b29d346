// SPDX-License-Identifier: BSD-3-Clause
#include "h5/parallel.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "parallel_module.hpp"
#include "tailrace/error.hpp"

namespace tailrace::h5 {

namespace {

/// The directory of the file that holds this code: that of the program, or of a library that it loads.
std::filesystem::path own_directory() {
  Dl_info info{};
  std::error_code code;
  const auto* here = reinterpret_cast<const void*>(&has_parallel);  // NOLINT: what dladdr takes
  if (dladdr(here, &info) == 0) return {};
  const auto file =
      std::filesystem::canonical(info.dli_fname[0] == '/' ? info.dli_fname : "/proc/self/exe", code);
  return code ? std::filesystem::path() : file.parent_path();
}

/// Loads the module from where it is built or installed, else from where the system looks. Its own HDF5
/// serves it, not the one of the program: their symbols are of different versions. (RTLD_DEEPBIND would do
/// without versions, but gives the module other MPI constants than the program has, where that keeps copies
/// of them.)
void* load_module() {
  const auto directory = own_directory();
  std::string reasons;
  for (const auto& place : {directory / parallel_module_name, directory / "../lib" / parallel_module_name,
                            std::filesystem::path(parallel_module_name)}) {
    if (void* module = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return module;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
  }
  throw Error(
      ErrorInfo{.kind = ErrorKind::resource,
                .message = fmt::format("the module of the parallel HDF5 cannot be loaded: {}", reasons),
                .path = {},
                .hint = fmt::format("put {} beside the program, or name its directory in LD_LIBRARY_PATH",
                                    parallel_module_name)});
}

OpenParallelFile* find_open() {
  auto* found = dlsym(load_module(), parallel_module_function);
  if (found == nullptr)
    throw Error(ErrorInfo{
        .kind = ErrorKind::resource,
        .message = fmt::format("the module of the parallel HDF5 is of another version: {}", dlerror()),
        .path = {},
        .hint = "build and install Tailrace again"});
  return reinterpret_cast<OpenParallelFile*>(found);  // NOLINT: what dlsym gives
}

}  // namespace

bool has_parallel() noexcept {
#ifdef TAILRACE_HAVE_PARALLEL_HDF5
  return true;
#else
  return false;
#endif
}

std::unique_ptr<ParallelFile> open_parallel(const ParallelTarget& target) {
  static OpenParallelFile* const open = find_open();
  return std::unique_ptr<ParallelFile>(open(target));
}

}  // namespace tailrace::h5
