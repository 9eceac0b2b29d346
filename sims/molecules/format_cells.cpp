// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>
#include <numeric>

#include "cell_places.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "phase_space_formats.hpp"
#include "phase_space_text.hpp"
#include "shared_file.hpp"

namespace tailrace::molecules {

namespace {

/// Describes what the file begins with.
struct Start {
  std::int64_t cells = 0, molecules = 0;
  Vec3 edges{};
};
constexpr std::int64_t start_bytes = 40, count_bytes = 4;
static_assert(sizeof(Start) == start_bytes);

constexpr std::int64_t rows_begin(std::int64_t cells) noexcept {
  return start_bytes + count_bytes * cells;
}

/// Rows in cells. A rank reads the cells that its region touches, and of the counts an equal part.
class CellsFile final : public PhaseSpace {
 public:
  CellsFile(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceHeader& header)
      : PhaseSpace(comm, header, files.data) {
    mpi::collectively(comm, [&] { file_.emplace(files.data, whole_file); });
    std::vector<Start> start(1);
    mpi::collectively_on_root(comm, [&] {
      file_->read(0, std::as_writable_bytes(std::span(start)));
      check(start[0], files);
    });
    mpi::broadcast(comm, start, 0);
    start_ = start[0];
  }
  [[nodiscard]] std::int64_t bytes_read() const noexcept override { return file_->bytes_read(); }

 private:
  void check(const Start& start, const PhaseSpaceFiles& files) const {
    const auto refuse = [&](const std::string& what, const std::string& fix) {
      throw file_error(path(), what, fix);
    };
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 1024;
    if (start.cells < 1 || start.molecules < 0 || start.cells > most || start.molecules > most)
      refuse(
          fmt::format("states {} molecules in {} cells: it is none of these files, or of another byte order",
                      start.molecules, start.cells),
          "a file of a little-endian machine");
    if (start.molecules != header().molecules)
      refuse(fmt::format("states {} molecules, {} of {}", start.molecules, files.header, header().molecules),
             "two files of one state");
    const std::int64_t wanted = rows_begin(start.cells) + transfer_row.bytes * start.molecules;
    if (file_->size_bytes() != wanted)
      refuse(fmt::format("has {} bytes where {} molecules in {} cells take {}{}", file_->size_bytes(),
                         start.molecules, start.cells, wanted,
                         file_->size_bytes() < wanted ? ": it is truncated" : ""),
             "write the file again");
  }

  void read_molecules(const Share& share, const Take& take) override {
    const auto grid = FileGrid::with_edges(share.limits.box, start_.edges, start_.cells);
    if (!grid)
      throw Error(ErrorInfo{
          .kind = ErrorKind::input,
          .message = fmt::format("{}: {} cells of {} x {} x {} do not make the box {} x {} x {}", path(),
                                 start_.cells, start_.edges[0], start_.edges[1], start_.edges[2],
                                 share.limits.box[0], share.limits.box[1], share.limits.box[2]),
          .path = path(),
          .rank = 0,
          .hint = "the box that the state had"});
    const auto ranges = rows_of(grid->cells_of(share.own));
    mpi::collectively(comm(), [&] {
      RowReader reader(*file_, code_of(transfer_row), ranges);
      for (auto batch = reader.next(); !batch.empty(); batch = reader.next())
        for (const auto& molecule : batch) {
          check_molecule(molecule, share.limits, path());
          if (share.own.contains(molecule.position)) take(molecule);
        }
    });
  }

  /// Returns where the rows of cells are: the ranks that read their counts say. @collective
  std::vector<RowRange> rows_of(const std::vector<CellRange>& wanted) {
    const auto first_rows = read_counts();
    const auto part = part_of(start_.cells, comm().rank(), comm().size());
    std::vector<mpi::Packet<RowRange>> answers;
    for (const auto& question : mpi::deliver(comm(), questions_of(wanted))) {
      answers.push_back({question.rank, {}});
      for (const auto& [begin, end] : question.values) {
        const std::int64_t first = first_rows[static_cast<std::size_t>(begin - part.begin)];
        answers.back().values.push_back({rows_begin(start_.cells) + first * transfer_row.bytes,
                                         first_rows[static_cast<std::size_t>(end - part.begin)] - first});
      }
    }
    std::vector<RowRange> ranges;
    for (const auto& answer : mpi::deliver(comm(), answers))
      for (const auto& range : answer.values)
        if (!ranges.empty() &&
            ranges.back().offset + ranges.back().count * transfer_row.bytes == range.offset)
          ranges.back().count += range.count;
        else
          ranges.push_back(range);
    return ranges;
  }

