// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/resumption.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "base/check.hpp"
#include "h5/file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

bool accumulates(const PlannedStream& stream) noexcept {
  return stream.reduction != Reduction::none && stream.reduction != Reduction::final;
}

h5::ElementType state_type_of(const PlannedStream& stream, h5::ElementType type) noexcept {
  Share share;
  share.type = type;
  return Accumulator::state_type(share, stream.reduction);
}

/// The datasets of an accumulating stream, and where this rank's values belong in them.
std::vector<RunningReduction> reductions_of(const PlannedStream& stream, std::size_t first_dataset) {
  std::vector<RunningReduction> all;
  for (std::size_t part = 0; part < stream.datasets.size(); ++part) {
    RunningReduction reduction{.stream = stream.name,
                               .part = part,
                               .type = state_type_of(stream, stream.datasets[part].type),
                               .runs = {},
                               .values = {}};
    for (const auto& share : stream.shares)
      if (share.dataset == first_dataset + part) reduction.runs = share.runs;
    all.push_back(std::move(reduction));
  }
  return all;
}

bool is_float(h5::ElementType type) noexcept {
  return type == h5::ElementType::float32 || type == h5::ElementType::float64;
}

h5::File open_left_file(const std::string& path) {
  try {
    return h5::File::open(path);
  } catch (const Error& error) {
    auto info = error.info();
    info.hint = "give the file that the run left which is to be resumed, or start from the beginning";
    throw Error(info);
  }
}

/// Returns where the values of a stream's dataset are, with their element type.
std::string path_of_state(const h5::DatasetSpec& spec, const Resume& resume) {
  return resume.accumulators.empty() ? spec.path : accumulator_group + spec.path;
}

/// True if a file after that step may be without the stream's datasets: k-Wave makes some at the end.
bool may_lack(const PlannedStream& stream, StepIndex after) noexcept {
  return stream.reduction == Reduction::final || stream.cadence.samples_until(after) == 0;
}

/// True if what a file holds in one shape can be resumed in another. Datasets that grow begin without
/// anything, and are as long as they became.
bool may_resume(h5::Shape found, const h5::Shape& wanted) {
  if (found.size() == wanted.size() && !wanted.empty() && wanted.front() == 0) found.front() = 0;
  return found == wanted;
}

void check_dataset(const h5::File& file, const std::string& path, const h5::DatasetSpec& spec,
                   Problems& problems) {
  if (!file.has_dataset(path)) {
    problems.add(fmt::format("dataset {} is missing", path));
    return;
  }
  if (const auto shape = file.shape(path); !may_resume(shape, spec.shape))
    problems.add(fmt::format("dataset {} has shape {}, this run has {}", path, h5::to_string(shape),
                             h5::to_string(spec.shape)));
  if (const auto type = file.type(path); type != spec.type)
    problems.add(fmt::format("dataset {} has elements of {}, this run has {}", path, file.type_text(path),
                             h5::to_string(spec.type)));
}

/// Results that this run would leave as they are, although they lack its steps.
void check_for_others(const h5::File& file, const std::set<std::string>& known, Problems& problems) {
  for (const auto& path : file.dataset_paths())
    if (!known.contains(path) && is_float(file.type(path)) && h5::element_count(file.shape(path)) > 1)
      problems.add(fmt::format("dataset {} is not recorded by this run", path));
}

/// Why a raw file cannot be resumed, empty if it can.
std::string trouble_with(const std::string& raw_file) {
  if (access(raw_file.c_str(), R_OK | W_OK) != 0) return std::strerror(errno);
  std::error_code code;  // to read from a pipe would wait for its other end
  return std::filesystem::is_regular_file(raw_file, code) ? "" : "is no regular file";
}

/// Raw files that are named in the file must be there.
void check_raw_files(const h5::File& file, const Plan& plan, Problems& problems) {
  std::set<std::string> seen;
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) {
      if (!file.has_dataset(spec.path)) continue;
      for (const auto& part : file.external_parts(spec.path)) {
        if (!seen.insert(part.file).second) continue;
        if (const auto trouble = trouble_with(part.file); !trouble.empty())
          problems.add(fmt::format("{}, which has values of {}: {}", part.file, spec.path, trouble),
                       "bring it back, or start from the beginning");
      }
    }
}

