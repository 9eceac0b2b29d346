// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lone_start.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "mpi/file.hpp"
#include "mpi/library.hpp"
#include "mpi/spawn.hpp"

namespace tailrace::mpi {

namespace {
/// What launchers say to the processes that they start: Open MPI's, PMIx, PMI, Slurm's, Flux's, Cray's.
constexpr std::array launcher_variables{
    "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",      "PMIX_NAMESPACE", "PMI_RANK",   "PMI_SIZE",
    "SLURM_PROCID",         "FLUX_TASK_RANK", "PALS_RANKID",    "ALPS_APP_PE"};

using Setting = std::pair<const char*, const char*>;
/// No search for networks.
constexpr std::array no_networks{Setting{"OMPI_MCA_pml", "ob1"}};
/// No daemon. All such processes of a user have the same name and one session directory: those that start or
/// end at the same time would remove it from under each other, and memory that they share with ranks on their
/// machine would be the same. So there is neither.
constexpr std::array no_daemon{Setting{"OMPI_MCA_ess_singleton_isolated", "1"},
                               Setting{"OMPI_MCA_orte_create_session_dirs", "0"},
                               Setting{"OMPI_MCA_btl", "self"}};

bool is_unset(const Setting& setting) {
  return std::getenv(setting.first) == nullptr;
}
}  // namespace

bool has_launcher() {
  return std::any_of(launcher_variables.begin(), launcher_variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

LoneStart::LoneStart() {
  if (!is_open_mpi() || has_launcher() || may_oversubscribe()) return;
  set_if_all_are_unset(no_networks);
  if (uses_romio()) set_if_all_are_unset(no_daemon);
}

void LoneStart::set_if_all_are_unset(std::span<const std::pair<const char*, const char*>> settings) {
  if (!std::all_of(settings.begin(), settings.end(), is_unset)) return;
  for (const auto& [name, value] : settings) {
    setenv(name, value, 0);
    names_.push_back(name);
  }
}

LoneStart::~LoneStart() {
  for (const char* name : names_) unsetenv(name);
}

}  // namespace tailrace::mpi
