#include "input_header.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tailrace::ultrasound {

namespace {

constexpr std::int64_t any_integer = std::numeric_limits<std::int64_t>::max();

/// Position and value of the first entry outside 1..n, for a message; n = 0 stands for an unknown grid.
std::optional<std::string> first_outside(const std::vector<std::uint64_t>& values, std::uint64_t n) {
  if (n == 0) return {};
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < 1 || values[i] > n) {
      if (count == 0) first = i;
      ++count;
    }
  if (count == 0) return {};
  return fmt::format("{} of {} indices lie outside the grid, first {} at position {}", count, values.size(),
                     values[first], first + 1);
}

/// Reads scalars and lists of an input file and keeps the list of what is wrong.
class HeaderReader {
 public:
  HeaderReader(const h5::File& file, Problems& problems) : file_(file), problems_(problems) {}

  bool has(const std::string& name) const { return file_.has_dataset(name); }

  /// Checks presence, type and the attributes that k-Wave's own reader checks.
  bool check(const std::string& name, h5::ElementType type) {
    const bool integer = type == h5::ElementType::uint64;
    if (!has(name)) {
      problems_.add(fmt::format("dataset {} is missing", name),
                    "write it, or regenerate the input with k-Wave's own tools");
      return false;
    }
    if (file_.type(name) != type) {
      problems_.add(fmt::format("dataset {} holds {}", name, file_.type_text(name)),
                    fmt::format("store it as {}", h5::to_string(type)));
      return false;
    }
    const std::string wanted = integer ? "long" : "float";
    const auto data_type = file_.text_attribute(name, "data_type"),
               domain_type = file_.text_attribute(name, "domain_type");
    if (file_.shape(name) != h5::Shape{1, 1, 1} &&
        (data_type.value_or(wanted) != wanted || domain_type.value_or("real") != "real")) {
      problems_.add(fmt::format("dataset {} has attributes data_type = \"{}\", domain_type = \"{}\"", name,
                                data_type.value_or(""), domain_type.value_or("")),
                    fmt::format("data_type = \"{}\" and domain_type = \"real\"", wanted));
      return false;
    }
    return true;
  }

  /// A number within limits; `values` says in a message what is accepted, instead of the limits.
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most,
                                      const std::string& values = {}) {
    if (!check(name, h5::ElementType::uint64) || !check_scalar(name)) return {};
    std::uint64_t value = 0;
    file_.read<std::uint64_t>(name, std::span(&value, 1));
    if (value <= static_cast<std::uint64_t>(any_integer)) {
      const auto signed_value = static_cast<std::int64_t>(value);
      if (signed_value >= least && signed_value <= most) return signed_value;
    }
    problems_.add(fmt::format("{} = {}", name, value),
                  !values.empty()       ? values
                  : most == any_integer ? fmt::format("at least {}", least)
                                        : fmt::format("a value from {} to {}", least, most));
    return {};
  }

  /// A number that must be finite and at least (or, if `open`, above) `least`.
  std::optional<double> real(const std::string& name, double least, bool open) {
    if (!check(name, h5::ElementType::float32) || !check_scalar(name)) return {};
    float value = 0;
    file_.read<float>(name, std::span(&value, 1));
    if (std::isfinite(value) && (open ? value > least : value >= least)) return value;
    problems_.add(fmt::format("{} = {}", name, value),
                  fmt::format("a finite number {} {}", open ? "above" : "of at least", least));
    return {};
  }

  /// A flag of something that this program does not compute; it has to be 0 or, if `optional`, absent.
  void must_be_zero(const std::string& name, const std::string& feature, bool optional) {
    if (optional && !has(name)) return;
    if (!check(name, h5::ElementType::uint64) || !check_scalar(name)) return;
    std::uint64_t value = 0;
    file_.read<std::uint64_t>(name, std::span(&value, 1));
    if (value != 0)
      problems_.add(fmt::format("{} = {}: {} not supported by this version", name, value, feature),
                    "set it to 0");
  }

  /// A list of indices counted from 1.
  std::vector<std::uint64_t> indices(const std::string& name, const char* item) {
    if (!check(name, h5::ElementType::uint64)) return {};
    std::vector<std::uint64_t> values(h5::element_count(file_.shape(name)));
    if (values.empty())
      problems_.add(fmt::format("dataset {} is empty", name), fmt::format("name at least one {}", item));
    file_.read<std::uint64_t>(name, values);
    return values;
  }

  void text(const std::string& name, const std::string& wanted) {
    const auto value = file_.text_attribute("/", name);
    if (!value)
      problems_.add(fmt::format("root attribute {} is missing", name),
                    wanted.empty() ? "add it as a text" : fmt::format("{} = \"{}\"", name, wanted));
    else if (!wanted.empty() && *value != wanted)
      problems_.add(fmt::format("root attribute {} = \"{}\"", name, *value),
                    fmt::format("{} = \"{}\"", name, wanted));
  }

  const h5::File& file() const { return file_; }
  Problems& problems() { return problems_; }

 private:
  bool check_scalar(const std::string& name) {
    const auto shape = file_.shape(name);
    if (h5::element_count(shape) == 1) return true;
    problems_.add(fmt::format("dataset {} has shape {}", name, h5::to_string(shape)),
                  "one value, shape (1, 1, 1)");
    return false;
  }

  const h5::File& file_;
  Problems& problems_;
};

