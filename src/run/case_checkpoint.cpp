// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/system.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::run {

namespace {

constexpr double max_buffer_bytes = 0x1p50;

/// The keys of the first of two levels.
void read_local_level(CaseFile& file, checkpoint::LocalLevel& local) {
  if (const auto directory = file.text("checkpoint.local")) {
    if (!directory->starts_with("/"))
      file.add_problem("checkpoint.local", fmt::format("\"{}\" is no absolute path", *directory),
                       "a directory that has this name on each node, such as \"/local/scratch\"");
    local.directory = *directory;
  }
  const auto partner = file.boolean("checkpoint.partner");
  const auto every = file.integer("checkpoint.copy_every");
  if (!local.wanted() && (partner || every))
    file.add_problem(partner ? "checkpoint.partner" : "checkpoint.copy_every", "is of checkpoints on nodes",
                     "checkpoint.local = \"/dir/on/node\" too");
  local.partner = partner.value_or(false);
  local.copy_every = static_cast<int>(every.value_or(1));
}

}  // namespace

void read_checkpoint(CaseFile& file, CheckpointOptions& options) {
  options.rules = {.every_steps = file.integer("checkpoint.every"),
                   .every_s = file.real("checkpoint.every_s"),
                   .mtbf_s = file.real("checkpoint.mtbf_s")};
  const auto rules = {file.has("checkpoint.every"), file.has("checkpoint.every_s"),
                      file.has("checkpoint.mtbf_s")};
  if (std::count(rules.begin(), rules.end(), true) > 1)
    file.add_problem("checkpoint", "every, every_s and mtbf_s each say when checkpoints are taken",
                     "give one of them");
  options.keep = static_cast<int>(*file.integer("checkpoint.keep"));
  const auto buffers = *file.text("checkpoint.buffers"), compress = *file.text("checkpoint.compress");
  file.try_to([&] {
    const double bytes = parse_bytes(buffers, "checkpoint.buffers");
    if (bytes < 1 || bytes > max_buffer_bytes)
      file.add_problem("checkpoint.buffers",
                       fmt::format("\"{}\" holds nothing, or more than any memory", buffers),
                       "a size such as \"64MiB\"");
    else
      options.packing.buffer_bytes = static_cast<std::int64_t>(bytes);
  });
  file.try_to(
      [&] { options.packing.compression = checkpoint::parse_compression("checkpoint.compress", compress); });
  options.goes_on = file.choice("checkpoint.on_failure") == 0;
  read_local_level(file, options.local);
}

void set_checkpoint_defaults(CaseFile& file, const CheckpointOptions& options) {
  file.set_default("checkpoint.buffers", fmt::format("{}B", options.packing.buffer_bytes));
}

}  // namespace tailrace::run
