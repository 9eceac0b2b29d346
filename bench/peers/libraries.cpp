// SPDX-License-Identifier: BSD-3-Clause
#include "peers/libraries.hpp"

namespace tailrace::bench {

std::vector<Library> libraries([[maybe_unused]] mpi::CommView comm, [[maybe_unused]] const IndexLoad& load,
                               [[maybe_unused]] int components) {
  std::vector<Library> all;
#ifdef TAILRACE_PEER_PETSC
  all.push_back(petsc_library(comm, load, components));
#else
  all.push_back({"PETSc", "absent: not found when Tailrace was built (petsc-dev)", {}});
#endif
#ifdef TAILRACE_PEER_GSLIB
  all.push_back(gslib_library(comm, load, components));
#else
  all.push_back({"gslib", "absent: TAILRACE_GSLIB_DIR did not name where it is when Tailrace was built", {}});
#endif
#ifdef TAILRACE_PEER_GA
  all.push_back(global_arrays_library(comm, load, components));
#else
  all.push_back({"Global Arrays",
                 "absent: not found when Tailrace was built (libglobalarrays-dev, libarmci-mpi-dev)",
                 {}});
#endif
#ifdef TAILRACE_PEER_COARRAYS
  all.push_back(coarray_library(comm, load, components));
#else
  all.push_back({"OpenCoarrays", "absent: not found when Tailrace was built (libcoarrays-openmpi-dev)", {}});
#endif
  return all;
}

}  // namespace tailrace::bench
