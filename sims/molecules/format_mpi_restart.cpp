// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"
#include "shared_file.hpp"

namespace tailrace::molecules {

namespace {

constexpr std::string_view magic = "MarDyn20150211trunk";
constexpr std::int32_t byte_order_probe = 0x0a0b0c0d, swapped_probe = 0x0d0c0b0a;

/// Returns what the file begins with; the table of boxes follows, if `table_name` says so.
#pragma pack(push, 1)
struct Start {
  std::array<char, 52> magic{};
  std::int32_t probe = byte_order_probe;
  std::uint64_t gap = 0;  ///< from here to the first row
  std::array<char, 7> format{"ICRVQD"};
  std::array<char, 3> table_name{"BB"};
  std::uint64_t boxes = 0;
};
#pragma pack(pop)
constexpr std::int64_t gap_begin = 64, start_bytes = 82, box_bytes = 64, shortest_gap = 7;
static_assert(sizeof(Start) == start_bytes);

/// Describes what one rank wrote.
struct Box {
  Vec3 low{}, high{};
  std::uint64_t first = 0, count = 0;
};
static_assert(sizeof(Box) == box_bytes);

/// Describes what follows from the head of a file.
struct Layout {
  std::int64_t rows_begin = 0, molecules = 0;
  RowLayout row;
};

/// Reads the head, on one rank.
class HeadReader {
 public:
  explicit HeadReader(const std::string& path) : file_(path, whole_file) {}

  Layout read() {
    if (file_.size_bytes() < start_bytes)
      refuse(fmt::format("has {} bytes: it is truncated", file_.size_bytes()));
    file_.read(0, std::as_writable_bytes(std::span(&start_, 1)));
    if (std::string_view(start_.magic.data(), magic.size()) != magic)
      refuse("does not begin as an MPI-IO checkpoint of ls1 mardyn does");
    if (start_.probe == swapped_probe) refuse("is of a machine of the other byte order");
    if (start_.probe != byte_order_probe) refuse("has a damaged byte-order mark");
    if (std::string_view(start_.format.data(), 6) != "ICRVQD") refuse("has rows of an unknown format");
    const std::int64_t most = file_.size_bytes() - gap_begin;
    if (start_.gap < shortest_gap || start_.gap > static_cast<std::uint64_t>(most))
      refuse(fmt::format("states rows {} bytes behind byte {}", start_.gap, gap_begin));
    layout_.rows_begin = gap_begin + static_cast<std::int64_t>(start_.gap);
    read_boxes();
    check_size();
    find_row();
    return layout_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw file_error(
        file_.path(), what,
        "a checkpoint that ls1 mardyn wrote with datarep = native; without, it writes damaged ones");
  }

  /// Finds out how many molecules there are: the table says, or the size where there is none.
  void read_boxes() {
    const std::int64_t bytes = file_.size_bytes() - layout_.rows_begin;
    if (std::string_view(start_.table_name.data(), 2) != "BB") {
      low_ = Vec3{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, high_ = -1 * low_;
      layout_.molecules = (bytes + padded_transfer_row.bytes - 1) / padded_transfer_row.bytes;
      return;
    }
    const auto room = static_cast<std::uint64_t>(layout_.rows_begin - start_bytes) / box_bytes;
    if (start_.boxes > room)
      refuse(fmt::format("states {} that wrote, with room for {}", counted(start_.boxes, "rank"), room));
    std::vector<Box> boxes(start_.boxes);
    file_.read(start_bytes, std::as_writable_bytes(std::span(boxes)));
    std::uint64_t sum = 0;
    for (const auto& box : boxes) {
      if (box.first != sum || box.count > static_cast<std::uint64_t>(bytes))
        refuse("has a damaged table of the ranks that wrote");
      sum += box.count;
    }
    layout_.molecules = static_cast<std::int64_t>(sum);
    if (!boxes.empty()) low_ = boxes[0].low, high_ = boxes[0].high;
    first_count_ = boxes.empty() ? 0 : static_cast<std::int64_t>(boxes[0].count);
  }

  void check_size() const {
    const std::int64_t gap = padded_transfer_row.bytes - padded_transfer_row.used_bytes(),
                       full = layout_.rows_begin + layout_.molecules * padded_transfer_row.bytes;
    const std::int64_t least = layout_.molecules > 0 ? full - gap : full;
    if (file_.size_bytes() < least || file_.size_bytes() > full)
      refuse(fmt::format("has {} bytes where {} molecules take {}", file_.size_bytes(), layout_.molecules,
                         full));
  }

  /// Finds out which of two rows it is; nothing in the file says so, so the first ones are looked at.
  void find_row() {
    constexpr std::int64_t max_looked_at = 64;
    const bool parallel = fits(padded_transfer_row, max_looked_at), serial = fits(serial_row, max_looked_at);
    if (parallel == serial && layout_.molecules > 0)
      refuse("has rows that are neither of the parallel nor of the serial kind");
    layout_.row = serial && !parallel ? serial_row : padded_transfer_row;
  }

  /// Returns whether the first rows, read in this manner, are molecules.
  [[nodiscard]] bool fits(const RowLayout& row, std::int64_t most) const {
    const std::int64_t bytes = (layout_.molecules - 1) * row.bytes + row.used_bytes();
    if (file_.size_bytes() < layout_.rows_begin + bytes) return false;
    const std::int64_t count = std::min({most, layout_.molecules, first_count_ > 0 ? first_count_ : most});
    RowReader reader(file_, code_of(row), {{layout_.rows_begin, count}});
    const auto molecules = reader.next();
    return std::all_of(molecules.begin(), molecules.end(),
                       [&](const Molecule& molecule) { return fits(molecule); });
  }

  [[nodiscard]] bool fits(const Molecule& molecule) const {
    constexpr std::int32_t max_components = 1 << 16;
    constexpr double tolerance = 1e-3;
    double square = 0;
    for (const double part : molecule.orientation) square += part * part;
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d)
      inside = inside && molecule.position[d] >= low_[d] && molecule.position[d] <= high_[d];
    return inside && molecule.component >= 0 && molecule.component < max_components &&
           std::abs(square - 1) < tolerance;
  }

