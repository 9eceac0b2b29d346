// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <numeric>

#include "h5md.hpp"
#include "run/vtkhdf.hpp"

namespace tailrace::molecules {

namespace {

namespace fs = std::filesystem;

using FileNumbers = run::VtkhdfFile::Numbers;

/// Kinds of cells of PolyData, in the order of the format.
constexpr std::array cell_kinds{"Vertices", "Lines", "Polygons", "Strips"};

/// A VTKHDF file of points that move: PolyData, of which all steps share one cell, the vertices.
class Writer {
 public:
  Writer(const std::string& path, const Trajectory& trajectory, std::string source)
      : file_(path, "PolyData"),
        trajectory_(trajectory),
        source_(std::move(source)),
        same_(trajectory.times.size(), 0),
        molecules_(static_cast<std::int64_t>(trajectory.series.front().values.shape[1])) {
    for (std::size_t step = 0; step < same_.size(); ++step)
      rows_.push_back(static_cast<std::int64_t>(step) * molecules_);
  }

  void write() {
    file_.put_steps(trajectory_.times, same_);
    file_.put("Steps/PointOffsets", rows_);
    file_.put("NumberOfPoints", FileNumbers{molecules_});
    for (const auto& series : trajectory_.series) show(series);
    show_constant("id");
    show_constant("species");
    for (const char* kind : cell_kinds) put_cells(kind);
    const FileNumbers first_cells(cell_kinds.size() * same_.size(), 0);
    for (const char* name : {"CellOffsets", "ConnectivityIdOffsets"})
      file_.put(fmt::format("Steps/{}", name), first_cells, {same_.size(), cell_kinds.size()});
    file_.close();
    file_.finish();
  }

 private:
  /// The molecules of one sample after those of the other.
  void show(const Trajectory::Series& series) {
    const auto& shape = series.values.shape;
    const bool points = series.quantity == "position";
    file_.show(points ? std::string("Points") : "PointData/" + series.quantity,
               {shape[0] * shape[1], shape[2]}, series.values.type,
               {.file = source_, .path = series.values.path, .shape = shape});
    if (!points) file_.put("Steps/PointDataOffsets/" + series.quantity, rows_);
  }
  void show_constant(const std::string& name) {
    const h5::Shape shape{static_cast<std::uint64_t>(molecules_)};
    file_.show("PointData/" + name, shape, h5::ElementType::int64,
               {.file = source_, .path = fmt::format("{}/{}", molecules_group, name), .shape = shape});
    file_.put("Steps/PointDataOffsets/" + name, same_);
  }

  /// One cell with all points as vertices, and none of the other kinds.
  void put_cells(const std::string& kind) {
    FileNumbers points(kind == cell_kinds[0] ? static_cast<std::size_t>(molecules_) : 0);
    std::iota(points.begin(), points.end(), 0);
    const auto ids = static_cast<std::int64_t>(points.size());
    file_.put(kind + "/NumberOfCells", FileNumbers{ids > 0 ? 1 : 0});
    file_.put(kind + "/NumberOfConnectivityIds", FileNumbers{ids});
    file_.put(kind + "/Connectivity", points);
    file_.put(kind + "/Offsets", ids > 0 ? FileNumbers{0, ids} : FileNumbers{0});
  }

  run::VtkhdfFile file_;
  const Trajectory& trajectory_;
  std::string source_;
  FileNumbers same_,
      rows_;  ///< says where each step begins in what all steps share, and in what has a row for each
  std::int64_t molecules_;
};

}  // namespace

void write_vtkhdf(const Trajectory& trajectory, const std::string& output) {
  const fs::path values(output);
  const auto path = fs::path(output).replace_extension(".vtkhdf").string();
  if (trajectory.empty() || path == output) return;
  Writer(path, trajectory, values.filename().string()).write();
}

}  // namespace tailrace::molecules