void read_versions(HeaderReader& reader, InputHeader& header) {
  reader.text("created_by", "");
  reader.text("creation_date", "");
  reader.text("file_description", "");
  reader.text("file_type", "input");
  reader.text("major_version", "1");
  const auto minor = reader.file().text_attribute("/", "minor_version");
  if (minor && (*minor == "0" || *minor == "1" || *minor == "2"))
    header.minor_version = (*minor)[0] - '0';
  else
    reader.problems().add(minor ? fmt::format("root attribute minor_version = \"{}\"", *minor)
                                : "root attribute minor_version is missing",
                          "format versions 1.0, 1.1 and 1.2 are read: minor_version = \"0\", \"1\" or \"2\"");
}

/// The extents of the grid, none where one of them cannot be used.
void read_extents(HeaderReader& reader, Grid& grid) {
  constexpr std::int64_t largest = 1 << 20;
  grid.points = {reader.integer("Nx", 1, largest).value_or(0), reader.integer("Ny", 1, largest).value_or(0),
                 reader.integer("Nz", 1, largest).value_or(0)};
  if (grid.points.volume() == 0) grid.points = {};
}

void read_grid(HeaderReader& reader, const InputNeeds& needs, InputHeader& header) {
  Grid& grid = header.grid;
  const auto steps = reader.integer("Nt", 1, any_integer);
  header.steps = needs.steps.value_or(steps.value_or(any_integer));
  if (needs.start_step > header.steps)
    reader.problems().add(
        fmt::format("recording starts at step {}, but the run has {} steps", needs.start_step, header.steps),
        fmt::format("start (-s, or record.start of a case) at 1 to {}", header.steps));
  grid.dt_s = reader.real("dt", 0, true).value_or(0);
  grid.c_ref_m_s = reader.real("c_ref", 0, true).value_or(0);
  const auto extents = grid.extents();
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const char name = axis_names[axis];
    grid.spacing_m[axis] = reader.real(fmt::format("d{}", name), 0, true).value_or(0);
    const std::int64_t most = extents[axis] > 0 ? extents[axis] / 2 : any_integer;
    grid.pml.size[axis] =
        reader
            .integer(fmt::format("pml_{}_size", name), 0, most,
                     fmt::format("0 to {}: a layer at either end has to fit into N{}", most, name))
            .value_or(0);
    grid.pml.alpha[axis] = reader.real(fmt::format("pml_{}_alpha", name), 0, false).value_or(0);
  }
}

void read_physics(HeaderReader& reader, InputHeader& header) {
  Physics& physics = header.physics;
  reader.must_be_zero("nonuniform_grid_flag", "non-uniform grids are", false);
  reader.must_be_zero("axisymmetric_flag", "axisymmetric runs are", header.minor_version < 2);
  physics.nonlinear = reader.integer("nonlinear_flag", 0, 1).value_or(0) == 1;
  const auto absorbing = reader.integer("absorbing_flag", 0, 2, "0 (lossless) or 1 (power law)").value_or(0);
  if (absorbing == 2)
    reader.problems().add("absorbing_flag = 2: Stokes absorption is not supported by this version",
                          "0 (lossless) or 1 (power law)");
  physics.absorption = absorbing == 1 ? Absorption::power_law : Absorption::none;
  if (physics.absorption != Absorption::power_law) return;
  physics.alpha_power = reader.real("alpha_power", 0, true).value_or(1.5);
  if (physics.alpha_power == 1 || physics.alpha_power >= 3)
    reader.problems().add(
        fmt::format("alpha_power = {}: the dispersion term has no finite value there", physics.alpha_power),
        "a value between 0 and 3 other than 1");
}

void read_sources(HeaderReader& reader, InputHeader& header, std::vector<std::int64_t>& indices) {
  for (const char axis : axis_names)
    reader.must_be_zero(fmt::format("u{}_source_flag", axis), "velocity sources are", false);
  reader.must_be_zero("transducer_source_flag", "transducer sources are", false);
  header.has_initial_pressure = reader.integer("p0_source_flag", 0, 1).value_or(0) == 1;
  header.pressure.steps = reader.integer("p_source_flag", 0, any_integer).value_or(0);
  if (header.pressure.steps == 0) return;
  header.pressure.mode = static_cast<SourceMode>(
      reader.integer("p_source_mode", 0, 2, "0 (dirichlet), 1 (additive-no-correction) or 2 (additive)")
          .value_or(2));
  header.pressure.one_signal = reader.integer("p_source_many", 0, 1).value_or(0) == 0;
  const auto points = reader.indices("p_source_index", "point");
  if (const auto outside = first_outside(points, static_cast<std::uint64_t>(header.grid.points.volume())))
    reader.problems().add("p_source_index: " + *outside,
                          fmt::format("indices from 1 to {}", header.grid.points.volume()));
  for (const auto point : points) indices.push_back(static_cast<std::int64_t>(point) - 1);
  if (!reader.check("p_source_input", h5::ElementType::float32)) return;
  const auto shape = reader.file().shape("p_source_input");
  const auto wanted =
      static_cast<std::uint64_t>(header.pressure.steps) * (header.pressure.one_signal ? 1 : points.size());
  if (h5::element_count(shape) != wanted)
    reader.problems().add(
        fmt::format("p_source_input has shape {}, {} values", h5::to_string(shape), h5::element_count(shape)),
        fmt::format("{} values: p_source_flag = {} time points{}", wanted, header.pressure.steps,
                    header.pressure.one_signal ? "" : fmt::format(" of {} source points", points.size())));
}

