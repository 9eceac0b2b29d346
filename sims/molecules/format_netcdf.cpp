// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/bytes.hpp"
#include "cell_places.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "netcdf_header.hpp"
#include "phase_space_formats.hpp"
#include "phase_space_text.hpp"
#include "shared_file.hpp"

namespace tailrace::molecules {

namespace {

using namespace netcdf;

/// Whole numbers that a double holds.
constexpr double largest_whole = 9007199254740992.0;

// Places in a row, in doubles.
constexpr int velocity = 3, orientation = 6, angular_momentum = 10, id = 13, component = 14;

Molecule unpack_doubles(std::span<const std::byte> row) {
  std::array<double, doubles_each> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = value_at<std::uint64_t>(row, 8 * i);  // swapped, it might be a signalling NaN
    values[i] = std::bit_cast<double>(big_endian(bits));
  }
  Molecule molecule;
  const auto copy = [&](auto& to, int from) { std::copy_n(values.begin() + from, to.size(), to.begin()); };
  copy(molecule.position, 0);
  copy(molecule.velocity, velocity);
  copy(molecule.orientation, orientation);
  copy(molecule.angular_momentum, angular_momentum);
  const auto whole = [](double value) {
    return value >= 0 && value <= largest_whole && value == std::floor(value);
  };
  molecule.id = whole(values[id]) ? static_cast<std::uint64_t>(values[id]) : 0;
  const bool fits = whole(values[id]) && whole(values[component]) && values[component] <= INT32_MAX;
  molecule.component = fits ? static_cast<std::int32_t>(values[component]) : -1;
  return molecule;
}

void pack_doubles(const Molecule& molecule, std::span<std::byte> out) {
  if (static_cast<double>(molecule.id) > largest_whole)
    throw Error(ErrorKind::usage,
                fmt::format("molecule {} cannot be written: in netCDF files ids are doubles, up to "
                            "2^53; choose another format",
                            molecule.id));
  std::array<double, doubles_each> values{};
  const auto copy = [&](const auto& from, int to) {
    std::copy(from.begin(), from.end(), values.begin() + to);
  };
  copy(molecule.position, 0);
  copy(molecule.velocity, velocity);
  copy(molecule.orientation, orientation);
  copy(molecule.angular_momentum, angular_momentum);
  values[id] = static_cast<double>(molecule.id);
  values[component] = molecule.component;
  for (std::size_t i = 0; i < values.size(); ++i)
    put_at(out, 8 * i, big_endian(std::bit_cast<std::uint64_t>(values[i])));
}

/// Deals the cells out, so that all ranks read about as much. @collective
std::vector<RowRange> deal(mpi::CommView comm, const std::vector<RowRange>& cells, std::int64_t molecules) {
  std::vector<mpi::Packet<RowRange>> packets;
  std::int64_t before = 0;
  for (auto range : cells)
    while (range.count > 0) {
      const int rank = part_with(before, molecules, comm.size());
      const std::int64_t count = std::min(range.count, part_of(molecules, rank, comm.size()).end - before);
      if (packets.empty() || packets.back().rank != rank) packets.push_back({rank, {}});
      packets.back().values.push_back({range.offset, count});
      range = {range.offset + count * row_bytes, range.count - count};
      before += count;
    }
  std::vector<RowRange> own;
  for (const auto& packet : mpi::deliver(comm, packets)) own = packet.values;
  return own;
}

/// Cells as variables. Rank 0 reads where they are; each rank reads an equal part of the molecules.
class NetcdfFile final : public PhaseSpace {
 public:
  NetcdfFile(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceHeader& header)
      : PhaseSpace(comm, header, files.data) {
    mpi::collectively(comm, [&] { file_.emplace(files.data, whole_file); });
  }
  [[nodiscard]] std::int64_t bytes_read() const noexcept override { return file_->bytes_read(); }

 private:
  void read_molecules(const Share& share, const Take& take) override {
    std::vector<RowRange> cells;
    mpi::collectively_on_root(comm(), [&] {
      cells = read_cells(path());
      std::int64_t count = 0;
      for (const auto& cell : cells) count += cell.count;
      if (count != header().molecules)
        throw file_error(path(),
                         fmt::format("holds {} molecules, its header states {}", count, header().molecules),
                         "two files of one state");
    });
    const RowCode code{row_bytes, row_bytes, unpack_doubles};
    RowReader reader(*file_, code, deal(comm(), cells, header().molecules));
    read_in_parts(
        comm(), share, path(), [&] { return reader.next(); }, take);
  }

  std::optional<InputFile> file_;
};

/// The header as the ranks make it together: each its own cells. A cell without molecules has no variable: a
/// dimension of length 0 would be the unlimited one.
class HeaderBatches {
 public:
  HeaderBatches(mpi::CommView comm, const FileGrid& grid, const CellPlaces& places, const StateTotals& totals)
      : comm_(comm), places_(places), rows_(places.rows_before) {
    for (const auto count : places.counts) filled_ += count > 0 ? 1 : 0;
    filled_before_ = mpi::exclusive_scan(comm, filled_);
    filled_of_all_ = mpi::sum(comm, filled_);
    constexpr std::int64_t max_bytes = std::numeric_limits<std::uint32_t>::max() - 3;
    const auto most =
        places.counts.empty() ? 0 : *std::max_element(places.counts.begin(), places.counts.end());
    version_ = mpi::max(comm, most) > max_bytes / row_bytes ? Version::long_data : Version::long_offsets;
    make_attributes(grid, totals);
    dimensions_ = dimensions();
    variables_ = variables(0);
    place();
  }
  [[nodiscard]] std::int64_t header_bytes() const noexcept { return header_bytes_; }

