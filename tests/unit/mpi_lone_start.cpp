// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lone_start.hpp"

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstdlib>
#include <string>

#include "environment.hpp"

using namespace tailrace;

namespace {
constexpr const char* messaging = "OMPI_MCA_pml";

/// Returns whether a variable has this value; without one it has none.
bool is(const char* name, const std::string& value) {
  const char* const found = std::getenv(name);
  return value == (found == nullptr ? "" : found);
}

/// Also what a launcher or a batch job says in which the tests may run.
void forget_settings() {
  for (const char* name :
       {messaging, "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE",
        "SLURM_PROCID", "FLUX_TASK_RANK", "PALS_RANKID", "ALPS_APP_PE", "OMPI_MCA_rmaps_base_oversubscribe",
        "OMPI_MCA_rmaps_base_mapping_policy", "PRTE_MCA_rmaps_default_mapping_policy"})
    unsetenv(name);
}
}  // namespace

#ifdef OMPI_MAJOR_VERSION
TEST_CASE("a process that starts alone does not look for networks, and leaves no trace of it") {
  forget_settings();
  {
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, "ob1"));
    // Without its daemon it would share a directory with others that start at the same time.
    CHECK(is("OMPI_MCA_ess_singleton_isolated", ""));
  }
  CHECK(is(messaging, ""));
}

TEST_CASE("what the user says of MPI stays") {
  forget_settings();
  const test::Environment wanted(messaging, "cm");
  {
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, "cm"));
  }
  CHECK(is(messaging, "cm"));
}
#endif

TEST_CASE("nothing changes under a launcher, or where more processes may be started") {
  forget_settings();
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "SLURM_PROCID"}) {
    const test::Environment launched(name, "1");
    CHECK(mpi::has_launcher());
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, ""));
  }
  CHECK(!mpi::has_launcher());
  const test::Environment growing("OMPI_MCA_rmaps_base_oversubscribe", "1");
  const mpi::LoneStart lone_start;
  CHECK(is(messaging, ""));
}