/// The last step up to which a file has all samples; nothing where it does not say so, as those of other
/// programs.
std::optional<StepIndex> recorded_steps(const h5::File& file) {
  if (!file.has_dataset(commit_mark_path) || file.type(commit_mark_path) != h5::ElementType::uint64)
    return {};
  std::vector<std::uint64_t> slots(h5::element_count(file.shape(commit_mark_path)));
  file.read(commit_mark_path, std::span(slots));
  if (slots.empty()) return {};
  return static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end()));
}

/// Samples up to the step must be in the file: nobody takes them again.
void check_recorded(const h5::File& file, const Plan& plan, StepIndex after, Problems& problems) {
  const auto recorded = recorded_steps(file);
  if (!recorded) return;
  const StepIndex until = *recorded > 0 ? *recorded : -1;  // not even a sample of step 0
  for (const auto& stream : plan.streams)
    if (stream.reduction == Reduction::none &&
        stream.cadence.samples_until(after) > stream.cadence.samples_until(until))
      return problems.add(
          fmt::format("it has samples up to step {} only, and {} takes some up to step {}", *recorded,
                      stream.name, after),
          "resume from a checkpoint that the run has taken itself, or start from the beginning");
}

/// Returns whether a file has the running reductions of a plan in their group.
Problems check_accumulators(const h5::File& file, const Plan& plan, const std::string& path) {
  Problems problems(path);
  for (const auto& stream : plan.streams)
    for (auto spec : stream.datasets) {
      if (!accumulates(stream)) continue;
      spec.type = state_type_of(stream, spec.type);
      check_dataset(file, accumulator_group + spec.path, spec, problems);
    }
  return problems;
}

/// Reads runs of a dataset, which ascend, one after the other into `out`. Runs that lie near each other are
/// read together.
void read_runs(const h5::File& file, const std::string& path, const std::vector<Run>& runs,
               h5::ElementType type, std::span<std::byte> out) {
  constexpr std::int64_t window_values = 1 << 20;
  const std::size_t size = h5::size_bytes(type);
  std::vector<std::byte> window;
  std::size_t position = 0;
  for (std::size_t first = 0, end = 0; first < runs.size(); first = end) {
    const std::int64_t begin = runs[first].offset;
    while (end < runs.size() &&
           (end == first || runs[end].offset + runs[end].length - begin <= window_values))
      ++end;
    const auto values = static_cast<std::size_t>(runs[end - 1].offset + runs[end - 1].length - begin);
    const auto from = static_cast<std::uint64_t>(begin);
    if (end - first == 1) {
      file.read_range(path, from, values, type, out.subspan(position, values * size));
      position += values * size;
      continue;
    }
    window.resize(values * size);
    file.read_range(path, from, values, type, window);
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t bytes = static_cast<std::size_t>(runs[i].length) * size;
      std::memcpy(out.data() + position,
                  window.data() + static_cast<std::size_t>(runs[i].offset - begin) * size, bytes);
      position += bytes;
    }
  }
}

}  // namespace

void check_resumable(const std::string& path, const Plan& plan, const FileHead& head, const Resume& resume) {
  const auto file = open_left_file(path);
  Problems problems(fmt::format("{}: cannot be resumed after step {}", path, resume.after));
  std::set<std::string> known{commit_mark_path};
  for (const auto& dataset : head.datasets) known.insert(dataset.spec.path);
  for (const auto& link : head.links) known.insert(link.first);
  for (const auto& stream : plan.streams)
    for (const auto& spec : stream.datasets) {
      if (file.has_dataset(spec.path) || !may_lack(stream, resume.after))
        check_dataset(file, spec.path, spec, problems);
      known.insert(spec.path);
      if (stream.growth) known.insert(stream.growth->time_s());
    }
  check_for_others(file, known, problems);
  if (!problems.empty())
    problems.add("the file was made with other options or for another input",
                 "run with the options and the input of the first segment, or start from the beginning");
  check_recorded(file, plan, resume.after, problems);
  if (resume.kept == nullptr && !resume.accumulators.empty()) {
    problems.merge(check_accumulators(open_left_file(resume.accumulators), plan, resume.accumulators));
  }
  check_raw_files(file, plan, problems);
  problems.throw_if_any();
}

