// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "tailrace/box.hpp"
#include "temp_dir.hpp"
#include "ultrasound_run.hpp"

/// The [[output]] tables of a case hold what k-Wave's own streams hold at the same points and steps, value
/// for value, in two and three dimensions and for any number of ranks.
namespace tailrace::ultrasound {

namespace {

using test::values_of;

const std::string inputs = TAILRACE_TEST_DATA "/ultrasound/independent/";

/// A case that samples what the tables are compared with.
std::string case_text(const std::string& input, const std::string& tables) {
  return fmt::format(
      "[case]\nsimulation = \"ultrasound\"\n[input]\nfile = \"{}{}/input.h5\"\n[record]\np_raw = true\n"
      "u_raw = true\nu_non_staggered_raw = true\np_max_all = true\np_final = true\nu_final = true\n{}",
      inputs, input, tables);
}

std::string table(const std::string& name, const std::string& quantity, const std::string& lines) {
  return fmt::format("[[output]]\nname = \"{}\"\nquantity = \"{}\"\n{}\n", name, quantity, lines);
}

/// Runs the case on the ranks of `comm` with some more options, and the checks on the root's file.
template <class Checks>
void run_case(mpi::CommView comm, const std::string& text, const Checks& checks,
              const std::vector<std::string>& options = {}) {
  std::optional<tailrace::test::TempDir> directory;
  if (comm.is_root()) {
    directory.emplace();
    std::ofstream(directory->file("case.toml")) << text;
  }
  const auto path = mpi::broadcast(comm, directory ? directory->path() : "", 0);
  std::vector<std::string> words{"--case", path + "/case.toml", "--out", path + "/run", "-t", "1"};
  words.insert(words.end(), options.begin(), options.end());
  CHECK(test::run(comm, words) == 0);
  mpi::barrier(comm);
  if (comm.is_root()) checks(h5::File::open(path + "/run/output.h5"));
  mpi::barrier(comm);
}

std::vector<double> slice(const std::vector<double>& values, std::size_t sample, std::size_t size) {
  const auto start = values.begin() + static_cast<std::ptrdiff_t>(sample * size);
  return {start, start + static_cast<std::ptrdiff_t>(size)};
}

/// The values of a box, inclusive, of a whole field.
std::vector<double> crop(const std::vector<double>& whole, Index3 n, Index3 low, Index3 high) {
  std::vector<double> values;
  for (auto z = low.z; z <= high.z; ++z)
    for (auto y = low.y; y <= high.y; ++y)
      for (auto x = low.x; x <= high.x; ++x)
        values.push_back(whole[static_cast<std::size_t>((z * n.y + y) * n.x + x)]);
  return values;
}

/// Finds out whether a table's samples at the steps of its own list are those of a k-Wave series, which has
/// every step.
void check_series(const h5::File& file, const std::string& name, const std::string& series) {
  const auto steps = values_of(file, "/" + name + "/step");
  const auto found = values_of(file, "/" + name + "/values"), all = values_of(file, series);
  const std::size_t size = found.size() / steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto sample = slice(found, i, size);
    if (steps[i] == 0)
      CHECK(test::largest(sample) == 0);
    else
      CHECK_MESSAGE(sample == slice(all, static_cast<std::size_t>(steps[i]) - 1, size), name);
  }
}

std::vector<double> mean_over_time(const std::vector<double>& series, std::size_t size) {
  std::vector<double> mean(size);
  const auto samples = series.size() / size;
  for (std::size_t i = 0; i < series.size(); ++i) mean[i % size] += series[i] / static_cast<double>(samples);
  return mean;
}

void check_three_dimensions(const h5::File& file) {
  const Index3 n{24, 20, 18};
  check_series(file, "box", "/p/1");
  CHECK(file.shape("/box/values") == h5::Shape{70, 4, 5, 6});
  check_series(file, "line", "/ux_non_staggered/2");
  check_series(file, "uz_box", "/uz/1");
  CHECK(file.type("/uz_box/values") == h5::ElementType::float64);

  const auto whole = values_of(file, "/whole/values");
  CHECK(file.shape("/whole/values") == h5::Shape{2, 18, 20, 24});
  CHECK(slice(whole, 1, 24 * 20 * 18) == values_of(file, "/p_final"));
  CHECK(values_of(file, "/plane/values") == crop(slice(whole, 0, 24 * 20 * 18), n, {0, 0, 8}, {23, 19, 8}));
  CHECK(values_of(file, "/inner_max/values") ==
        crop(values_of(file, "/p_max_all"), n, {5, 4, 4}, {18, 15, 13}));
  CHECK(values_of(file, "/inner_max/step") == std::vector<double>{70});
  CHECK(values_of(file, "/end/values") == values_of(file, "/uy_final"));
  CHECK(values_of(file, "/end/step") == std::vector<double>{70});

  const auto mean = mean_over_time(values_of(file, "/p/1"), 120), found = values_of(file, "/mean/values");
  REQUIRE(found.size() == mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i)
    CHECK(std::abs(found[i] - mean[i]) <= 1e-6 * test::largest(mean));

  const auto tips = values_of(file, "/tips/values"), first_box = values_of(file, "/p/1");
  CHECK(file.shape("/tips/values") == h5::Shape{8, 3});
  for (std::size_t i = 1; i < 8; ++i) {  // the first is before the first step
    const auto sample = slice(first_box, 10 * i - 1, 120);
    CHECK(slice(tips, i, 3) == std::vector<double>{sample.front(), sample.back(), sample.front()});
  }
  const double dt_s = values_of(file, "/dt")[0];
  CHECK(values_of(file, "/whole/time_s") == std::vector<double>{34 * dt_s, 69 * dt_s});
  CHECK(file.text_attribute("/plane", "quantity") == "p");
  CHECK(file.text_attribute("/plane", "selection") == R"({"box":[[0,0,8],[23,19,8]]})");
  CHECK(file.text_attribute("/inner_max", "reduction") == "max");
}

void check_two_dimensions(const h5::File& file) {
  const Index3 n{37, 31, 1};
  check_series(file, "box", "/p/1");
  check_series(file, "line", "/uy_non_staggered/2");
  CHECK(file.shape("/whole/values") == h5::Shape{3, 1, 31, 37});
  CHECK(slice(values_of(file, "/whole/values"), 2, 37 * 31) == values_of(file, "/p_final"));
  CHECK(values_of(file, "/inner_max/values") ==
        crop(values_of(file, "/p_max_all"), n, {5, 6, 0}, {31, 24, 0}));
}

const std::string& three_dimensions() {
  static const std::string text = case_text(
      "stokes_nonlinear",
      table("box", "p", "select = {box = [[7, 6, 5], [12, 10, 8]]}\nevery = 1") +
          table("line", "ux_non_staggered", "select = {box = [[0, 9, 8], [23, 9, 8]]}\nat = [0, 3, 10, 70]") +
          table("uz_box", "uz", "select = {box = [[7, 6, 5], [12, 10, 8]]}\nevery = 9\ntype = \"float64\"") +
          table("whole", "p", "every = 35") + table("plane", "p", "select = {plane = {z = 8}}\nat = [35]") +
          table("inner_max", "p", "reduce = \"max\"\npml = \"excluded\"") +
          table("mean", "p", "select = {box = [[7, 6, 5], [12, 10, 8]]}\nreduce = \"mean\"") +
          table("end", "uy", "reduce = \"final\"") +
          table("tips", "p",
                "select = {points = [[7, 6, 5], [12, 10, 8], [7, 6, 5]]}\nevery = 10\n"
                "initial = true"));
  return text;
}

}  // namespace

