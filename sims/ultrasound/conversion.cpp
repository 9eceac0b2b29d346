// SPDX-License-Identifier: BSD-3-Clause
#include "conversion.hpp"

#include <fmt/format.h>

#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/plan.hpp"
#include "output/core/resume.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

namespace {

bool is_kwave_checkpoint(const std::string& path) {
  try {
    return h5::File::open(path).text_attribute("/", "file_type") == "checkpoint";
  } catch (const Error&) {
    return false;
  }
}

void read_reductions(const std::string& path, const CheckpointHeader& header, const output::Plan& plan,
                     const output::KeptReductions& reductions) {
  if (reductions.all().empty()) return;
  if (!header.has_reductions)
    throw Error(ErrorInfo{
        .kind = ErrorKind::input,
        .message = fmt::format("{}: holds no sums and extremes over time, which this run has (such as "
                               "{}): k-Wave leaves them unfinished in the output file",
                               path, reductions.all().front().stream),
        .path = path,
        .hint = "resume from it with --checkpoint_file, whose next checkpoint has them"});
  output::read_accumulators(path, plan, reductions);
}

}  // namespace

run::ForeignFormat kwave_format(mpi::CommView comm, const CheckpointOrigin& origin, StepIndex steps,
                                const ConvertedArrays& arrays, const output::WriteOptions& write) {
  return {.name = kwave_format_name,
          .recognises = is_kwave_checkpoint,
          .files = [](const std::string& path) { return std::vector{path}; },
          .read = [=](const std::string& path, const output::Plan& plan,
                      const output::KeptReductions& reductions) -> std::optional<StepIndex> {
            const auto header = inspect_checkpoint(comm, path, origin.points, steps);
            read_checkpoint(comm, path, arrays.state);
            mpi::collectively(comm, [&] { read_reductions(path, header, plan, reductions); });
            return header.step;
          },
          .write =
              [=](const std::string& path, std::optional<StepIndex> step, const output::Plan& plan,
                  const output::KeptReductions& reductions) {
                arrays.saved([&](const std::vector<StateArray>& all) {
                  write_checkpoint(comm, path, origin, step.value(), all,
                                   {output::accumulator_streams(plan.streams, all.size()), reductions.all()},
                                   write);
                });
              }};
}

}  // namespace tailrace::ultrasound
