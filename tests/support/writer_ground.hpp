// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "output/core/writer.hpp"

namespace tailrace::test {

/// Describes what a writer is on where no session is around it. To derive a test's bench from, with the sink
/// and, after it, the writer.
struct WriterGround {
  WriterGround(output::Plan its_plan, const output::WriteOptions& its_options)
      : plan(std::move(its_plan)), options(its_options) {}
  WriterGround(const WriterGround&) = delete;
  WriterGround& operator=(const WriterGround&) = delete;

  [[nodiscard]] output::WriterContext context(output::Sink& sink, mpi::CommView comm = {}) {
    return {.comm = comm,
            .sink = sink,
            .shares = shares,
            .staging_bytes = plan.staging_bytes(),
            .max_staged_extents = plan.staged_extents_per_buffer(),
            .options = options,
            .services = services,
            .writer_cpus = writer_cpus,
            .reached = reached,
            .log = log,
            .writer_log = writer_log,
            .warning = warning};
  }

  output::Plan plan;
  std::vector<const output::Share*> shares = output::shares_of(plan);
  output::WriteOptions options;
  output::SessionServices services;
  Cpus writer_cpus;
  output::Reached reached;
  trace::Log log{"main"}, writer_log{"writer"};
  std::string warning;
};

}  // namespace tailrace::test
