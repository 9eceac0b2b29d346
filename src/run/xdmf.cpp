// SPDX-License-Identifier: BSD-3-Clause
#include "run/xdmf.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <variant>

#include "tailrace/error.hpp"

namespace tailrace::run {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += letter;
    }
  return out;
}

/// The box of a stream, if it is one.
std::optional<Box> grid_of(const output::Stream& stream, Index3 domain) {
  if (stream.growth) return {};  // viewers want to know how many samples there are
  if (std::holds_alternative<output::Whole>(stream.selection)) return Box::whole(domain);
  const auto* boxes = std::get_if<output::Boxes>(&stream.selection);
  if (boxes == nullptr || boxes->boxes.size() != 1) return {};
  return boxes->boxes.front();
}

/// One stream as a collection of grids, one for each sample.
class Series {
 public:
  Series(const output::Stream& stream, const Box& box, const output::Frame& frame, const std::string& file)
      : stream_(stream), box_(box), n_(box.extents()), frame_(frame), file_(escaped(file)) {}

  [[nodiscard]] std::string text() const {
    auto out = fmt::format("  <Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
                           stream_.name);
    const bool series = stream_.reduction == output::Reduction::none;
    const auto& cadence = stream_.cadence;
    const auto samples = series ? cadence.samples() : 1;
    for (StepIndex k = 0; k < samples; ++k)
      out += sample(k, samples, series ? cadence.step_of(k) : cadence.last);
    return out + "  </Grid>\n";
  }

 private:
  [[nodiscard]] std::string sample(StepIndex k, StepIndex samples, StepIndex step) const {
    const auto [dx, dy, dz] = frame_.spacing_m;
    const auto [x, y, z] = frame_.place_m(box_.lo, stream_.offset_cells);
    const auto shape = fmt::format("{} {} {}", n_.z, n_.y, n_.x);
    const auto three = [](const std::string& numbers) {
      return fmt::format(
          "      <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" "
          "Format=\"XML\">{}</DataItem>\n",
          numbers);
    };
    const auto type = stream_.datasets.front().type;
    return fmt::format("   <Grid Name=\"{}\" GridType=\"Uniform\">\n", stream_.name) +
           fmt::format("    <Time Value=\"{:.17g}\"/>\n", frame_.time_s(step)) +
           fmt::format("    <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"{}\"/>\n", shape) +
           "    <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n" +
           three(fmt::format("{:.17g} {:.17g} {:.17g}", z, y, x)) +
           three(fmt::format("{:.17g} {:.17g} {:.17g}", dz, dy, dx)) + "    </Geometry>\n" +
           fmt::format("    <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Node\">\n",
                       escaped(stream_.quantity)) +
           fmt::format("     <DataItem ItemType=\"HyperSlab\" Dimensions=\"{}\">\n", shape) +
           fmt::format(
               "      <DataItem Dimensions=\"3 4\" NumberType=\"Int\" Format=\"XML\">{} 0 0 0 1 1 1 1 1 "
               "{}</DataItem>\n",
               k, shape) +
           fmt::format(
               "      <DataItem Dimensions=\"{} {}\" NumberType=\"Float\" Precision=\"{}\" "
               "Format=\"HDF\">{}:{}</DataItem>\n",
               samples, shape, h5::size_bytes(type), file_, stream_.datasets.front().path) +
           "     </DataItem>\n    </Attribute>\n   </Grid>\n";
  }

  const output::Stream& stream_;
  Box box_;
  Index3 n_;
  const output::Frame& frame_;
  std::string file_;
};

}  // namespace

std::string xdmf_text(const std::vector<output::Stream>& streams, const output::Frame& frame,
                      const std::string& hdf5_file) {
  std::string grids;
  for (const auto& stream : streams)
    if (const auto box = grid_of(stream, frame.domain))
      grids += Series(stream, *box, frame, hdf5_file).text();
  if (grids.empty()) return {};
  return "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n <Domain>\n" + grids + " </Domain>\n</Xdmf>\n";
}

void write_xdmf(const std::vector<output::Stream>& streams, const output::Frame& frame,
                const std::string& output) {
  const std::filesystem::path hdf5_file(output);
  const auto path = std::filesystem::path(output).replace_extension(".xdmf");
  const auto text = xdmf_text(streams, frame, hdf5_file.filename().string());
  if (text.empty()) return;
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = path.string() + ": cannot be written",
                        .path = path.string(),
                        .hint = "check the space and the permissions there"});
}

}  // namespace tailrace::run
