// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <type_traits>

#include "base/check.hpp"
#include "base/files.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/plan.hpp"
#include "output_file.hpp"

namespace tailrace::ultrasound {

namespace {

h5::Shape shape_of(Index3 points) {
  return {static_cast<std::uint64_t>(points.z), static_cast<std::uint64_t>(points.y),
          static_cast<std::uint64_t>(points.x)};
}

output::FileHead make_head(const CheckpointOrigin& origin, StepIndex step) {
  output::FileHead head;
  const auto add = [&](const char* name, std::int64_t value) {
    const auto number = static_cast<std::uint64_t>(value);
    const auto bytes = std::as_bytes(std::span(&number, 1));
    head.datasets.push_back(
        {{fmt::format("/{}", name), {1, 1, 1}, h5::ElementType::uint64, dataset_attributes("long")},
         std::vector<std::byte>(bytes.begin(), bytes.end())});
  };
  add("Nx", origin.points.x);
  add("Ny", origin.points.y);
  add("Nz", origin.points.z);
  add("t_index", step);
  const auto text = [&](const char* name, const std::string& value) {
    head.attributes.push_back({.name = name, .value = value});
  };
  text("created_by", "tailrace-ultrasound " TAILRACE_VERSION);
  text("creation_date", fmt::format("{:%d/%m/%y, %H:%M:%S}", fmt::localtime(std::time(nullptr))));
  text("file_description", origin.description);
  text("file_type", "checkpoint");
  text("major_version", "1");
  text("minor_version", fmt::format("{}", origin.minor_version));
  return head;
}

output::Plan make_checkpoint_plan(const CheckpointOrigin& origin, StepIndex step,
                                  const std::vector<StateArray>& state,
                                  std::vector<output::PlannedStream> reductions) {
  std::vector<output::Stream> streams;
  for (const auto& array : state) {
    TAILRACE_CHECK(array.box == state.front().box, "all arrays of the state cover this rank's box");
    streams.push_back(
        {.name = array.name,
         .quantity = array.name,
         .unit = {},
         .selection = output::Whole{},
         .reduction = output::Reduction::final,
         .cadence = {.first = step, .every = 1, .last = step},
         .datasets = {{"/" + array.name, shape_of(origin.points), array.type, dataset_attributes("float")}}});
  }
  auto plan = output::make_plan(std::move(streams), state.front().box, origin.points);
  std::move(reductions.begin(), reductions.end(), std::back_inserter(plan.streams));
  return plan;
}

std::int64_t scalar(const h5::File& file, const std::string& name, Problems& problems) {
  if (!file.has_dataset("/" + name) || h5::element_count(file.shape("/" + name)) != 1) {
    problems.add(fmt::format("dataset {} with one number is missing", name));
    return -1;
  }
  std::vector<std::int64_t> value(1);
  file.read("/" + name, std::span(value));
  return value[0];
}

/// Opens a file that the user may not know by the words of an input file.
h5::File open_file(const std::string& path, const std::string& hint) {
  try {
    return h5::File::open(path);
  } catch (const Error& error) {
    auto info = error.info();
    info.hint = hint;
    throw Error(info);
  }
}

void check_type(const h5::File& file, const std::string& wanted, Problems& problems) {
  const auto type = file.text_attribute("/", "file_type");
  if (type != wanted) {
    problems.add(fmt::format("attribute file_type is {}, not \"{}\"",
                             type ? fmt::format("\"{}\"", *type) : "missing", wanted));
    return;
  }
  const auto major = file.text_attribute("/", "major_version"),
             minor = file.text_attribute("/", "minor_version");
  if (major != "1" || (minor != "0" && minor != "1" && minor != "2"))
    problems.add(fmt::format("its version is {}.{}", major.value_or("?"), minor.value_or("?")),
                 "versions 1.0, 1.1 and 1.2 are known");
}

void check_points(const h5::File& file, Index3 points, Problems& problems) {
  const auto compare = [&](const char* name, std::int64_t wanted) {
    const auto value = scalar(file, name, problems);
    if (value >= 0 && value != wanted)
      problems.add(fmt::format("{} is {}, the input has {}", name, value, wanted));
  };
  compare("Nx", points.x);
  compare("Ny", points.y);
  compare("Nz", points.z);
}

void check_arrays(const h5::File& file, Index3 points, Problems& problems) {
  for (const auto& name : checkpoint_arrays(points)) {
    if (!file.has_dataset("/" + name)) {
      problems.add(fmt::format("dataset {} is missing", name));
      continue;
    }
    if (const auto shape = file.shape("/" + name); shape != shape_of(points))
      problems.add(fmt::format("dataset {} has shape {}, expected {}", name, h5::to_string(shape),
                               h5::to_string(shape_of(points))));
    const auto type = file.type("/" + name);
    if (type != h5::ElementType::float32 && type != h5::ElementType::float64)
      problems.add(fmt::format("dataset {} has elements of {}", name, file.type_text("/" + name)),
                   "32-bit or 64-bit floats are expected");
  }
}

CheckpointHeader read_header(const std::string& path, Index3 points, StepIndex steps) {
  const char* const fix = "give the checkpoint of this run, or remove the file to start from the beginning";
  const auto file = open_file(path, fix);
  Problems problems(path + ": is no checkpoint of this run");
  check_type(file, "checkpoint", problems);
  CheckpointHeader header;
  if (problems.empty()) {
    check_points(file, points, problems);
    header.step = scalar(file, "t_index", problems);
    if (header.step == 0 || header.step > steps)
      problems.add(fmt::format("t_index is {}, the run takes {} steps", header.step, steps));
    check_arrays(file, points, problems);
  }
  if (!problems.empty()) problems.add("it cannot be resumed from", fix);
  problems.throw_if_any();
  header.has_reductions = file.has_group(output::accumulator_group);
  return header;
}

/// Reads this rank's part of one array, plane by plane.
template <class T>
void read_array(const h5::File& file, const StateArray& array) {
  const Index3 n = array.box.extents(), lo = array.box.lo;
  std::vector<T> plane(static_cast<std::size_t>(n.x * n.y));
  for (std::int64_t z = 0; z < n.z; ++z) {
    file.read_hyperslab("/" + array.name, shape_of({lo.x, lo.y, lo.z + z}), shape_of({n.x, n.y, 1}),
                        std::span(plane));
    for (std::int64_t y = 0; y < n.y; ++y)
      std::copy_n(plane.data() + y * n.x, n.x,
                  static_cast<T*>(array.data) + z * array.stride_z + y * array.stride_y);
  }
}

/// The last step whose samples of all ranks are in an output file of ours; 0 for one of another program.
StepIndex recorded_steps(const h5::File& file) {
  if (!file.has_dataset(output::commit_mark_path)) return 0;
  std::vector<std::uint64_t> slots(h5::element_count(file.shape(output::commit_mark_path)));
  file.read(output::commit_mark_path, std::span(slots));
  return slots.empty() ? 0 : static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end()));
}

