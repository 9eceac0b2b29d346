#include "tailrace/run/case_checkpoint.hpp"

#include <fmt/format.h>

#include "base/system.hpp"

namespace tailrace::run {

namespace {

/// The keys of the first of two levels.
void read_local_level(CaseFile& file, checkpoint::LocalLevel& local) {
  constexpr int most = 1000000;
  if (const auto directory = file.text("checkpoint.local")) {
    if (!directory->starts_with("/"))
      file.add_problem("checkpoint.local", fmt::format("\"{}\" is no absolute path", *directory),
                       "a directory that has this name on each node, such as \"/local/scratch\"");
    local.directory = *directory;
  }
  const auto partner = file.boolean("checkpoint.partner");
  const auto every = file.integer("checkpoint.copy_every", {1, most});
  if (!local.wanted() && (partner || every))
    file.add_problem(partner ? "checkpoint.partner" : "checkpoint.copy_every", "is of checkpoints on nodes",
                     "checkpoint.local = \"/dir/on/node\" too");
  local.partner = partner.value_or(false);
  local.copy_every = static_cast<int>(every.value_or(1));
}

}  // namespace

void read_checkpoint(CaseFile& file, CheckpointOptions& options) {
  constexpr int most_kept = 1000;
  constexpr double longest_s = 1e9;
  options.rules = {.every_steps = file.integer("checkpoint.every", {1, std::int64_t{1} << 40}),
                   .every_s = file.real("checkpoint.every_s", {1e-3, longest_s}),
                   .mtbf_s = file.real("checkpoint.mtbf_s", {1, longest_s})};
  if (const auto keep = file.integer("checkpoint.keep", {1, most_kept}))
    options.keep = static_cast<int>(*keep);
  if (const auto buffers = file.text("checkpoint.buffers"))
    file.try_to([&] {
      options.packing.buffer_bytes = static_cast<std::int64_t>(parse_bytes(*buffers, "checkpoint.buffers"));
    });
  if (const auto compress = file.text("checkpoint.compress"))
    file.try_to([&] {
      options.packing.compression = checkpoint::parse_compression("checkpoint.compress", *compress);
    });
  if (const auto policy = file.text("checkpoint.on_failure")) {
    if (*policy != "warn" && *policy != "stop")
      file.add_problem("checkpoint.on_failure", fmt::format("\"{}\" is not known", *policy),
                       "\"warn\" or \"stop\"");
    options.goes_on = *policy != "stop";
  }
  read_local_level(file, options.local);
}

void set_checkpoint_defaults(CaseFile& file, const CheckpointOptions& options) {
  file.set_default("checkpoint.keep", fmt::format("{}", options.keep));
  file.set_default("checkpoint.buffers", fmt::format("{}B", options.packing.buffer_bytes));
  file.set_default("checkpoint.compress", checkpoint::compression_text(options.packing.compression));
  file.set_default("checkpoint.on_failure", options.goes_on ? "warn" : "stop");
}

}  // namespace tailrace::run