  /// The number of molecules before each cell of this rank's part, and before the next part. @collective
  std::vector<std::int64_t> read_counts() {
    const auto part = part_of(start_.cells, comm().rank(), comm().size());
    std::vector<std::int64_t> first(static_cast<std::size_t>(part.end - part.begin + 1));
    mpi::collectively(comm(), [&] {
      std::vector<std::int32_t> counts(first.size() - 1);
      file_->read(start_bytes + count_bytes * part.begin, std::as_writable_bytes(std::span(counts)));
      for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] < 0)
          throw file_error(path(),
                           fmt::format("states {} molecules in cell {}", counts[i],
                                       part.begin + static_cast<std::int64_t>(i)),
                           "a file that is not damaged");
        first[i + 1] = first[i] + counts[i];
      }
    });
    const std::int64_t before = mpi::exclusive_scan(comm(), first.back());
    for (auto& one : first) one += before;
    const std::int64_t all = mpi::max(comm(), first.back());
    if (all != start_.molecules)
      throw Error(ErrorInfo{.kind = ErrorKind::input,
                            .message = fmt::format("{}: its cells hold {} molecules together, not {}", path(),
                                                   all, start_.molecules),
                            .path = path(),
                            .rank = 0,
                            .hint = "a file that is not damaged"});
    return first;
  }

  /// Ranges of cells, cut where the parts of the ranks end that read the counts.
  [[nodiscard]] std::vector<mpi::Packet<CellRange>> questions_of(const std::vector<CellRange>& wanted) const {
    std::vector<mpi::Packet<CellRange>> questions;
    for (auto range : wanted)
      while (range.begin < range.end) {
        const int rank = part_with(range.begin, start_.cells, comm().size());
        const auto part = part_of(start_.cells, rank, comm().size());
        if (questions.empty() || questions.back().rank != rank) questions.push_back({rank, {}});
        questions.back().values.push_back({range.begin, std::min(range.end, part.end)});
        range.begin = questions.back().values.back().end;
      }
    return questions;
  }

  std::optional<InputFile> file_;
  Start start_;
};

}  // namespace

std::unique_ptr<PhaseSpace> open_cells(mpi::CommView comm, const PhaseSpaceFiles& files) {
  const auto text = share_text(comm, [&] { return read_text_header(files.header); });
  return std::make_unique<CellsFile>(comm, files, parse_text_header(text, files.header).header);
}

void write_cells(mpi::CommView comm, const PhaseSpaceFiles& files, const PhaseSpaceState& state,
                 const StateTotals& totals) {
  const FileGrid grid(state.box, state.cells);
  const auto places = place_in_cells(comm, grid, state.list);
  check_cells(comm, places, std::numeric_limits<std::int32_t>::max(), files.data);
  const auto header = text_header(state, totals.molecules, totals.state_sum);
  SharedFile file(comm, files.data, rows_begin(grid.count()) + totals.molecules * transfer_row.bytes,
                  state.access);
  SharedFile header_file(comm, files.header, static_cast<std::int64_t>(header.size()), state.access);
  const std::array all{&file, &header_file};
  write_together(comm, all, [&] {
    if (comm.is_root()) {
      header_file.write(0, header);
      const Start start{grid.count(), totals.molecules, grid.edges()};
      file.write(0, std::as_bytes(std::span(&start, 1)));
    }
    const std::vector<std::int32_t> counts(places.counts.begin(), places.counts.end());
    file.write(start_bytes + count_bytes * places.part.begin, std::as_bytes(std::span(counts)));
    for (const auto& run : places.runs)
      file.write_rows(rows_begin(grid.count()) + run.row * transfer_row.bytes, packer_of(transfer_row),
                      places.list_of(run, state.list));
  });
}

}  // namespace tailrace::molecules
