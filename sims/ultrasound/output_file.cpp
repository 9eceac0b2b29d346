// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <ctime>
#include <set>

#include "base/system.hpp"

namespace tailrace::ultrasound {

std::vector<h5::Attribute> dataset_attributes(const char* data_type) {
  return {{.name = "data_type", .value = data_type}, {.name = "domain_type", .value = "real"}};
}

namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> bytes_of(std::uint64_t value) {
  return bytes_of(std::vector<std::uint64_t>{value});
}

class HeadBuilder {
 public:
  void integer(const std::string& name, std::int64_t value) {
    list(name, {1, 1, 1}, {static_cast<std::uint64_t>(value)});
  }
  void real(const std::string& name, double value) {
    head_.datasets.push_back({{"/" + name, {1, 1, 1}, h5::ElementType::float32, dataset_attributes("float")},
                              bytes_of(std::vector<float>{static_cast<float>(value)})});
  }
  void list(const std::string& name, const h5::Shape& shape, const std::vector<std::uint64_t>& values) {
    head_.datasets.push_back(
        {{"/" + name, shape, h5::ElementType::uint64, dataset_attributes("long")}, bytes_of(values)});
  }
  /// A root attribute; with `reserved`, room for a longer text at the end of the run.
  void text(const std::string& name, const std::string& value, std::size_t reserved = 0) {
    head_.attributes.push_back({.name = name, .value = value, .reserved_bytes = reserved});
  }
  output::FileHead take() { return std::move(head_); }

 private:
  output::FileHead head_;
};

void add_axis(const Grid& grid, std::size_t axis, HeadBuilder& head) {
  const char name = axis_names[axis];
  head.real(fmt::format("d{}", name), grid.spacing_m[axis]);
  head.integer(fmt::format("pml_{}_size", name), grid.pml.size[axis]);
  head.real(fmt::format("pml_{}_alpha", name), grid.pml.alpha[axis]);
}

/// Mode and number of signals; `stem` is "p" or "u".
void add_mode(const char* stem, const SourceHeader& source, HeadBuilder& head) {
  head.integer(fmt::format("{}_source_mode", stem), static_cast<std::int64_t>(source.mode));
  head.integer(fmt::format("{}_source_many", stem), source.one_signal ? 0 : 1);
}

void add_sources(const InputHeader& header, HeadBuilder& head) {
  head.integer("p_source_flag", header.pressure.steps);
  head.integer("p0_source_flag", header.has_initial_pressure ? 1 : 0);
  head.integer("transducer_source_flag", header.transducer_steps);
  const SourceHeader* velocity = nullptr;
  for (std::size_t axis = 0; axis < header.grid.dimensions(); ++axis) {
    const auto& source = header.velocity[axis];
    head.integer(fmt::format("u{}_source_flag", axis_names[axis]), source.steps);
    if (source.steps > 0) velocity = &source;  // mode and number of signals are the same for all
  }
  if (header.pressure.steps > 0) add_mode("p", header.pressure, head);
  if (velocity != nullptr) add_mode("u", *velocity, head);
}

void add_scalars(const InputHeader& header, HeadBuilder& head) {
  const auto extents = header.grid.extents();
  for (std::size_t axis = 0; axis < axis_count; ++axis)  // Nz = 1 is how readers know two dimensions
    head.integer(fmt::format("N{}", axis_names[axis]), extents[axis]);
  for (std::size_t axis = 0; axis < header.grid.dimensions(); ++axis) add_axis(header.grid, axis, head);
  head.integer("Nt", header.steps);
  head.real("dt", header.grid.dt_s);
  head.real("c_ref", header.grid.c_ref_m_s);
  head.integer("t_index", 0);
  add_sources(header, head);
  head.integer("nonuniform_grid_flag", 0);
  head.integer("nonlinear_flag", header.physics.nonlinear ? 1 : 0);
  head.integer("absorbing_flag", static_cast<std::int64_t>(header.physics.absorption));
  if (header.physics.absorption != Absorption::none) head.real("alpha_power", header.physics.alpha_power);
  head.integer("axisymmetric_flag", 0);
}

/// The mask unchanged in the input: indices and corners counted from 1.
void add_mask(const InputHeader& header, const SensorMask& mask, HeadBuilder& head) {
  std::vector<std::uint64_t> values;
  head.integer("sensor_mask_type", header.cuboid_mask ? 1 : 0);
  if (!header.cuboid_mask) {
    for (const auto i : mask.indices) values.push_back(static_cast<std::uint64_t>(i + 1));
    head.list("sensor_mask_index", {1, 1, values.size()}, values);
    return;
  }
  for (const auto& box : mask.cuboids)
    for (const auto v : {box.lo.x + 1, box.lo.y + 1, box.lo.z + 1, box.hi.x, box.hi.y, box.hi.z})
      values.push_back(static_cast<std::uint64_t>(v));
  head.list("sensor_mask_corners", {1, mask.cuboids.size(), 6}, values);
}

std::string megabytes(std::int64_t bytes) {
  return fmt::format("{} MB", bytes >> 20);
}
std::string seconds(double value) {
  return fmt::format("{:8.2f}s", value);
}

}  // namespace

