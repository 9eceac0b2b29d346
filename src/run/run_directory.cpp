// SPDX-License-Identifier: BSD-3-Clause
// The part of `Run` that makes its directory and refuses those of others.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "checkpoint/local.hpp"
#include "checkpoint/store.hpp"
#include "mpi/verdict.hpp"
#include "run/run_impl.hpp"

namespace tailrace::run {

/// The error of a place that the user has to choose otherwise.
static Error bad_place(const std::string& place, const std::string& what, const std::string& hint) {
  return Error(ErrorInfo{
      .kind = ErrorKind::usage, .message = fmt::format("{}: {}", place, what), .path = place, .hint = hint});
}

void Run::Impl::check_directory() const {
  const auto& directory = options_.directory;
  if (directory.empty()) return;
  if (options_.resume) {
    if (checkpoint::list_checkpoints(checkpoint_directory()).empty() &&
        !checkpoint::has_local_level(checkpoint_directory()))
      throw bad_place(directory, "has no checkpoint to resume from", "start the run anew, without --resume");
  } else if (std::filesystem::exists(directory) && !options_.overwrite) {
    throw bad_place(directory, "the run directory exists", "choose another --out, or add --overwrite");
  }
}

/// A file that is no regular one, such as /dev/null, loses nothing.
void Run::Impl::check_output(const std::string& output) const {
  if (options_.resume || options_.overwrite || !std::filesystem::is_regular_file(output)) return;
  throw bad_place(output, "the output file exists", "choose another -o, or add --overwrite");
}

void Run::Impl::check_places(const std::string& output) {
  mpi::collectively_on_root(comm_, [&] {
    check_directory();
    check_output(output);
  });
}

void Run::Impl::prepare_directory() {
  if (options_.directory.empty()) return;
  mpi::collectively_on_root(comm_, [&] {
    check_directory();
    if (options_.resume) return;
    clear_directory();
    std::error_code code;
    std::filesystem::create_directories(std::filesystem::path(options_.directory) / "trace", code);
    if (code)
      throw bad_place(options_.directory, "cannot be made: " + code.message(),
                      "choose a directory that you may write to");
    keep_arguments();
  });
  if (!options_.resume) begin_traces();
}

void Run::Impl::begin_traces() {
  tracing_.emplace(comm_, options_.directory, options_.trace, account_.start_s);
}

/// Finds out what of an earlier run would be taken for this one's.
void Run::Impl::clear_directory() {
  namespace fs = std::filesystem;
  const fs::path directory = options_.directory;
  std::error_code code;
  for (const char* old : {"run.json", "report.html", "progress.json"}) fs::remove(directory / old, code);
  for (const char* old : {"trace", "checkpoints", "legs"}) fs::remove_all(directory / old, code);
}

/// The state is restored: the directory is this segment's from now on. @collective{comm}
void Run::Impl::begin_segment() {
  mpi::collectively_on_root(comm_, [&] { set_segment_aside(); });
  begin_traces();
}

/// Moves the account and the traces of the segment before to legs/N, and removes the report, which knows of
/// no more.
void Run::Impl::set_segment_aside() {
  namespace fs = std::filesystem;
  const fs::path directory = options_.directory;
  int segment = 1;
  while (fs::exists(directory / "legs" / std::to_string(segment))) ++segment;
  const auto place = directory / "legs" / std::to_string(segment);
  std::error_code code;
  const auto fail_if = [&](const fs::path& path, const std::string& what) {
    if (!code) return;
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: {}: {}", path.string(), what, code.message()),
                          .path = path.string(),
                          .hint = "check the permissions of the run directory"});
  };
  fs::create_directories(place, code);
  for (const char* old : {"run.json", "progress.json", "trace"}) {
    if (!fs::exists(directory / old)) continue;
    fs::rename(directory / old, place / old, code);
    fail_if(directory / old, fmt::format("cannot be moved to {}", place.string()));
  }
  fs::remove(directory / "report.html", code);
  fs::create_directories(directory / "trace", code);
  fail_if(directory / "trace", "cannot be made");
}

/// For `tailrace resume`.
void Run::Impl::keep_arguments() {
  if (options_.arguments.empty()) return;
  std::error_code code;
  const auto path = fmt::format("{}/start.json", options_.directory);
  std::ofstream file(path);
  file << nlohmann::ordered_json{{"program", options_.program},
                                 {"executable",
                                  std::filesystem::read_symlink("/proc/self/exe", code).string()},
                                 {"arguments", options_.arguments},
                                 {"directory", std::filesystem::current_path(code).string()},
                                 {"ranks", comm_.size()}}
              .dump(1)
       << '\n'
       << std::flush;
  if (!file)
    warn(fmt::format("{} cannot be written: `tailrace resume` will not know how the run was started", path));
}

}  // namespace tailrace::run
