// SPDX-License-Identifier: BSD-3-Clause
#include "run/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/system.hpp"
#include "mpi/node.hpp"
#include "mpi/verdict.hpp"
#include "output/planner/control_group.hpp"

namespace tailrace::run {

MemoryLimit memory_limit() {
  const auto machine = static_cast<double>(physical_memory_bytes());
  const auto group = output::ControlGroups().memory_limit_bytes();
  if (group && static_cast<double>(*group) < machine) return {static_cast<double>(*group), true};
  return {machine, false};
}

std::optional<ErrorInfo> too_much_memory(double needed_bytes, const MemoryLimit& limit, const RunSize& size) {
  if (needed_bytes <= limit.bytes) return {};
  return ErrorInfo{
      .kind = ErrorKind::input,
      .message = fmt::format("{}: the run takes at least {} of memory, and {} {}", size.text,
                             human_bytes(needed_bytes),
                             limit.of_group ? "the control group of this process allows" : "this machine has",
                             human_bytes(limit.bytes)),
      .path = {},
      .hint = fmt::format("{}, or at least {:.0f} machines like this one",
                          size.fits(limit.bytes / needed_bytes), std::ceil(needed_bytes / limit.bytes))};
}

bool in_batch_job() noexcept {
  constexpr std::array variables{"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
  return std::any_of(variables.begin(), variables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

void check_memory(mpi::CommView comm, double own_bytes, const RunSize& size) {
  const mpi::Node node(comm);
  mpi::agree(comm, too_much_memory(mpi::sum(node.comm(), own_bytes), memory_limit(), size));
}

RunSize grid_size(const std::string& name, Index3 points) {
  const auto fits = [points](double share) {
    int axes = 0;
    for (const auto n : {points.x, points.y, points.z}) axes += n > 1 ? 1 : 0;
    const double factor = std::pow(share, 1.0 / std::max(axes, 1));
    const auto part = [&](std::int64_t n) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(factor * static_cast<double>(n)));
    };
    return fmt::format("about {} x {} x {} points at most", part(points.x), part(points.y), part(points.z));
  };
  const auto& [x, y, z] = points;
  return {fmt::format("{} = [{}, {}, {}]", name, x, y, z), fits};
}

}  // namespace tailrace::run