template <class Real>
output::FileHead make_file_head(const Input<Real>& input, const SensorData& sensor_data, mpi::CommView comm,
                                int threads) {
  constexpr std::size_t room = 32, longest_description = 32 << 10;
  const auto hosts = mpi::gather(comm, host_name(), 0);
  HeadBuilder head;
  add_scalars(input.header, head);
  if (sensor_data.copy_sensor_mask) add_mask(input.header, input.mask, head);
  head.text("created_by", "tailrace-ultrasound " TAILRACE_VERSION);
  head.text("creation_date", fmt::format("{:%d/%m/%y, %H:%M:%S}", fmt::localtime(std::time(nullptr))));
  // HDF5 keeps an attribute in at most 64 KiB, and all of the root together.
  head.text("file_description", input.description.substr(0, longest_description));
  head.text("file_type", "output");
  head.text("major_version", "1");
  head.text("minor_version", "2");
  head.text("host_names",
            fmt::format("{}", fmt::join(std::set<std::string>(hosts.begin(), hosts.end()), ", ")));
  head.text("number_of_cpu_cores", fmt::format("{}", comm.size() * threads));
  for (const char* name :
       {"data_loading_phase_execution_time", "pre-processing_phase_execution_time",
        "simulation_phase_execution_time", "post-processing_phase_execution_time", "total_execution_time"})
    head.text(name, seconds(0), room);
  for (const char* name : {"peak_core_memory_in_use", "total_memory_in_use"})
    head.text(name, megabytes(0), room);
  return head.take();
}

template output::FileHead make_file_head(const Input<float>&, const SensorData&, mpi::CommView, int);
template output::FileHead make_file_head(const Input<double>&, const SensorData&, mpi::CommView, int);

output::FileTail make_file_tail(StepIndex steps_done, const PhaseTimes& times, std::int64_t peak_bytes,
                                std::int64_t total_bytes) {
  output::FileTail tail;
  tail.attributes = {{"data_loading_phase_execution_time", seconds(times.loading)},
                     {"pre-processing_phase_execution_time", seconds(times.preparation)},
                     {"simulation_phase_execution_time", seconds(times.simulation)},
                     {"post-processing_phase_execution_time", seconds(times.finishing)},
                     {"total_execution_time",
                      seconds(times.loading + times.preparation + times.simulation + times.finishing)},
                     {"peak_core_memory_in_use", megabytes(peak_bytes)},
                     {"total_memory_in_use", megabytes(total_bytes)}};
  tail.datasets = {{"/t_index", bytes_of(static_cast<std::uint64_t>(steps_done))}};
  return tail;
}

}  // namespace tailrace::ultrasound
