// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/lone_start.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "environment.hpp"
#include "mpi/library.hpp"

using namespace tailrace;

namespace {
constexpr const char* messaging = "OMPI_MCA_pml";
constexpr const char* isolated = "OMPI_MCA_ess_singleton_isolated";
constexpr const char* directories = "OMPI_MCA_orte_create_session_dirs";
constexpr const char* transports = "OMPI_MCA_btl";
constexpr const char* files = "OMPI_MCA_io";

/// Returns whether a variable has this value; without one it has none.
bool is(const char* name, const std::string& value) {
  const char* const found = std::getenv(name);
  return value == (found == nullptr ? "" : found);
}

/// Also what a launcher or a batch job says in which the tests may run.
void forget_settings() {
  for (const char* name : {messaging, isolated, directories, transports, "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",
                           "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "FLUX_TASK_RANK",
                           "PALS_RANKID", "ALPS_APP_PE", "OMPI_MCA_rmaps_base_oversubscribe",
                           "OMPI_MCA_rmaps_base_mapping_policy", "PRTE_MCA_rmaps_default_mapping_policy"})
    unsetenv(name);
}
}  // namespace

TEST_CASE("a process that starts alone has no daemon and no networks, and leaves no trace of it" *
          doctest::skip(!mpi::is_open_mpi())) {
  forget_settings();
  const test::Environment romio(files, "^ompio");
  {
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, "ob1"));
    CHECK(is(isolated, "1"));
    // Without a daemon all such processes have one directory and one name.
    CHECK(is(directories, "0"));
    CHECK(is(transports, "self"));
  }
  for (const char* name : {messaging, isolated, directories, transports}) CHECK(is(name, ""));
}

TEST_CASE("the daemon stays where MPI-IO needs its directory, or the user says something of it" *
          doctest::skip(!mpi::is_open_mpi())) {
  forget_settings();
  {
    const test::Environment ompio(files, "ompio");
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, "ob1"));
    CHECK(is(isolated, ""));
  }
  const test::Environment romio(files, "^ompio"), wanted(transports, "tcp,self");
  const mpi::LoneStart lone_start;
  CHECK(is(transports, "tcp,self"));
  CHECK(is(isolated, ""));
  CHECK(is(directories, ""));
}

TEST_CASE("what the user says of MPI stays" * doctest::skip(!mpi::is_open_mpi())) {
  forget_settings();
  const test::Environment wanted(messaging, "cm");
  {
    const mpi::LoneStart lone_start;
    CHECK(is(messaging, "cm"));
  }
  CHECK(is(messaging, "cm"));
}

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
