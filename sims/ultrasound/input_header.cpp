// SPDX-License-Identifier: BSD-3-Clause
#include "input_header.hpp"

#include <fmt/format.h>

#include <cmath>

#include "header_reader.hpp"

namespace tailrace::ultrasound {

namespace {

/// The newest format, 1.2, has what older ones lack.
constexpr int newest_minor_version = 2;

void read_versions(HeaderReader& reader, InputHeader& header) {
  reader.text("created_by");
  reader.text("creation_date");
  reader.must_be("file_type", "input");
  reader.must_be("major_version", "1");
  const auto minor = reader.text("minor_version", "2");
  if (!minor) return;
  if (*minor == "0" || *minor == "1" || *minor == "2")
    header.minor_version = (*minor)[0] - '0';
  else
    reader.add(fmt::format("root attribute minor_version = {}", quoted(*minor)),
               "format versions 1.0, 1.1 and 1.2 are read: minor_version = \"0\", \"1\" or \"2\"");
}

/// The extents of the grid, none where one of them cannot be used.
void read_extents(HeaderReader& reader, Grid& grid) {
  // Up to here no product of extents, sizes of numbers and numbers of fields overflows.
  constexpr std::int64_t longest = 1 << 20, max_points = std::int64_t{1} << 44;
  grid.points = {reader.integer("Nx", 1, longest).value_or(0), reader.integer("Ny", 1, longest).value_or(0),
                 reader.integer("Nz", 1, longest).value_or(0)};
  const Index3 n = grid.points;
  const bool fits = n.volume() <= max_points;
  if (!fits)
    reader.add(fmt::format("Nx = {}, Ny = {} and Nz = {} make {} grid points", n.x, n.y, n.z, n.volume()),
               fmt::format("at most 2^44 = {}", max_points));
  if (n.volume() == 0 || !fits) grid.points = {0, 0, n.z == 1 ? 1 : 0};
}

void read_axis(HeaderReader& reader, Grid& grid, std::size_t axis) {
  const char name = axis_names[axis];
  grid.spacing_m[axis] = reader.real(fmt::format("d{}", name), 0, true).value_or(0);
  const auto extent = grid.extents()[axis];
  const std::int64_t most = extent > 0 ? extent / 2 : HeaderReader::any_integer;
  grid.pml.size[axis] =
      reader
          .integer(fmt::format("pml_{}_size", name), 0, most,
                   fmt::format("0 to {}: a layer at either end has to fit into N{}", most, name))
          .value_or(0);
  grid.pml.alpha[axis] = reader.real(fmt::format("pml_{}_alpha", name), 0, false).value_or(0);
}

void read_grid(HeaderReader& reader, const InputNeeds& needs, InputHeader& header) {
  Grid& grid = header.grid;
  constexpr std::int64_t max_steps = std::int64_t{1} << 40;
  const auto steps = reader.integer("Nt", 1, max_steps);
  header.steps = needs.steps.value_or(steps.value_or(HeaderReader::any_integer));
  if (needs.start_step > header.steps)
    reader.add(
        fmt::format("recording starts at step {}, but the run has {} steps", needs.start_step, header.steps),
        fmt::format("start (-s, or record.start of a case) at 1 to {}", header.steps));
  grid.dt_s = reader.real("dt", 0, true).value_or(0);
  grid.c_ref_m_s = reader.real("c_ref", 0, true).value_or(0);
  for (std::size_t axis = 0; axis < grid.dimensions(); ++axis) read_axis(reader, grid, axis);
}

/// Refuses what k-Wave inputs can ask for but this program does not compute.
void refuse_other_physics(HeaderReader& reader, const InputHeader& header) {
  reader.must_be_zero("nonuniform_grid_flag", "this program computes on uniform grids only", false);
  reader.must_be_zero("axisymmetric_flag",
                      "this program has no axisymmetric coordinates, only 2D and 3D Cartesian ones",
                      header.minor_version < newest_minor_version);
  reader.must_be_zero("elastic_flag", "this program computes sound in fluids, not in elastic solids", true);
  for (const char* stress : {"sxx", "syy", "szz", "sxy", "sxz", "syz"})
    reader.must_be_zero(fmt::format("{}_source_flag", stress),
                        "this program computes sound in fluids, which take no stress sources", true);
}

void read_power(HeaderReader& reader, Physics& physics) {
  const auto power = reader.real("alpha_power", 0, true);
  if (!power) return;
  physics.alpha_power = *power;
  if (physics.absorption == Absorption::stokes && *power != 2)
    reader.add(fmt::format("alpha_power = {} with absorbing_flag = 2", *power),
               "2: Stokes absorption grows with the second power of the frequency");
  if (physics.absorption == Absorption::power_law && (*power == 1 || *power >= 3))
    reader.add(fmt::format("alpha_power = {}: the dispersion term has no finite value there", *power),
               "a value between 0 and 3 other than 1");
}

void read_physics(HeaderReader& reader, InputHeader& header) {
  Physics& physics = header.physics;
  physics.nonlinear = reader.integer("nonlinear_flag", 0, 1).value_or(0) == 1;
  physics.absorption = static_cast<Absorption>(
      reader.integer("absorbing_flag", 0, 2, "0 (lossless), 1 (power law) or 2 (Stokes)").value_or(0));
  if (physics.absorption == Absorption::stokes && header.minor_version < newest_minor_version)
    reader.add(fmt::format("absorbing_flag = 2 in format 1.{}, which has no Stokes absorption",
                           header.minor_version),
               "0 (lossless), 1 (power law), or minor_version = \"2\"");
  if (physics.absorption != Absorption::none) read_power(reader, physics);
}

void read_index_mask(HeaderReader& reader, const InputHeader& header, SensorMask& mask) {
  const auto points = reader.list("sensor_mask_index", "point");
  const auto volume = static_cast<std::uint64_t>(header.grid.points.volume());
  if (!points) return;
  if (const auto outside = volume > 0 ? entries_outside(*points, volume) : std::nullopt)
    reader.add("sensor_mask_index: " + *outside, fmt::format("grid points from 1 to {}", volume));
  for (const auto point : *points) mask.indices.push_back(static_cast<std::int64_t>(point - 1));
}

/// The cuboid of six numbers, or nothing and a problem per axis along which it does not lie in the grid.
std::optional<Box> read_cuboid(HeaderReader& reader, const Grid& grid, std::size_t number,
                               const std::uint64_t* v) {
  const auto extents = grid.extents();
  bool good = true;
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const auto low = v[axis], high = v[axis + axis_count], most = static_cast<std::uint64_t>(extents[axis]);
    if (most == 0 || (low >= 1 && low <= high && high <= most)) continue;
    good = false;
    reader.add(fmt::format("sensor_mask_corners: cuboid {} reaches from {} to {} along {}", number, low, high,
                           axis_names[axis]),
               fmt::format("1 <= low <= high <= {}", extents[axis]));
  }
  if (!good) return {};
  const auto low = [&](std::size_t axis) { return static_cast<std::int64_t>(v[axis]) - 1; };
  const auto high = [&](std::size_t axis) { return static_cast<std::int64_t>(v[axis + axis_count]); };
  return Box{{low(0), low(1), low(2)}, {high(0), high(1), high(2)}};
}

void read_cuboid_mask(HeaderReader& reader, const InputHeader& header, SensorMask& mask) {
  constexpr std::size_t numbers = 6, max_problems = 20;
  const auto corners = reader.list("sensor_mask_corners", "cuboid");
  if (!corners) return;
  if (corners->size() % numbers != 0) {
    reader.add(fmt::format("sensor_mask_corners has {} values", corners->size()),
               "six per cuboid: x1 y1 z1 x2 y2 z2, shape (1, cuboids, 6)");
    return;
  }
  const auto before = reader.problems();
  for (std::size_t c = 0; c < corners->size() / numbers; ++c) {
    if (const auto box = read_cuboid(reader, header.grid, c + 1, corners->data() + c * numbers))
      mask.cuboids.push_back(*box);
    if (reader.problems() - before < max_problems) continue;
    reader.add(fmt::format("sensor_mask_corners: {} more cuboids were not looked at",
                           corners->size() / numbers - c - 1),
               "correct those above first");
    return;
  }
}

void read_mask(HeaderReader& reader, const InputNeeds& needs, InputHeader& header, SensorMask& mask) {
  std::optional<std::int64_t> type = 0;  // format 1.0 has index masks only
  if (header.minor_version > 0) type = reader.integer("sensor_mask_type", 0, 1, "0 (points) or 1 (cuboids)");
  if (!type) return;
  header.cuboid_mask = *type == 1;
  if (!needs.mask) return;
  if (header.cuboid_mask)
    read_cuboid_mask(reader, header, mask);
  else
    read_index_mask(reader, header, mask);
}

/// Notes which grid-sized datasets can be read, and what is wrong with the others.
void check_grid_datasets(HeaderReader& reader, InputHeader& header) {
  const Index3 n = header.grid.points;
  const h5::Shape full{static_cast<std::uint64_t>(n.z), static_cast<std::uint64_t>(n.y),
                       static_cast<std::uint64_t>(n.x)};
  const bool absorbing = header.physics.absorption != Absorption::none;
  const std::array wanted{true,
                          true,
                          true,
                          true,
                          header.grid.dimensions() == 3,
                          header.physics.nonlinear,
                          absorbing,
                          header.has_initial_pressure};
  for (std::size_t i = 0; i < grid_datasets.size(); ++i) {
    const auto& dataset = grid_datasets[i];
    if (!wanted[i]) continue;
    const auto shape = reader.shape(dataset.name, h5::ElementType::float32);
    if (!shape || n.volume() == 0) continue;  // or the shape that it should have is unknown
    header.readable[i] = *shape == full || (dataset.may_be_scalar && *shape == h5::Shape{1, 1, 1});
    if (header.readable[i]) continue;
    reader.add(
        fmt::format("dataset {} ({}) has shape {}", dataset.name, dataset.meaning, h5::to_string(*shape)),
        fmt::format("(Nz, Ny, Nx) = {}{}", h5::to_string(full),
                    dataset.may_be_scalar ? ", or (1, 1, 1)" : ""));
  }
}

}  // namespace

HeaderAndLists read_header(const h5::File& file, const InputNeeds& needs, Problems& problems) {
  HeaderReader reader(file, problems);
  HeaderAndLists result;
  auto& header = result.header;
  read_versions(reader, header);
  result.description = reader.text("file_description").value_or("");
  read_extents(reader, header.grid);
  read_grid(reader, needs, header);
  refuse_other_physics(reader, header);
  read_physics(reader, header);
  result.sources = read_source_header(reader, header);
  read_mask(reader, needs, header, result.mask);
  check_grid_datasets(reader, header);
  return result;
}

}  // namespace tailrace::ultrasound