MPI_CASE("outputs of a case hold what the streams hold", ranks{1, 2, 3, 4, 7}) {
  run_case(comm, three_dimensions(), check_three_dimensions);
}

MPI_CASE("outputs of a case in compressed chunks", ranks{1, 2, 3, 7}) {
  run_case(comm, three_dimensions(), check_three_dimensions, {"-c", "1"});
}

MPI_CASE("outputs of a case in two dimensions", ranks{1, 2, 3, 4, 7}) {
  run_case(comm,
           case_text("2d_heterogeneous_nonlinear",
                     table("box", "p", "select = {box = [[8, 7, 0], [15, 14, 0]]}\nevery = 4\nfirst = 17") +
                         table("line", "uy_non_staggered", "select = {plane = {x = 29}}\nat = [90]") +
                         table("whole", "p", "every = 30") +
                         table("inner_max", "p", "reduce = \"max\"\npml = \"excluded\"")),
           check_two_dimensions);
}

MPI_CASE("outputs that a case of two dimensions cannot have are refused", ranks{1, 2, 3}) {
  std::optional<tailrace::test::TempDir> directory;
  if (comm.is_root()) {
    directory.emplace();
    std::ofstream(directory->file("case.toml"))
        << case_text("2d_heterogeneous_nonlinear", table("a", "uz", "every = 1"));
  }
  const auto path = mpi::broadcast(comm, directory ? directory->path() : "", 0);
  CHECK(test::run(comm, {"--case", path + "/case.toml", "--out", path + "/run"}) == 2);
  if (comm.is_root()) CHECK_FALSE(std::filesystem::exists(path + "/run"));
  mpi::barrier(comm);
}

}  // namespace tailrace::ultrasound
