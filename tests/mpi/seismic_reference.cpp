// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "solver.hpp"

/// The solver against results of an independent implementation, and against the closed form of a point source
/// (tests/data/README.md); bit for bit the same for every number of ranks.
namespace tailrace::seismic {

namespace {

const std::string data = TAILRACE_TEST_DATA "/seismic/";

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(data + name + ".json");
  return nlohmann::json::parse(file);
}

Parameter value(double number) {
  return {.value = number, .open = {}};
}

/// The values of a field on all ranks, on the root, as double.
std::vector<double> gather(mpi::CommView comm, const Solver& solver, const std::string& quantity,
                           Index3 cells) {
  const auto view = solver.field(quantity);
  std::string bytes;
  const auto add = [&](const auto& item) {
    bytes.append(reinterpret_cast<const char*>(&item), sizeof(item));
  };
  add(view.box);
  for (std::int64_t z = 0; z < view.box.extents().z; ++z)
    for (std::int64_t y = 0; y < view.box.extents().y; ++y)
      for (std::int64_t x = 0; x < view.box.extents().x; ++x) {
        const auto at = z * view.stride_z + y * view.stride_y + x;
        add(view.type == h5::ElementType::float32
                ? static_cast<double>(static_cast<const float*>(view.data)[at])
                : static_cast<const double*>(view.data)[at]);
      }
  std::vector<double> all(comm.is_root() ? static_cast<std::size_t>(cells.volume()) : 0, std::nan(""));
  for (const auto& text : mpi::gather(comm, bytes, 0)) {
    Box box;
    std::memcpy(&box, text.data(), sizeof(box));
    const Index3 n = box.extents();
    for (std::int64_t i = 0; i < n.volume(); ++i) {
      const Index3 p{box.lo.x + i % n.x, box.lo.y + i / n.x % n.y, box.lo.z + i / n.x / n.y};
      std::memcpy(&all[static_cast<std::size_t>((p.z * cells.y + p.y) * cells.x + p.x)],
                  text.data() + sizeof(box) + static_cast<std::size_t>(i) * sizeof(double), sizeof(double));
    }
  }
  return all;
}

/// The relative error in the mean square, and the largest one by the largest value.
struct Difference {
  double mean_square = 0, largest = 0;
};
Difference compare(const std::vector<double>& found, const std::vector<double>& reference) {
  REQUIRE(found.size() == reference.size());
  double error = 0, norm = 0, worst = 0, most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double d = std::isfinite(found[i]) ? found[i] - reference[i] : 1e30;
    error += d * d, norm += reference[i] * reference[i];
    worst = std::max(worst, std::abs(d)), most = std::max(most, std::abs(reference[i]));
  }
  return {std::sqrt(error / norm), worst / most};
}

Problem reference_problem(const nlohmann::json& info, h5::ElementType precision) {
  const auto& medium = info["medium"];
  const auto& grid = info["grid"];
  const double dt_s = info["dt"];
  const auto& at = info["source"]["index_xyz"];
  return {.cells = {grid["nx"], grid["ny"], grid["nz"]},
          .spacing_m = {grid["dx"], grid["dy"], grid["dz"]},
          .dt_s = dt_s,
          .properties = {.equations = Equations::tti,
                         .vp_m_s = value(medium["vpz"]),
                         .epsilon = value(medium["epsilon"]),
                         .delta = value(medium["delta"]),
                         .dip_rad = value(medium["theta"]),
                         .azimuth_rad = value(medium["phi"]),
                         .sigma = value(medium["sigma"]),
                         .vs_m_s = {}},
          .boundary = {},
          .sources = {{.cell = {at[0], at[1], at[2]},
                       .values = ricker_values(info["source"]["fcut"], 0, 1, dt_s, info["steps"])}},
          .precision = precision};
}

/// A snapshot of the reference, from the file or, where it holds none, checked by its statistics alone.
void check_snapshot(const nlohmann::json& info, const std::string& name, StepIndex step,
                    const std::vector<double>& found, bool exact) {
  const auto label = fmt::format("{}@{}", name, step);
  const double l2_limit =
      exact ? 1e-10 : info["tolerance"]["float32_rel_l2"][std::to_string(step)].get<double>();
  double square = 0;
  for (const double v : found) square += v * v;
  CHECK(std::sqrt(square) ==
        doctest::Approx(info["statistics"][label]["l2"].get<double>()).epsilon(l2_limit));
  const auto file = h5::File::open(data + "tti-homogeneous-64.h5");
  const auto path = fmt::format("/{}/{:05}", name, step);
  if (!file.has_dataset(path)) return;
  std::vector<double> reference(h5::element_count(file.shape(path)));
  file.read<double>(path, reference);
  const auto difference = compare(found, reference);
  CHECK_MESSAGE(difference.mean_square < l2_limit, label);
  if (exact) CHECK_MESSAGE(difference.largest < 1e-10, label);
}

