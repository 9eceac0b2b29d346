// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <vector>

#include "base/files.hpp"
#include "basis.hpp"
#include "h5/file.hpp"
#include "h5/growing_file.hpp"
#include "mesh_rows.hpp"
#include "run/vtkhdf.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

namespace fs = std::filesystem;
using FileNumbers = run::VtkhdfFile::Numbers;

constexpr std::uint8_t linear_hexahedron = 12, lagrange_hexahedron = 72;

/// Where VTK has node (i, j, k) of a hexahedron of order n (vtkHigherOrderHexahedron::PointIndexFromIJK).
std::size_t node_of(std::size_t n, std::size_t i, std::size_t j, std::size_t k) noexcept {
  constexpr std::size_t vertices = 8;
  const std::size_t inner = n - 1, edges = 12 * inner, face = inner * inner;
  const bool at_i = i == 0 || i == n, at_j = j == 0 || j == n, at_k = k == 0 || k == n;
  const std::size_t corner = i > 0 ? (j > 0 ? 2U : 1U) : (j > 0 ? 3U : 0U);
  if (at_i && at_j && at_k) return corner + (k > 0 ? 4 : 0);
  if (at_j && at_k) return vertices + (i - 1) + (j > 0 ? 2 * inner : 0) + (k > 0 ? 4 * inner : 0);
  if (at_i && at_k) return vertices + (j - 1) + (i > 0 ? inner : 3 * inner) + (k > 0 ? 4 * inner : 0);
  if (at_i && at_j) return vertices + 8 * inner + (k - 1) + inner * corner;
  const std::size_t faces = vertices + edges;
  if (at_i) return faces + (j - 1) + inner * (k - 1) + (i > 0 ? face : 0);
  if (at_j) return faces + 2 * face + (i - 1) + inner * (k - 1) + (j > 0 ? face : 0);
  if (at_k) return faces + 4 * face + (i - 1) + inner * (j - 1) + (k > 0 ? face : 0);
  return faces + 6 * face + (i - 1) + inner * ((j - 1) + inner * (k - 1));
}

/// What an element has: points, and cells, with their points and their type.
struct CellShape {
  std::span<const double> places;  ///< of points, along an axis
  std::int64_t points = 0;
  FileNumbers connectivity;
  std::int64_t cells = 1;
  std::uint8_t type = lagrange_hexahedron;

  [[nodiscard]] std::int64_t ids() const noexcept { return static_cast<std::int64_t>(connectivity.size()); }
};

CellShape shape_of(int order, VtkhdfCells cells) {
  CellShape shape{.places = gll_places_of(order),
                  .points = static_cast<std::int64_t>(element_points_of(order)),
                  .connectivity = {}};
  if (cells == VtkhdfCells::lagrange) {
    shape.connectivity = lagrange_nodes(order);
    return shape;
  }
  const std::int64_t across = order, y = across + 1, z = y * y;
  shape.cells = across * across * across;
  shape.type = linear_hexahedron;
  for (std::int64_t k = 0; k < across; ++k)
    for (std::int64_t j = 0; j < across; ++j)
      for (std::int64_t i = 0; i < across; ++i)
        for (const std::int64_t corner :
             {std::int64_t{0}, std::int64_t{1}, 1 + y, y, z, z + 1, z + 1 + y, z + y})
          shape.connectivity.push_back(i + j * y + k * z + corner);
  return shape;
}

/// The samples of a stream as they are in the output.
struct Records {
  std::vector<double> times;
  FileNumbers offsets;       ///< first row of each sample, and the end
  std::string file;          ///< the output
  std::string source, path;  ///< where the rows are, seen from there: a file of their own, if there is one
  h5::DatasetSpec values;

  [[nodiscard]] std::size_t samples() const noexcept { return times.size(); }
  [[nodiscard]] std::int64_t elements(std::size_t sample) const {
    return offsets[sample + 1] - offsets[sample];
  }
};

Records records_of(const output::Stream& stream, StepIndex until, const std::string& output) {
  const auto samples = static_cast<std::uint64_t>(stream.cadence.samples_until(until));
  Records records{.times = std::vector<double>(samples),
                  .offsets = FileNumbers(samples + 1),
                  .file = output,
                  .source = {},
                  .path = {},
                  .values = stream.datasets.front()};
  if (samples == 0) return records;
  const auto file = h5::File::open(output);
  file.read_hyperslab<double>(stream.growth->time_s(), {0}, {samples}, std::span(records.times));
  file.read_hyperslab<std::int64_t>(stream.growth->offsets(), {0}, {samples + 1}, std::span(records.offsets));
  records.values.shape = file.shape(records.values.path);
  const auto own = fs::path(fs::path(output).filename().string() + ".rows") / (stream.name + ".h5");
  const bool has_own = file.storage(records.values.path).in_other_files;
  records.source = has_own ? own.string() : fs::path(output).filename().string();
  records.path = has_own ? h5::GrowingHead::dataset : records.values.path;
  return records;
}

