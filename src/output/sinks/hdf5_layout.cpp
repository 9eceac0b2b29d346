// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_layout.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "mpi/verdict.hpp"
#include "output/sinks/directory_switch.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/raw_directories.hpp"
#include "output/sinks/snapshots.hpp"

namespace tailrace::output {

Hdf5Layout::Hdf5Layout(const SinkContext& context)
    : path_(context.path), plan_(context.plan), sources_(context.sources), joins_(context.joins) {
  if (joins_)
    join(context);
  else
    create_or_open(context);
}

Hdf5Layout::Hdf5Layout(const SinkContext& context, Hdf5Places places)
    : path_(context.path),
      plan_(context.plan),
      sources_(context.sources),
      joins_(context.joins),
      places_(std::move(places)) {
  share(context.comm, places_);
  if (!joins_) mpi::collectively_on_root(context.comm, [&] { prepare(0); });
}

/// Finds its way in a file that others have laid out.
void Hdf5Layout::join(const SinkContext& context) {
  mpi::collectively_on_root(context.comm, [&] {
    with_path(path_, [&] {
      const auto found = find_places(context);
      TAILRACE_CHECK(found.has_value(), "a file that others have laid out has known places");
      places_ = *found;
    });
  });
  share(context.comm, places_);
}

void Hdf5Layout::create_or_open(const SinkContext& context) {
  const bool resumes = context.resume_after > 0;
  bool in_place = true;
  const auto prepare_places = [&] {
    if (context.splits_samples && resumes) discard_snapshots(path_, context.resume_after);
    prepare(context.resume_after);
  };
  mpi::collectively_on_root(context.comm, [&] {
    in_place = find_or_create(context);
    if (in_place) prepare_places();
  });
  if (resumes && mpi::min(context.comm, std::int64_t{in_place}) == 0) {
    places_ = replace_by_copy(context);
    if (context.comm.is_root())
      warn(fmt::format(
          "{} was laid out by another program, or with --write spawn-each, and has been copied into "
          "a file that holds its samples itself",
          path_));
    mpi::collectively_on_root(context.comm, prepare_places);
  }
  if (context.comm.is_root() && in_place && resumes && names_others(context.options))
    warn(fmt::format("{} continues in the directories that it began in", path_));
  if (context.comm.is_root() && in_place && resumes && context.options.lustre.given())
    warn(fmt::format("{} keeps the stripes that it was created with", path_));
  share(context.comm, places_);
}

void Hdf5Layout::warn(const std::string& text) {
  if (!warning_.empty()) warning_ += "; ";
  warning_ += text;
}

/// Creates the file, or finds its places. Returns false if it has to be copied first.
bool Hdf5Layout::find_or_create(const SinkContext& context) {
  bool in_place = true;
  with_path(path_, [&] {
    if (context.resume_after == 0) {
      places_ = create_file(context);
      return;
    }
    const auto found = find_places(context);
    in_place = found.has_value();
    if (found) places_ = *found;
    const bool has_directories = found ? places_.switches > 0 : context.options.directories.size() > 1;
    if (plan_.may_switch() && !has_directories) refuse_switch();
  });
  return in_place;
}

void Hdf5Layout::refuse_switch() const {
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("{}: on_failure = \"switch\" cannot resume in this file: its "
                                               "values are not in several directories that may be left",
                                               path_),
                        .path = path_,
                        .hint = "begin a new file for it, or resume with another policy"});
}

/// Returns whether the user names other directories than the raw files have.
bool Hdf5Layout::names_others(const WriteOptions& options) const {
  namespace fs = std::filesystem;
  std::set<fs::path> present(places_.directories.begin(), places_.directories.end()), named;
  for (std::size_t i = 1; i < places_.files.size(); ++i)
    present.insert(fs::path(places_.files[i]).parent_path());
  for (const auto& path : raw_paths(options.directories, "")) named.insert(fs::path(path).parent_path());
  return !named.empty() && named != present;
}

/// Returns what the streams' datasets take in each file.
std::vector<SpaceNeed> Hdf5Layout::needs() const {
  std::vector<SpaceNeed> needs;
  for (const auto& file : places_.files) needs.push_back({file, 0});
  std::size_t dataset = 0;
  for (const auto& stream : plan_.streams)
    for (std::size_t part = 0; part < stream.datasets.size(); ++part, ++dataset)
      for (const auto& extent : places_.datasets[dataset])
        if (!stream.takes_rows()) needs[extent.file].bytes += static_cast<double>(extent.bytes);
  return needs;
}

/// Samples after step `after` are going to be written again, and may be other ones.
void Hdf5Layout::prepare(StepIndex after) {
  if (after > 0) set_commit_mark(path_, places_, after);
  forget_changes(places_);
  const auto regions = regions_after(plan_, places_, after);
  if (!has_space(needs(), warning_)) return;
  for (std::size_t i = 0; i < regions.size(); ++i) reserve(places_.files[i], regions[i]);
}

Hdf5Layout::Slots Hdf5Layout::slots_of(int source) const noexcept {
  if (lacks_slots()) return {};
  const std::int64_t first = places_.commit_mark_slots * source / sources_,
                     end = places_.commit_mark_slots * (source + 1) / sources_;
  return {first, end - first};
}

void Hdf5Layout::publish(mpi::CommView comm, StepIndex steps) const {
  if (lacks_slots()) mpi::collectively_on_root(comm, [&] { set_commit_mark(path_, places_, steps); });
}

void Hdf5Layout::finish(const FileTail& tail, const FileEnd& end) const {
  if (joins_) return;
  if (end.complete && lacks_slots()) set_commit_mark(path_, places_, end.steps);
  with_path(path_, [&] { write_tail(path_, tail, end.complete); });
  if (!end.complete) return;
  const auto regions = regions_after(plan_, places_, end.steps);
  for (std::size_t i = 0; i < regions.size(); ++i) release(places_.files[i], regions[i]);
}

}  // namespace tailrace::output
