// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lone_start.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "mpi/spawn.hpp"

namespace tailrace::mpi {

namespace {
/// What launchers say to the processes that they start: Open MPI's, PMIx, PMI, Slurm's, Flux's, Cray's.
constexpr std::array launcher_variables{
    "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",      "PMIX_NAMESPACE", "PMI_RANK",   "PMI_SIZE",
    "SLURM_PROCID",         "FLUX_TASK_RANK", "PALS_RANKID",    "ALPS_APP_PE"};

constexpr const char* messaging = "OMPI_MCA_pml";
#ifdef OMPI_MAJOR_VERSION
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif
}  // namespace

bool has_launcher() {
  return std::any_of(launcher_variables.begin(), launcher_variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

LoneStart::LoneStart()
    : is_set_(is_open_mpi && !has_launcher() && !may_oversubscribe() && std::getenv(messaging) == nullptr) {
  if (is_set_) setenv(messaging, "ob1", 0);
}

LoneStart::~LoneStart() {
  if (is_set_) unsetenv(messaging);
}

}  // namespace tailrace::mpi
