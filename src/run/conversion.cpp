#include "tailrace/run/conversion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "tailrace/base/error.hpp"
#include "tailrace/checkpoint/restore.hpp"
#include "tailrace/checkpoint/store.hpp"
#include "tailrace/checkpoint/streams.hpp"
#include "tailrace/mpi/verdict.hpp"

namespace tailrace::run {

namespace {

namespace fs = std::filesystem;

constexpr const char* our_format = "tailrace";
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
  mpi::agree_on_root(comm, [&] {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const auto& format) { return format.recognises(path); });
    if (found == formats.end())
      refuse(ErrorKind::input, path, "is no checkpoint in a format to convert from",
             fmt::format("one of {}, and the target in another", names_of(formats)));
    number = found - formats.begin();
  });
  return static_cast<std::size_t>(mpi::max(comm, number));
}

void refuse_existing(mpi::CommView comm, const std::string& path) {
  mpi::agree_on_root(comm, [&] {
    std::error_code code;
    if (fs::exists(path, code))
      refuse(ErrorKind::usage, path, "exists", "choose another target, or remove it");
  });
}

/// Returns where it stands.
std::string write_ours(mpi::CommView comm, const std::string& directory, StepIndex step,
                       const ConvertedState& state, const checkpoint::StateFunction& whole, trace::Log& log) {
  const auto path = checkpoint::checkpoint_path(directory, step);
  refuse_existing(comm, path);
  auto writing = state.write;
  writing.strategy = "blocking";
  checkpoint::Saving saving(
      comm, directory,
      {.simulation = state.simulation, .program = state.program, .step = step, .time_s = state.time_s(step)},
      whole, writing, {.buffer_bytes = buffer_bytes}, log);
  saving.finish();
  return path;
}

}  // namespace

void add_conversion_options(CLI::App& app, Conversion& words) {
  const auto add = [&](const char* name, std::string& text, const char* type, const std::string& help) {
    app.add_option(name, text, help)->type_name(type)->group("Checkpoints in other formats");
  };
  add("--checkpoint-from", words.from, "PATH", "convert this checkpoint of the run, and compute nothing");
  add("--checkpoint-to", words.to, "PATH",
      "file to make, or for the format tailrace a directory of checkpoints");
  add("--checkpoint-format", words.format, "NAME", "what it becomes");
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
  StepIndex step = 0;
  std::string made = conversion.to;
  if (conversion.format == our_format) {
    const auto& format = formats[recognised(comm, conversion.from, formats)];
    step = format.read(conversion.from, state.plan, reductions);
    made = write_ours(comm, conversion.to, step, state, whole, log);
  } else {
    const ForeignFormat* format = nullptr;
    mpi::agree_on(comm, [&] { format = &format_named(conversion.format, formats); });
    refuse_existing(comm, conversion.to);
    const checkpoint::Checkpoint ours(comm, conversion.from, state.simulation);
    static_cast<void>(ours.restore(whole));
    step = ours.step();
    format->write(conversion.to, step, state.plan, reductions);
  }
  return fmt::format("{}: the state after step {}, in the format {}", made, step, conversion.format);
}

}  // namespace tailrace::run
