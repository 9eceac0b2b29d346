// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_checkpoint.hpp"

#include <fmt/format.h>

#include "base/system.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::run {

namespace {

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
  options.keep = static_cast<int>(*file.integer("checkpoint.keep"));
  const auto buffers = *file.text("checkpoint.buffers"), compress = *file.text("checkpoint.compress");
  file.try_to([&] {
    options.packing.buffer_bytes = static_cast<std::int64_t>(parse_bytes(buffers, "checkpoint.buffers"));
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