  void write(SharedFile& file) const {
    if (comm_.is_root()) {
      file.write(0, start().bytes());
      file.write(attributes_at_, attributes_.bytes());
      HeaderBytes list(version_);
      list.add_list(variable_tag, filled_of_all_);
      file.write(attributes_at_ + attributes_.size(), list.bytes());
    }
    file.write(dimensions_at_, dimensions_.bytes());
    file.write(variables_at_, variables(header_bytes_).bytes());
  }

 private:
  void make_attributes(const FileGrid& grid, const StateTotals& totals) {
    attributes_ = HeaderBytes(version_);
    attributes_.add_list(attribute_tag, 3);
    attributes_.add_text("number_of_molecules");
    attributes_.add32(type_double);
    attributes_.add_count(1);
    attributes_.add_double(static_cast<double>(totals.molecules));
    attributes_.add_text("cell_edges");
    attributes_.add32(type_double);
    attributes_.add_count(3);
    for (const double edge : grid.edges()) attributes_.add_double(edge);
    attributes_.add_text("cells");
    attributes_.add32(type_int);
    attributes_.add_count(3);
    for (const auto count : grid.cells()) attributes_.add32(static_cast<std::uint32_t>(count));
  }

  [[nodiscard]] HeaderBytes start() const {
    HeaderBytes bytes(version_);
    bytes.add32(0x43444600U | static_cast<std::uint32_t>(version_));
    bytes.add_count(0);
    bytes.add_list(dimension_tag, filled_of_all_);
    return bytes;
  }

  /// Calls for each filled cell of this rank's part: its number, its number among the filled ones, its count.
  template <class Action>
  void for_each_filled(const Action& action) const {
    std::int64_t filled = filled_before_;
    for (std::size_t i = 0; i < places_.counts.size(); ++i)
      if (places_.counts[i] > 0)
        action(places_.part.begin + static_cast<std::int64_t>(i), filled++, places_.counts[i]);
  }

  [[nodiscard]] HeaderBytes dimensions() const {
    HeaderBytes bytes(version_);
    for_each_filled([&](std::int64_t cell, std::int64_t, std::int64_t count) {
      bytes.add_text(fmt::format("d{}", cell));
      bytes.add_count(doubles_each * count);
    });
    return bytes;
  }

  /// With the data from this byte on.
  [[nodiscard]] HeaderBytes variables(std::int64_t data_begin) const {
    HeaderBytes bytes(version_);
    std::int64_t row = rows_;
    for_each_filled([&](std::int64_t cell, std::int64_t dimension, std::int64_t count) {
      bytes.add_text(fmt::format("v{}", cell));
      bytes.add_count(1);
      bytes.add_count(dimension);
      bytes.add_list(attribute_tag, 0);
      bytes.add32(type_double);
      bytes.add_count(row_bytes * count);
      bytes.add64(static_cast<std::uint64_t>(data_begin + row * row_bytes));
      row += count;
    });
    return bytes;
  }

  void place() {
    const std::vector<std::int64_t> mine{dimensions_.size(), variables_.size()};
    const auto before = mpi::exclusive_scan(comm_, mine), all = mpi::sum(comm_, mine);
    dimensions_at_ = start().size() + before[0];
    attributes_at_ = start().size() + all[0];
    HeaderBytes list(version_);
    list.add_list(variable_tag, filled_of_all_);
    const std::int64_t variables_begin = attributes_at_ + attributes_.size() + list.size();
    variables_at_ = variables_begin + before[1];
    header_bytes_ = variables_begin + all[1];
  }

  mpi::CommView comm_;
  const CellPlaces& places_;
  std::int64_t rows_, filled_ = 0, filled_before_ = 0, filled_of_all_ = 0;
  Version version_ = Version::long_offsets;
  HeaderBytes attributes_{version_}, dimensions_{version_}, variables_{version_};
  std::int64_t dimensions_at_ = 0, attributes_at_ = 0, variables_at_ = 0, header_bytes_ = 0;
};

}  // namespace

std::unique_ptr<PhaseSpace> open_netcdf(mpi::CommView comm, const PhaseSpaceFiles& files) {
  const auto text = share_text(comm, [&] { return read_text_header(files.header); });
  return std::make_unique<NetcdfFile>(comm, files, parse_text_header(text, files.header).header);
}

void write_netcdf(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state,
                  const StateTotals& totals) {
  const FileGrid grid(state.box, state.cells);
  const auto places = place_in_cells(comm, grid, state.list);
  const HeaderBatches batches(comm, grid, places, totals);
  const auto header = text_header(state, totals.molecules, totals.state_sum);
  SharedFile file(comm, files.data, batches.header_bytes() + totals.molecules * row_bytes, state.access);
  SharedFile header_file(comm, files.header, static_cast<std::int64_t>(header.size()), state.access);
  const std::array all{&file, &header_file};
  write_together(comm, all, [&] {
    if (comm.is_root()) header_file.write(0, header);
    batches.write(file);
    for (const auto& run : places.runs)
      file.write_rows(batches.header_bytes() + run.row * row_bytes, {row_bytes, pack_doubles},
                      places.list_of(run, state.list));
  });
}

}  // namespace tailrace::molecules