std::vector<RunningReduction> running_reductions(std::vector<RunningStream>& streams) {
  std::vector<RunningReduction> all;
  for (auto& stream : streams) {
    if (!stream.accumulates()) continue;
    for (auto& reduction : reductions_of(*stream.planned, stream.first_dataset)) {
      for (auto& accumulator : stream.accumulators)
        if (accumulator.share().dataset == stream.first_dataset + reduction.part)
          reduction.values = accumulator.state();
      all.push_back(std::move(reduction));
    }
  }
  return all;
}

KeptReductions::KeptReductions(const Plan& plan) {
  std::size_t first_dataset = 0;
  for (const auto& stream : plan.streams) {
    if (accumulates(stream))
      for (auto& reduction : reductions_of(stream, first_dataset)) {
        std::int64_t values = 0;
        for (const Run& run : reduction.runs) values += run.length;
        values_.emplace_back(static_cast<std::size_t>(values) * h5::size_bytes(reduction.type));
        all_.push_back(std::move(reduction));
      }
    first_dataset += stream.datasets.size();
  }
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].values = values_[i];
}

void read_accumulators(const std::string& path, const Plan& plan, const KeptReductions& kept) {
  const auto file = open_left_file(path);
  check_accumulators(file, plan, path).throw_if_any();
  auto reduction = kept.all().begin();
  for (const auto& stream : plan.streams) {
    if (!accumulates(stream)) continue;
    for (const auto& spec : stream.datasets) {
      read_runs(file, accumulator_group + spec.path, reduction->runs, reduction->type, reduction->values);
      ++reduction;
    }
  }
}

/// Puts kept values back.
static void restore_kept(std::vector<RunningStream>& streams, const Resume& resume) {
  for (auto& stream : streams)
    if (stream.accumulates()) stream.samples = stream.planned->cadence.samples_until(resume.after);
  const auto mine = running_reductions(streams);
  const auto& kept = resume.kept->all();
  TAILRACE_CHECK(mine.size() == kept.size(), "the reductions kept are those of the plan");
  for (std::size_t i = 0; i < mine.size(); ++i) {
    TAILRACE_CHECK(mine[i].values.size() == kept[i].values.size(),
                   "the reductions kept are those of the plan");
    std::copy(kept[i].values.begin(), kept[i].values.end(), mine[i].values.begin());
  }
}

void restore(std::vector<RunningStream>& streams, const std::string& path, const Resume& resume) {
  if (resume.kept != nullptr) return restore_kept(streams, resume);
  const auto file = open_left_file(resume.accumulators.empty() ? path : resume.accumulators);
  for (auto& stream : streams) {
    const auto& planned = *stream.planned;
    if (stream.accumulates()) stream.samples = planned.cadence.samples_until(resume.after);
    // What never took a sample need not have been written.
    if (stream.samples > 0)
      for (auto& accumulator : stream.accumulators) {
        const Share& share = accumulator.share();
        read_runs(file, path_of_state(planned.datasets[share.dataset - stream.first_dataset], resume),
                  share.runs, Accumulator::state_type(share, planned.reduction), accumulator.state());
      }
  }
}

std::vector<PlannedStream> accumulator_streams(const std::vector<PlannedStream>& streams,
                                               std::size_t first_dataset) {
  std::vector<PlannedStream> kept;
  std::size_t first_of_stream = 0;
  for (const auto& stream : streams) {
    if (accumulates(stream)) {
      auto copy = stream;
      copy.reduction = Reduction::final;
      if (copy.on_failure == OnFailure::switch_directory) copy.on_failure = OnFailure::stop;  // one file
      for (auto& spec : copy.datasets) {
        spec.path = accumulator_group + spec.path;
        spec.type = state_type_of(stream, spec.type);
      }
      for (auto& share : copy.shares) {
        share.dataset = share.dataset - first_of_stream + first_dataset;
        share.type = state_type_of(stream, share.type);
        share.on_failure = copy.on_failure;
      }
      first_dataset += copy.datasets.size();
      kept.push_back(std::move(copy));
    }
    first_of_stream += stream.datasets.size();
  }
  return kept;
}

}  // namespace tailrace::output
