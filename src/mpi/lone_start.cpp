// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lone_start.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "mpi/spawn.hpp"

namespace tailrace::mpi {

namespace {
/// What launchers say to the processes that they start: Open MPI's, PMIx, PMI, Slurm's, Flux's, Cray's.
constexpr std::array launcher_variables{
    "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",      "PMIX_NAMESPACE", "PMI_RANK",   "PMI_SIZE",
    "SLURM_PROCID",         "FLUX_TASK_RANK", "PALS_RANKID",    "ALPS_APP_PE"};

using Setting = std::pair<const char*, const char*>;
#ifdef OMPI_MAJOR_VERSION
constexpr std::array settings{Setting{"OMPI_MCA_pml", "ob1"}};
#else
constexpr std::array<Setting, 0> settings{};
#endif
}  // namespace

bool has_launcher() {
  return std::any_of(launcher_variables.begin(), launcher_variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

LoneStart::LoneStart() {
  if (has_launcher() || may_oversubscribe()) return;
  for (const auto& [name, value] : settings) {
    if (std::getenv(name) != nullptr) continue;
    setenv(name, value, 0);
    names_.emplace_back(name);
  }
}

LoneStart::~LoneStart() {
  for (const auto& name : names_) unsetenv(name.c_str());
}

}  // namespace tailrace::mpi
