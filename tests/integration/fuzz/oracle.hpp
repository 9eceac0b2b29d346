// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tailrace/comm.hpp"

namespace tailrace::fuzz {

/// Describes what became of a changed input.
enum class Answer { refused, accepted, run, wrong };

struct Verdict {
  Answer answer = Answer::wrong;
  std::string complaint;  ///< refers to a wrong answer
};

/// Returns where standard error goes for good from the first call of `check` on.
std::string error_file(const std::string& directory);

/// Makes the changed input of a seed in an empty directory, hands it to the program and looks at what it says
/// and writes. `report` hears what was changed before the program starts.
Verdict judge(mpi::CommView comm, std::uint64_t seed, const std::string& directory,
              const std::function<void(const std::string&)>& report);

}  // namespace tailrace::fuzz