void read_index_mask(HeaderReader& reader, const InputHeader& header, SensorMask& mask) {
  const auto points = reader.indices("sensor_mask_index", "point");
  if (const auto outside = first_outside(points, static_cast<std::uint64_t>(header.grid.points.volume())))
    reader.problems().add("sensor_mask_index: " + *outside,
                          fmt::format("indices from 1 to {}", header.grid.points.volume()));
  for (const auto point : points) mask.indices.push_back(static_cast<std::int64_t>(point) - 1);
}

void read_cuboid_mask(HeaderReader& reader, const InputHeader& header, SensorMask& mask) {
  constexpr std::size_t numbers = 6;
  const auto corners = reader.indices("sensor_mask_corners", "cuboid");
  if (corners.size() % numbers != 0) {
    reader.problems().add(fmt::format("sensor_mask_corners has {} values", corners.size()),
                          "six per cuboid: x1 y1 z1 x2 y2 z2, shape (1, cuboids, 6)");
    return;
  }
  const auto extents = header.grid.extents();
  for (std::size_t c = 0; c < corners.size() / numbers; ++c) {
    const auto* v = corners.data() + c * numbers;
    bool good = true;
    for (std::size_t axis = 0; axis < axis_count; ++axis) {
      const auto low = v[axis], high = v[axis + axis_count];
      const auto most = static_cast<std::uint64_t>(extents[axis]);
      if (most == 0 || (low >= 1 && low <= high && high <= most)) continue;
      good = false;
      reader.problems().add(fmt::format("sensor_mask_corners: cuboid {} reaches from {} to {} along {}",
                                        c + 1, low, high, axis_names[axis]),
                            fmt::format("1 <= low <= high <= {}", extents[axis]));
    }
    const auto low = [&](std::size_t axis) { return static_cast<std::int64_t>(v[axis]) - 1; };
    const auto high = [&](std::size_t axis) { return static_cast<std::int64_t>(v[axis + axis_count]); };
    if (good) mask.cuboids.push_back({{low(0), low(1), low(2)}, {high(0), high(1), high(2)}});
  }
}

/// Notes which grid-sized datasets can be read, and what is wrong with the others.
void check_grid_datasets(HeaderReader& reader, InputHeader& header) {
  const Index3 n = header.grid.points;
  const h5::Shape full{static_cast<std::uint64_t>(n.z), static_cast<std::uint64_t>(n.y),
                       static_cast<std::uint64_t>(n.x)};
  const std::array wanted{true,
                          true,
                          true,
                          true,
                          true,
                          header.physics.nonlinear,
                          header.physics.absorption != Absorption::none,
                          header.has_initial_pressure};
  for (std::size_t i = 0; i < grid_datasets.size(); ++i) {
    const auto& dataset = grid_datasets[i];
    if (!wanted[i] || !reader.check(dataset.name, h5::ElementType::float32)) continue;
    const auto shape = reader.file().shape(dataset.name);
    if (n.volume() == 0) continue;  // the shape that it should have is unknown
    header.readable[i] = shape == full || (dataset.may_be_scalar && shape == h5::Shape{1, 1, 1});
    if (header.readable[i]) continue;
    reader.problems().add(
        fmt::format("dataset {} ({}) has shape {}", dataset.name, dataset.meaning, h5::to_string(shape)),
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
  result.description = file.text_attribute("/", "file_description").value_or("");
  read_extents(reader, header.grid);
  if (header.grid.points.z == 1) {  // what else a two-dimensional input lacks is no news
    problems.add("Nz = 1: two-dimensional inputs are not supported by this version", "a 3D grid");
    return result;
  }
  read_grid(reader, needs, header);
  read_physics(reader, header);
  read_sources(reader, header, result.source_indices);
  const auto mask_type =
      header.minor_version > 0 ? reader.integer("sensor_mask_type", 0, 1, "0 (points) or 1 (cuboids)") : 0;
  header.cuboid_mask = mask_type == 1;
  if (needs.mask && mask_type == 1) read_cuboid_mask(reader, header, result.mask);
  if (needs.mask && mask_type == 0) read_index_mask(reader, header, result.mask);
  check_grid_datasets(reader, header);
  return result;
}

}  // namespace tailrace::ultrasound
