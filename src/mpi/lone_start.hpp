// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace tailrace::mpi {

/// While it lives, Open MPI's environment says what a process that was started without a launcher needs: no
/// search for networks, and no daemon beside it, without which MPI_Init takes a fifth of the time (Open MPI
/// 4.1.4). The daemon stays where files are not opened by ROMIO (`uses_romio`): Open MPI's own MPI-IO
/// wants the session directory. What the user has set stays, and where processes may be added
/// (`may_oversubscribe`) nothing changes, since only the daemon can. Afterwards the environment is as before,
/// so that programs started from this one do not see it. Nothing to do under other MPIs. Not thread-safe: to
/// be used before there are threads. @local
class LoneStart {
 public:
  LoneStart();
  LoneStart(const LoneStart&) = delete;
  LoneStart& operator=(const LoneStart&) = delete;
  ~LoneStart();

 private:
  void set_if_all_are_unset(std::span<const std::pair<const char*, const char*>> settings);

  std::vector<const char*> names_;
};

/// Returns whether a launcher or a batch system started this process, perhaps with others. @local
bool has_launcher();

}  // namespace tailrace::mpi