void check_reference(mpi::CommView comm, h5::ElementType precision) {
  static std::map<std::pair<h5::ElementType, std::string>, std::vector<double>> first_results;
  const auto info = read_json("tti-homogeneous-64");
  const auto problem = reference_problem(info, precision);
  trace::Log log("test");
  Solver solver(comm, problem, survey(comm, problem), log);
  for (StepIndex step = 1; step <= info["steps"].get<StepIndex>(); ++step) {
    solver.advance(step);
    if (step != 60 && step != 100 && step != 160) continue;
    for (const std::string name : {"p", "q"}) {
      const auto found = gather(comm, solver, name, problem.cells);
      if (!comm.is_root()) continue;
      check_snapshot(info, name, step, found, precision == h5::ElementType::float64);
      const auto [known, first] =
          first_results.try_emplace({precision, fmt::format("{}{}", name, step)}, found);
      CHECK_MESSAGE((known->second == found), fmt::format("{}@{} on {} ranks", name, step, comm.size()));
    }
  }
}

/// Relative errors of the traces at the offsets of the case, for one of its rows.
std::vector<double> point_source_errors(mpi::CommView comm, const nlohmann::json& info,
                                        const nlohmann::json& row) {
  const double h = row["h"], dt_s = row["dt"], c = info["velocity"], cutoff_hz = row["fcut"];
  const std::int64_t n = row["n"], steps = row["steps"], middle = n / 2;
  const Problem problem{
      .cells = {n, n, n},
      .spacing_m = {h, h, h},
      .dt_s = dt_s,
      .properties = {.equations = Equations::isotropic,
                     .vp_m_s = value(c),
                     .epsilon = {},
                     .delta = {},
                     .dip_rad = {},
                     .azimuth_rad = {},
                     .sigma = {},
                     .vs_m_s = {}},
      .boundary = {},
      .sources = {{.cell = {middle, middle, middle}, .values = ricker_values(cutoff_hz, 0, 1, dt_s, steps)}},
      .precision = h5::ElementType::float64};
  trace::Log log("test");
  Solver solver(comm, problem, survey(comm, problem), log);
  const auto& offsets = info["offsets_from_source_m"];
  std::vector<double> errors(offsets.size()), norms(offsets.size());
  for (StepIndex step = 1; step <= steps; ++step) {
    solver.advance(step);
    const auto view = solver.field("p");
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const double x = offsets[i][0], y = offsets[i][1], z = offsets[i][2], r = std::hypot(x, y, z);
      const Index3 at{middle + std::llround(x / h), middle + std::llround(y / h),
                      middle + std::llround(z / h)};
      if (!view.box.contains(at)) continue;
      const auto place = (at.z - view.box.lo.z) * view.stride_z + (at.y - view.box.lo.y) * view.stride_y +
                         at.x - view.box.lo.x;
      const double exact = h * h * h / (dt_s * dt_s) *
                           ricker(cutoff_hz, static_cast<double>(step + 1) * dt_s - r / c) /
                           (4 * std::numbers::pi * c * c * r);
      const double d = static_cast<const double*>(view.data)[place] - exact;
      errors[i] += d * d, norms[i] += exact * exact;
    }
  }
  for (std::size_t i = 0; i < errors.size(); ++i)
    errors[i] = std::sqrt(mpi::sum(comm, errors[i]) / mpi::sum(comm, norms[i]));
  return errors;
}

}  // namespace

MPI_CASE("tilted medium, double precision, against an independent solver", ranks{1, 3, 7}) {
  check_reference(comm, h5::ElementType::float64);
}
MPI_CASE("full: tilted medium, double precision, on more numbers of ranks", ranks{1, 2, 4}) {
  check_reference(comm, h5::ElementType::float64);
}
MPI_CASE("tilted medium, single precision, against an independent solver", ranks{1, 2, 3, 4, 7}) {
  check_reference(comm, h5::ElementType::float32);
}

MPI_CASE("a point source has the errors of its scheme", ranks{3}) {
  const auto info = read_json("iso-point-source-analytic");
  for (const auto& row : info["results"]) {
    if (row["n"].get<int>() > 90) continue;  // the others take longer
    const auto errors = point_source_errors(comm, info, row);
    if (!comm.is_root()) continue;
    std::size_t i = 0;
    for (const char* offset : {"(200,0,0)", "(100,100,0)", "(150,50,50)"}) {
      CAPTURE(offset);
      CAPTURE(row["fcut"].get<double>());
      CAPTURE(row["h"].get<double>());
      CHECK(errors[i++] == doctest::Approx(row["rel_l2_at_offsets"][offset].get<double>()).epsilon(0.05));
    }
  }
}

}  // namespace tailrace::seismic
