// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "output/registry/create.hpp"
#include "output/registry/options.hpp"
#include "output/registry/registry.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

Error refusal_of(const PlannedStream& stream, const std::string& why, const std::string& fix) {
  return Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message = fmt::format("{}: on_failure = \"{}\" {}", stream.title(), to_string(stream.on_failure), why),
      .path = {},
      .hint = fmt::format("{}, or on_failure = \"stop\"", fix)});
}

void check_policy(const PlannedStream& stream, const SinkEntry& sink, const WriteOptions& options,
                  StepIndex resume_after) {
  const bool switches = stream.on_failure == OnFailure::switch_directory;
  if (stream.on_failure == OnFailure::stop) return;
  if (!sink.traits.rewrites || (switches && !sink.traits.directories))
    throw refusal_of(stream, fmt::format("does not go with --sink {}", sink.name), "--sink hdf5");
  const std::size_t count = options.directories.size();
  const bool goes_on = resume_after > 0 && count == 0;  // in the directories that the file began in
  if (!switches || goes_on || (count >= 2 && count <= max_directories_to_switch)) return;
  throw refusal_of(stream,
                   fmt::format("needs from 2 to {} directories, and {} named", max_directories_to_switch,
                               count == 1 ? "1 is" : fmt::format("{} are", count)),
                   "name several with write.directories (--directories)");
}

/// Refuses policies for failures that the sink cannot keep.
void check_policies(const Plan& plan, const WriteOptions& options, StepIndex resume_after) {
  for (const auto& stream : plan.streams)
    check_policy(stream, find_sink(options.sink), options, resume_after);
  const auto rows = streams_of_rows(plan);
  if (!rows.empty() && plan.may_switch())
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("{}: its rows stay in one file, and do not go with "
                                                 "on_failure = \"switch\" of any output",
                                                 rows.front()->title()),
                          .path = {},
                          .hint = "another on_failure, or another run for the rows"});
}

/// Refuses streams that grow where the sink cannot.
void check_growth(const Plan& plan, const WriteOptions& options) {
  if (find_sink(options.sink).traits.grows) return;
  const bool places = places_rows(options);
  const auto growing = std::find_if(plan.streams.begin(), plan.streams.end(), [&](const auto& stream) {
    return stream.growth && !(places && stream.takes_rows() && !stream.cadence.is_open());
  });
  if (growing == plan.streams.end()) return;
  std::vector<const char*> able;
  for (const auto& entry : sinks())
    if (entry.traits.grows || (entry.traits.row_files && !growing->cadence.is_open() && !places))
      able.push_back(entry.name);
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message = fmt::format("{}: {} of its samples is not known beforehand, which --sink {} needs{}",
                             growing->title(),
                             growing->cadence.is_open() ? "samples = \"open\": the number" : "the size",
                             options.sink, splits_samples(options) ? " with --write spawn-each" : ""),
      .path = {},
      .hint = fmt::format("--sink {}", fmt::join(able, " or "))});
}

}  // namespace

void check_streams_fit(const Plan& plan, const WriteOptions& options, StepIndex resume_after) {
  check_policies(plan, options, resume_after);
  check_growth(plan, options);
}

}  // namespace tailrace::output