double seconds_in(const h5::File& file, const std::string& phase) {
  const auto text = file.text_attribute("/", phase + "_phase_execution_time");
  return text ? std::max(0.0, std::strtod(text->c_str(), nullptr)) : 0.0;
}

PhaseTimes read_left_output(const std::string& path, const CheckpointHeader& checkpoint, const Grid& grid,
                            StepIndex steps, bool reduces) {
  const char* const fix =
      "give the output of the run that wrote the checkpoint, or remove the checkpoint to start from the "
      "beginning";
  const auto file = open_file(path, fix);
  Problems problems(path + ": is no output of the run to resume with");
  check_type(file, "output", problems);
  if (problems.empty()) {
    check_points(file, grid.points, problems);
    if (const auto all = scalar(file, "Nt", problems); all >= 0 && all != steps)
      problems.add(fmt::format("Nt is {}, this run takes {} steps", all, steps));
    const auto done = scalar(file, "t_index", problems);
    const bool samples_are_there = recorded_steps(file) >= checkpoint.step;
    const bool reductions_are_there = !reduces || checkpoint.has_reductions;
    if (done >= 0 && done != checkpoint.step && !(samples_are_there && reductions_are_there))
      problems.add(fmt::format("it is at step {}, the checkpoint at step {}", done, checkpoint.step));
  }
  if (!problems.empty()) problems.add("it cannot be resumed", fix);
  problems.throw_if_any();
  return {.loading = seconds_in(file, "data_loading"),
          .preparation = seconds_in(file, "pre-processing"),
          .simulation = seconds_in(file, "simulation"),
          .finishing = seconds_in(file, "post-processing")};
}

}  // namespace

