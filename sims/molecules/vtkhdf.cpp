// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <numeric>

#include "base/files.hpp"
#include "h5/file.hpp"
#include "h5md.hpp"

namespace tailrace::molecules {

namespace {

namespace fs = std::filesystem;

using Numbers = std::vector<std::int64_t>;

/// Kinds of cells of PolyData, in the order of the format.
constexpr std::array kinds{"Vertices", "Lines", "Polygons", "Strips"};

/// A VTKHDF file of points that move: PolyData, of which all steps share one cell, the vertices.
class VtkhdfFile {
 public:
  VtkhdfFile(const std::string& path, const Trajectory& trajectory, std::string source)
      : file_(h5::File::create(path)),
        trajectory_(trajectory),
        source_(std::move(source)),
        same_(trajectory.times.size(), 0),
        molecules_(static_cast<std::int64_t>(trajectory.series.front().values.shape[1])) {
    for (std::size_t step = 0; step < same_.size(); ++step)
      rows_.push_back(static_cast<std::int64_t>(step) * molecules_);
  }

  void write() {
    file_.create_group("/VTKHDF/Steps");
    file_.create_attribute("/VTKHDF", {"Version", Numbers{2, 0}, 0});
    file_.create_attribute("/VTKHDF", {"Type", std::string("PolyData"), 0});
    file_.create_attribute("/VTKHDF/Steps", {"NSteps", static_cast<std::int64_t>(same_.size()), 0});
    put("/VTKHDF/Steps/Values", trajectory_.times);
    put("/VTKHDF/Steps/NumberOfParts", Numbers(same_.size(), 1));
    put("/VTKHDF/Steps/PartOffsets", same_);
    put("/VTKHDF/Steps/PointOffsets", rows_);
    put("/VTKHDF/NumberOfPoints", Numbers{molecules_});
    for (const auto& series : trajectory_.series) show(series);
    show_constant("id");
    show_constant("species");
    for (const char* kind : kinds) put_cells(kind);
    const Numbers first_cells(kinds.size() * same_.size(), 0);
    for (const char* name : {"CellOffsets", "ConnectivityIdOffsets"})
      put(fmt::format("/VTKHDF/Steps/{}", name), first_cells, {same_.size(), kinds.size()});
    file_.close();
  }

 private:
  template <class T>
  void put(const std::string& path, const std::vector<T>& values, h5::Shape shape = {}) {
    if (shape.empty()) shape = {values.size()};
    file_.create_dataset({path, std::move(shape), h5::element_type_of<T>(), {}});
    if (!values.empty()) file_.write<T>(path, values);
  }

  /// The molecules of one sample after those of the other.
  void show(const Trajectory::Series& series) {
    const auto& shape = series.values.shape;
    const bool points = series.quantity == "position";
    const auto path = points ? std::string("/VTKHDF/Points") : "/VTKHDF/PointData/" + series.quantity;
    file_.create_view({path, {shape[0] * shape[1], shape[2]}, series.values.type, {}}, source_,
                      series.values.path, shape);
    if (!points) put("/VTKHDF/Steps/PointDataOffsets/" + series.quantity, rows_);
  }
  void show_constant(const std::string& name) {
    const h5::Shape shape{static_cast<std::uint64_t>(molecules_)};
    file_.create_view({"/VTKHDF/PointData/" + name, shape, h5::ElementType::int64, {}}, source_,
                      fmt::format("{}/{}", molecules_group, name), shape);
    put("/VTKHDF/Steps/PointDataOffsets/" + name, same_);
  }

  /// One cell with all points as vertices, and none of the other kinds.
  void put_cells(const std::string& kind) {
    Numbers points(kind == kinds[0] ? static_cast<std::size_t>(molecules_) : 0);
    std::iota(points.begin(), points.end(), 0);
    const auto ids = static_cast<std::int64_t>(points.size());
    const auto group = "/VTKHDF/" + kind;
    put(group + "/NumberOfCells", Numbers{ids > 0 ? 1 : 0});
    put(group + "/NumberOfConnectivityIds", Numbers{ids});
    put(group + "/Connectivity", points);
    put(group + "/Offsets", ids > 0 ? Numbers{0, ids} : Numbers{0});
  }

  h5::File file_;
  const Trajectory& trajectory_;
  std::string source_;
  Numbers same_,
      rows_;  ///< says where each step begins in what all steps share, and in what has a row for each
  std::int64_t molecules_;
};

}  // namespace

void write_vtkhdf(const Trajectory& trajectory, const std::string& output) {
  const fs::path values(output);
  const auto path = fs::path(output).replace_extension(".vtkhdf").string();
  if (trajectory.empty() || path == output) return;
  VtkhdfFile(path + ".partial", trajectory, values.filename().string()).write();
  replace_file(path + ".partial", path);
}

}  // namespace tailrace::molecules
