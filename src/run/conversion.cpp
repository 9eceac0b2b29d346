// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/resume.hpp"
#include "run/convert_checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/streams.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"

namespace tailrace::run {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t buffer_bytes = 16 << 20;  // nothing computes meanwhile

[[noreturn]] void refuse(ErrorKind kind, const std::string& subject, const std::string& what,
                         const std::string& fix) {
  throw Error(
      ErrorInfo{.kind = kind, .message = fmt::format("{}: {}", subject, what), .path = subject, .hint = fix});
}

std::string names_of(const std::vector<ForeignFormat>& formats) {
  std::string names = our_format;
  for (const auto& format : formats) names += ", " + format.name;
  return names;
}

const ForeignFormat& format_named(const std::string& name, const std::vector<ForeignFormat>& formats) {
  const auto found =
      std::find_if(formats.begin(), formats.end(), [&](const auto& format) { return format.name == name; });
  if (found == formats.end())
    refuse(ErrorKind::usage, fmt::format("--checkpoint-format {}", name), "is not known",
           "one of " + names_of(formats));
  return *found;
}

/// Number of the format in which a checkpoint is, the same on all ranks.
std::size_t recognised(mpi::CommView comm, const std::string& path,
                       const std::vector<ForeignFormat>& formats) {
  std::int64_t number = 0;
  mpi::collectively_on_root(comm, [&] {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const auto& format) { return format.recognises(path); });
    if (found == formats.end())
      refuse(ErrorKind::input, path, "is no checkpoint in a format to convert from",
             fmt::format("one of {}, and the target in another", names_of(formats)));
    number = found - formats.begin();
  });
  return static_cast<std::size_t>(mpi::max(comm, number));
}

void refuse_existing(mpi::CommView comm, const std::vector<std::string>& paths) {
  mpi::collectively_on_root(comm, [&] {
    std::error_code code;
    for (const auto& path : paths)
      if (fs::exists(path, code))
        refuse(ErrorKind::usage, path, "exists", "choose another target, or remove it");
  });
}

bool is_ours(mpi::CommView comm, const std::string& path) {
  std::error_code code;
  return mpi::max(comm, std::int64_t{comm.is_root() && fs::is_directory(path, code)}) > 0;
}

/// Returns where it is.
std::string write_ours(mpi::CommView comm, const std::string& directory, StepIndex step,
                       const ConvertedState& state, const checkpoint::StateFunction& whole, trace::Log& log) {
  const auto path = checkpoint::checkpoint_path(directory, step);
  refuse_existing(comm, {path});
  auto writing = state.write;
  writing.strategy = "blocking";
  checkpoint::Saving saving(
      comm, directory,
      {.simulation = state.simulation, .program = state.program, .step = step, .time_s = state.time_s(step)},
      whole, writing, {.buffer_bytes = buffer_bytes}, log);
  saving.finish();
  return path;
}

StepIndex step_of_run(mpi::CommView comm, const std::string& path, std::optional<StepIndex> step) {
  mpi::collectively(comm, [&] {
    if (!step)
      refuse(ErrorKind::input, path, "does not state after which step of a run it was written",
             "the case of its run, whose steps its time fits");
  });
  return *step;
}

}  // namespace

void add_conversion_options(OptionParser& parser, const std::vector<std::string>& formats,
                            Conversion& words) {
  const auto add = [&](const char* name, std::string& text, const std::string& type, const char* help) {
    parser.option(name, text, help).type(type).group("Checkpoints in other formats");
  };
  add("--checkpoint-from", words.from, "PATH", "convert this checkpoint, and compute nothing");
  add("--checkpoint-to", words.to, "PATH",
      "file to make, or for the format tailrace a directory of checkpoints");
  add("--checkpoint-format", words.format, fmt::format("{}|{}", our_format, fmt::join(formats, "|")),
      "what it becomes");
}

std::optional<Conversion> asked_for(const Conversion& words) {
  if (words.from.empty() && words.to.empty() && words.format.empty()) return {};
  if (words.from.empty() || words.to.empty() || words.format.empty())
    throw Error(ErrorKind::usage,
                "--checkpoint-from, --checkpoint-to and --checkpoint-format belong together. Fix: give all "
                "three");
  return words;
}

std::string convert_checkpoint(mpi::CommView comm, const Conversion& conversion,
                               const std::vector<ForeignFormat>& formats, const ConvertedState& state,
                               trace::Log& log) {
  const output::KeptReductions reductions(state.plan);
  const checkpoint::StateFunction whole = [&](checkpoint::StateArchive& archive) {
    state.simulation_state(archive);
    checkpoint::pass_reductions(archive, reductions.all());
  };
  const ForeignFormat* target = nullptr;  // none is ours
  const bool from_ours = is_ours(comm, conversion.from);
  mpi::collectively(comm, [&] {
    if (conversion.format != our_format) target = &format_named(conversion.format, formats);
    if (target == nullptr && from_ours)
      refuse(ErrorKind::usage, conversion.from, "is a checkpoint of Tailrace already", "copy the directory");
  });
  auto made = target != nullptr ? target->files(conversion.to) : std::vector<std::string>();
  refuse_existing(comm, made);
  std::optional<StepIndex> step;
  if (from_ours) {
    const checkpoint::Checkpoint ours(comm, conversion.from, state.simulation);
    static_cast<void>(ours.restore(whole));
    step = ours.step();
  } else {
    const auto& source = formats[recognised(comm, conversion.from, formats)];
    step = source.read(conversion.from, state.plan, reductions);
  }
  if (target != nullptr)
    target->write(conversion.to, step, state.plan, reductions);
  else
    made = {write_ours(comm, conversion.to, step_of_run(comm, conversion.from, step), state, whole, log)};
  return fmt::format("{}: the state{}, in the format {}", fmt::join(made, ", "),
                     step ? fmt::format(" after step {}", *step) : "", conversion.format);
}

}  // namespace tailrace::run