std::vector<std::string> checkpoint_arrays(Index3 points) {
  std::vector<std::string> names{"p"};
  for (const char axis : axis_names) {
    if (axis == 'z' && points.z == 1) continue;
    names.push_back(fmt::format("rho{}", axis));
    names.push_back(fmt::format("u{}_sg{}", axis, axis));
  }
  return names;
}

void write_checkpoint(mpi::CommView comm, const std::string& path, const CheckpointOrigin& origin,
                      StepIndex step, const std::vector<StateArray>& state, LeavingReductions reductions,
                      const output::WriteOptions& options) {
  auto writing = options;
  writing.strategy = "blocking";
  writing.sink = "hdf5";
  writing.directories.clear();
  writing.lustre = {};
  const std::string place = path + ".partial";
  const auto array_named = [&](const std::string& name) -> output::FieldView {
    const auto found =
        std::find_if(state.begin(), state.end(), [&](const auto& a) { return a.name == name; });
    TAILRACE_CHECK(found != state.end(), "every stream of a checkpoint is an array of the state");
    return {found->data, found->type, found->box, found->stride_y, found->stride_z};
  };
  try {
    trace::Log log("checkpoint");
    output::Session file(comm, place,
                         make_checkpoint_plan(origin, step, state, std::move(reductions.streams)),
                         make_head(origin, step), writing, log);
    file.write_accumulators(reductions.values, step);
    file.sample_final(step, array_named);
    file.finish(step, {});
  } catch (...) {
    std::error_code ignored;
    if (comm.is_root()) std::filesystem::remove(place, ignored);
    throw;
  }
  mpi::collectively_on_root(comm, [&] { replace_file(place, path); });
}

CheckpointHeader inspect_checkpoint(mpi::CommView comm, const std::string& path, Index3 points,
                                    StepIndex steps) {
  std::vector<CheckpointHeader> header(1);
  mpi::collectively_on_root(comm, [&] { header[0] = read_header(path, points, steps); });
  mpi::broadcast(comm, header, 0);
  return header[0];
}

void read_checkpoint(mpi::CommView comm, const std::string& path, const std::vector<StateArray>& state) {
  const auto read = [&] {
    const auto file = h5::File::open(path);
    for (const auto& array : state)
      if (array.type == h5::ElementType::float64)
        read_array<double>(file, array);
      else
        read_array<float>(file, array);
    for (const auto& array : state)
      if (array.put_back) array.put_back();
  };
  mpi::collectively(comm, read, output::close_limit_s);
}

PhaseTimes inspect_left_output(mpi::CommView comm, const std::string& path,
                               const CheckpointHeader& checkpoint, const Grid& grid, StepIndex steps,
                               bool reduces) {
  std::vector<PhaseTimes> times(1);
  mpi::collectively_on_root(comm,
                            [&] { times[0] = read_left_output(path, checkpoint, grid, steps, reduces); });
  mpi::broadcast(comm, times, 0);
  return times[0];
}

}  // namespace tailrace::ultrasound