/// Where the points of a row's element are, in single precision: exact to a tenth of the distance of two
/// points at the deepest level that there may be, 18, and to less than a thousandth in class D.
void append_places(std::span<const double> row, std::span<const double> along, std::vector<float>& places) {
  const double size = std::ldexp(1.0, -static_cast<int>(row[3]));
  const auto at = [&](std::size_t axis, double place) {
    return static_cast<float>(row[axis] + size * (place + 1) / 2);
  };
  for (const double z : along)
    for (const double y : along)
      for (const double x : along) places.insert(places.end(), {at(0, x), at(1, y), at(2, z)});
}

/// A file with some samples.
class Writer {
 public:
  Writer(const Records& records, std::size_t first, std::size_t samples, const CellShape& shape,
         const std::string& path)
      : records_(records),
        shape_(shape),
        first_(first),
        samples_(samples),
        begin_(records.offsets[first]),
        rows_(records.offsets[first + samples] - begin_),
        file_(path, "UnstructuredGrid") {}

  void write(bool with_steps) {
    if (with_steps) put_steps();
    put_counts();
    show_values();
    const auto rows = static_cast<std::uint64_t>(rows_),
               cells = rows * static_cast<std::uint64_t>(shape_.cells);
    const auto offsets = file_.make_room("Offsets", {cells + samples_}, h5::ElementType::int64),
               types = file_.make_room("Types", {cells}, h5::ElementType::uint8),
               connectivity =
                   file_.make_room("Connectivity", {static_cast<std::uint64_t>(largest() * shape_.ids())},
                                   h5::ElementType::int64),
               places = file_.make_room("Points", {rows * points(), 3}, h5::ElementType::float32);
    file_.close();
    std::fstream to(file_.place(), std::ios::binary | std::ios::in | std::ios::out);
    put_offsets(to.seekp(offsets));
    put_types(to.seekp(types));
    put_connectivity(to.seekp(connectivity));
    put_places(to.seekp(places));
    to.close();
    if (!to)
      throw Error(ErrorInfo{.kind = ErrorKind::io,
                            .message = file_.place() + ": cannot be written",
                            .path = file_.place(),
                            .hint = "free space, or heat.vtkhdf = \"none\""});
    file_.finish();
  }

 private:
  /// As many as elements before each sample, times a number.
  [[nodiscard]] FileNumbers before(std::int64_t times) const {
    FileNumbers list;
    for (std::size_t s = 0; s < samples_; ++s)
      list.push_back((records_.offsets[first_ + s] - begin_) * times);
    return list;
  }
  [[nodiscard]] FileNumbers counts(std::int64_t times) const {
    FileNumbers list;
    for (std::size_t s = 0; s < samples_; ++s) list.push_back(records_.elements(first_ + s) * times);
    return list;
  }

  /// Of an element.
  [[nodiscard]] std::uint64_t points() const { return static_cast<std::uint64_t>(shape_.points); }

  void put_steps() {
    FileNumbers parts(samples_);
    std::iota(parts.begin(), parts.end(), 0);
    file_.put_steps(records_.times, parts);
    file_.put("Steps/PointOffsets", before(shape_.points));
    file_.put("Steps/CellOffsets", before(shape_.cells), {samples_, 1});
    file_.put("Steps/ConnectivityIdOffsets", FileNumbers(samples_, 0), {samples_, 1});
    file_.put("Steps/PointDataOffsets/temperature", before(shape_.points));
    if (shape_.cells == 1) file_.put("Steps/CellDataOffsets/level", before(1));
  }

  void put_counts() {
    file_.put("NumberOfPoints", counts(shape_.points));
    file_.put("NumberOfCells", counts(shape_.cells));
    file_.put("NumberOfConnectivityIds", counts(shape_.ids()));
  }

  /// Elements of the largest mesh.
  [[nodiscard]] std::int64_t largest() const {
    const auto elements = counts(1);
    return *std::max_element(elements.begin(), elements.end());
  }

  template <class T>
  static void put(std::ostream& to, T number) {
    to.write(reinterpret_cast<const char*>(&number), sizeof number);
  }

