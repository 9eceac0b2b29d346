// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "output/core/plan.hpp"
#include "output/core/sink.hpp"
#include "output/core/writer.hpp"
#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Creates the file of the sink that the options name. @collective{context.comm}, synchronises; every rank
/// throws the same error or none.
std::unique_ptr<Sink> create_sink(SinkContext context);
/// Starts the writer of the strategy that the options name. @collective{context.comm}
std::unique_ptr<Writer> create_writer(WriterContext context);

/// Errors (usage): the sink that the options name cannot resume in a file that an earlier run left. @local
void check_resumes(const WriteOptions& options);
/// Errors (usage): a stream's policy for failures is not one that the sink can keep, in a new file or, with
/// `resume_after`, in one that is there; or a stream grows, which the sink cannot. @local
void check_streams_fit(const Plan& plan, const WriteOptions& options, StepIndex resume_after);
/// Returns whether the sink that the options name has places for rows of any number (`place_rows`). @local
bool places_rows(const WriteOptions& options);

}  // namespace tailrace::output