  InputFile file_;
  Start start_;
  Layout layout_;
  Vec3 low_{}, high_{};
  std::int64_t first_count_ = 0;
};

/// Rows behind a table. Each rank reads an equal part of them.
class MpiRestartFile final : public PhaseSpace {
 public:
  MpiRestartFile(mpi::CommView comm, const std::string& path, const Layout& layout)
      : PhaseSpace(comm, header_of(layout), path), layout_(layout) {
    mpi::collectively(comm, [&] { file_.emplace(path, whole_file); });
  }
  [[nodiscard]] std::int64_t bytes_read() const noexcept override { return file_->bytes_read(); }

 private:
  static PhaseSpaceHeader header_of(const Layout& layout) {
    PhaseSpaceHeader header;
    header.molecules = layout.molecules;
    return header;
  }

  void read_molecules(const Share& share, const Take& take) override {
    const auto part = part_of(layout_.molecules, comm().rank(), comm().size());
    RowReader reader(*file_, code_of(layout_.row),
                     {{layout_.rows_begin + part.begin * layout_.row.bytes, part.end - part.begin}});
    read_in_parts(
        comm(), share, path(), [&] { return reader.next(); }, take);
  }

  Layout layout_;
  std::optional<InputFile> file_;
};

}  // namespace

std::unique_ptr<PhaseSpace> open_mpi_restart(mpi::CommView comm, const PhaseSpaceFiles& files) {
  std::vector<Layout> layout(1);
  mpi::collectively_on_root(comm, [&] { layout[0] = HeadReader(files.data).read(); });
  mpi::broadcast(comm, layout, 0);
  return std::make_unique<MpiRestartFile>(comm, files.data, layout[0]);
}

void write_mpi_restart(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state,
                       const StateTotals& totals) {
  const auto ranks = static_cast<std::int64_t>(comm.size());
  const std::int64_t rows_begin = start_bytes + box_bytes * ranks;
  SharedFile file(comm, files.data, rows_begin + totals.molecules * padded_transfer_row.bytes, state.access);
  const std::array all{&file};
  write_together(comm, all, [&] {
    if (comm.is_root()) {
      Start start{.gap = static_cast<std::uint64_t>(rows_begin - gap_begin),
                  .boxes = static_cast<std::uint64_t>(ranks)};
      std::copy(magic.begin(), magic.end(), start.magic.begin());
      file.write(0, std::as_bytes(std::span(&start, 1)));
    }
    const Box box{state.own.low, state.own.high, static_cast<std::uint64_t>(totals.before),
                  static_cast<std::uint64_t>(state.list.count)};
    file.write(start_bytes + box_bytes * comm.rank(), std::as_bytes(std::span(&box, 1)));
    file.write_rows(rows_begin + totals.before * padded_transfer_row.bytes, packer_of(padded_transfer_row),
                    state.list);
  });
}

}  // namespace tailrace::molecules