  void put_offsets(std::ostream& to) const {
    const std::int64_t each = shape_.ids() / shape_.cells;
    for (const std::int64_t cells : counts(shape_.cells))
      for (std::int64_t cell = 0; cell <= cells; ++cell) put(to, cell * each);
  }

  void put_types(std::ostream& to) const {
    for (std::int64_t cell = 0; cell < rows_ * shape_.cells; ++cell) put(to, shape_.type);
  }

  /// The points of a mesh are counted from its first one on, so that all samples share the cells of the
  /// largest.
  void put_connectivity(std::ostream& to) const {
    for (std::int64_t element = 0; element < largest(); ++element)
      for (const std::int64_t id : shape_.connectivity) put(to, element * shape_.points + id);
  }

  void show_values() {
    const auto rows = static_cast<std::uint64_t>(rows_), start = static_cast<std::uint64_t>(begin_);
    const auto show = [&](const char* name, std::uint64_t column, std::uint64_t columns) {
      file_.show(name, {rows * columns}, records_.values.type,
                 {.file = records_.source,
                  .path = records_.path,
                  .shape = records_.values.shape,
                  .start = {start, column},
                  .count = {rows, columns}});
    };
    show("PointData/temperature", static_cast<std::uint64_t>(MeshRows::components_before), points());
    if (shape_.cells == 1) show("CellData/level", 3, 1);
  }

  void put_places(std::ostream& to) const {
    constexpr std::int64_t batch = 1024;
    const auto from = h5::File::open(records_.file);
    std::vector<double> rows;
    std::vector<float> places;
    constexpr auto columns = static_cast<std::size_t>(MeshRows::components_before);
    for (std::int64_t first = 0; first < rows_; first += batch) {
      const auto count = static_cast<std::uint64_t>(std::min(batch, rows_ - first));
      rows.resize(count * columns);
      from.read_hyperslab<double>(records_.values.path, {static_cast<std::uint64_t>(begin_ + first), 0},
                                  {count, columns}, std::span(rows));
      places.clear();
      for (std::size_t row = 0; row < count; ++row)
        append_places(std::span(rows).subspan(row * columns, columns), shape_.places, places);
      to.write(reinterpret_cast<const char*>(places.data()),
               static_cast<std::streamsize>(places.size() * sizeof(float)));
    }
  }

  const Records& records_;
  const CellShape& shape_;
  std::size_t first_, samples_;
  std::int64_t begin_, rows_;
  run::VtkhdfFile file_;
};

/// ParaView takes files of a series and their times from a list beside them.
void write_series(const Records& records, const CellShape& shape, const fs::path& base) {
  std::vector<std::string> entries;
  for (std::size_t s = 0; s < records.samples(); ++s) {
    const auto name = fmt::format("{}.{:04}.vtkhdf", base.stem().string(), s);
    Writer(records, s, 1, shape, (base.parent_path() / name).string()).write(false);
    entries.push_back(fmt::format(R"(    {{"name": "{}", "time": {}}})", name, records.times[s]));
  }
  const auto list = base.string() + ".series", place = list + ".partial";
  std::ofstream text(place);
  text << "{\n  \"file-series-version\": \"1.0\",\n  \"files\": [\n"
       << fmt::format("{}", fmt::join(entries, ",\n")) << "\n  ]\n}\n";
  text.close();
  if (!text)
    throw Error(ErrorInfo{
        .kind = ErrorKind::io, .message = place + ": cannot be written", .path = place, .hint = {}});
  replace_file(place, list);
}

}  // namespace

std::vector<std::int64_t> lagrange_nodes(int order) {
  const std::size_t n = static_cast<std::size_t>(order), y = n + 1, z = y * y;
  std::vector<std::int64_t> nodes(y * z);
  for (std::size_t p = 0; p < nodes.size(); ++p)
    nodes[node_of(n, p % y, p / y % y, p / z)] = static_cast<std::int64_t>(p);
  return nodes;
}

void write_vtkhdf(const output::Stream& stream, StepIndex until, const std::string& output, int order,
                  VtkhdfFiles files, VtkhdfCells cells) {
  const fs::path path = fs::path(output).replace_extension(".vtkhdf");
  if (files == VtkhdfFiles::none || path == fs::path(output)) return;
  const auto records = records_of(stream, until, output);
  if (records.samples() == 0) return;
  const auto shape = shape_of(order, cells);
  if (files == VtkhdfFiles::series) return write_series(records, shape, path);
  Writer(records, 0, records.samples(), shape, path.string()).write(true);
}

}  // namespace tailrace::heat
