// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tailrace::mpi {

/// While it lives, Open MPI's environment says what a process that was started without a launcher needs: no
/// search for networks, which takes half of MPI_Init (0.18 without, 0.40 s with it, Open MPI 4.1.4).
/// Variables that the user has set stay, and where processes may be added (`may_oversubscribe`) nothing
/// changes. Afterwards the environment is as before, so that programs started from this one do not see it.
/// Nothing to do under other MPIs. The daemon beside such a process stays: without it
/// (`ess_singleton_isolated`) all processes of a user share one session directory, and those that start or
/// end at the same time remove it from under each other. Not thread-safe: to be used before there are
/// threads. @local
class LoneStart {
 public:
  LoneStart();
  LoneStart(const LoneStart&) = delete;
  LoneStart& operator=(const LoneStart&) = delete;
  ~LoneStart();

 private:
  bool is_set_;
};

/// Returns whether a launcher or a batch system started this process, perhaps with others. @local
bool has_launcher();

}  // namespace tailrace::mpi
