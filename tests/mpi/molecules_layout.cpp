// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "../mpi/output_fixture.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "conversion.hpp"
#include "molecule_rows.hpp"
#include "molecules_share.hpp"
#include "mpi_case.hpp"

/// The files of a hand-made state of five molecules byte by byte, laid out here a second time; and the way
/// from each format to each other one, our checkpoints included.
namespace tailrace::molecules {

namespace {

using fixture::bytes_of;
using fixture::list_of;
using fixture::read;
using fixture::slabs;
using fixture::state_sum;
using output::fixture::SharedDir;

constexpr std::array all_formats{PhaseSpaceFormat::ascii, PhaseSpaceFormat::binary, PhaseSpaceFormat::cells,
                                 PhaseSpaceFormat::netcdf, PhaseSpaceFormat::mpi_restart};
const Vec3 box{8, 4, 4};

Model model() {
  Model made;
  made.components.resize(2);
  made.components[0].lennard_jones = {
      {.place = {0, 0, 0}, .mass = 1, .epsilon = 1, .sigma = 1, .shifted = true}};
  made.components[1].lennard_jones = {{.place = {0, 0, 0}, .mass = 2, .epsilon = 0.5, .sigma = 1.5}};
  made.mixing = {{.xi = 1.25, .eta = 0.75}};
  return made;
}

/// In cells of 2 x 1 x 2 they are in cells 0, 1, 1, 3 and 0; cell 2 has none.
std::vector<Molecule> five() {
  std::vector<Molecule> molecules(5);
  const std::array<Vec3, 5> places{
      {{0.5, 1, 1.5}, {4, 0.25, 0}, {7.5, 3, 1.75}, {6, 2, 3.5}, {3.5, 3.5, 0.125}}};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto x = static_cast<double>(i);
    molecules[i] = {.position = places[i],
                    .velocity = {x, -x / 3, 0.1},
                    .orientation = {0.6, 0, 0.8, 0},
                    .angular_momentum = {0.25 * x, 0, -2.5},
                    .id = 40 - i,
                    .component = static_cast<std::int32_t>(i % 2)};
  }
  return molecules;
}

/// Bytes as a format has them, laid out number by number.
class Bytes {
 public:
  explicit Bytes(bool big_endian = false) : big_endian_(big_endian) {}
  template <class T>
  Bytes& add(T value) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), &value, sizeof value);
    if (big_endian_) std::reverse(raw.begin(), raw.end());
    text_.append(raw.data(), raw.size());
    return *this;
  }
  template <class Values>
  Bytes& add_all(const Values& values) {
    for (const double value : values) add(value);
    return *this;
  }
  Bytes& text(const std::string& text) { return text_ += text, *this; }
  [[nodiscard]] const std::string& get() const { return text_; }

 private:
  bool big_endian_;
  std::string text_;
};

void add_state(Bytes& bytes, const Molecule& m) {
  bytes.add_all(m.position).add_all(m.velocity).add_all(m.orientation).add_all(m.angular_momentum);
}

/// Writes the five in slabs, and returns the bytes of the file.
std::string written(mpi::CommView comm, const PhaseSpaceFiles& files,
                    std::array<std::int64_t, 3> cells = {1, 1, 1}) {
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  std::vector<Molecule> own;
  for (const auto& molecule : five())
    if (share.own.contains(molecule.position)) own.push_back(molecule);
  const auto force = model();
  write_phase_space(comm, files,
                    {.time = 0.5,
                     .temperature = 1.5,
                     .box = box,
                     .model = &force,
                     .own = share.own,
                     .list = list_of(own),
                     .cells = cells});
  return bytes_of(comm, files.data);
}

const std::string header_lines =
    "currentTime 0.5\nLength 8 4 4\nTemperature 1.5\nNumberOfComponents 2\n1 0 0 0 0\n0 0 0 1 1 1 0 1\n0 0 "
    "0\n"
    "1 0 0 0 0\n0 0 0 2 0.5 1.5 0 0\n0 0 0\n1.25 0.75\n10000000000\nNumberOfMolecules 5\nMoleculeFormat "
    "ICRVQD\n";

/// A header of ours without the sum of the state, which is in a comment.
std::string without_sum(std::string text) {
  const auto begin = text.find("# state-sum "), end = text.find('\n', begin) + 1;
  return text.erase(begin, end - begin);
}

void check_file(const std::string& found, const std::string& wanted) {
  CHECK(found.size() == wanted.size());
  const auto size = std::min(found.size(), wanted.size());
  const auto differs =
      std::mismatch(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(size), wanted.begin());
  CAPTURE(differs.first - found.begin());
  CHECK(found == wanted);
}

}  // namespace

MPI_CASE("the plain binary file of five molecules", ranks{1}) {
  const SharedDir dir(comm);
  const auto files = files_of(PhaseSpaceFormat::binary, dir.file("five-1"));
  CHECK(files.header == dir.file("five-1.restart.header.xml"));
  CHECK(files.data == dir.file("five-1.restart.dat"));
  Bytes wanted;
  for (const auto& m : five()) {
    wanted.add<std::uint64_t>(m.id).add<std::uint32_t>(static_cast<std::uint32_t>(m.component) + 1);
    add_state(wanted, m);
  }
  check_file(written(comm, files), wanted.get());
  CHECK(wanted.get().size() == 5 * 116);
  const auto header = bytes_of(comm, files.header);
  for (const char* part : {"<time>5.0000000000000000e-01</time>", "<x>8.0000000000000000e+00</x>",
                           "<number>5</number>", "<format type=\"ICRVQD\"/>"})
    CHECK(header.find(part) != std::string::npos);
}

MPI_CASE("the cell-structured file of five molecules", ranks{1, 2, 3}) {
  const SharedDir dir(comm);
  const auto files = files_of(PhaseSpaceFormat::cells, dir.file("five"));
  CHECK(files.header == dir.file("five.restart"));
  CHECK(files.data == dir.file("five.restart.mpi"));
  Bytes wanted;
  wanted.add<std::int64_t>(4).add<std::int64_t>(5).add(4.0).add(4.0).add(2.0);
  for (const std::int32_t count : {2, 2, 0, 1}) wanted.add(count);
  const auto molecules = five();
  for (const std::size_t i : {0, 4, 1, 2, 3}) {
    add_state(wanted, molecules[i]);
    wanted.add<std::uint64_t>(molecules[i].id).add<std::int32_t>(molecules[i].component);
  }
  CHECK(wanted.get().size() == 40 + 4 * 4 + 5 * 116);
  const auto found = written(comm, files, {2, 1, 2});
  // Within a cell ranks are in their order, and so may change places.
  if (comm.size() == 1) check_file(found, wanted.get());
  CHECK(found.substr(0, 56) == wanted.get().substr(0, 56));
  CHECK(found.size() == wanted.get().size());
  CHECK(found.substr(56 + 4 * 116) == wanted.get().substr(56 + 4 * 116));
  CHECK(without_sum(bytes_of(comm, files.header)) == "mardyn trunk 20160512\n" + header_lines);
}

MPI_CASE("the MPI-IO checkpoint of five molecules", ranks{1, 2}) {
  const SharedDir dir(comm);
  const auto files = files_of(PhaseSpaceFormat::mpi_restart, dir.file("five"));
  CHECK(files.data == dir.file("five.MPIrestart.dat"));
  const int ranks = comm.size();
  Bytes wanted;
  wanted.text("MarDyn20150211trunk").text(std::string(1 + 32, '\0')).add<std::int32_t>(0x0a0b0c0d);
  wanted.add<std::uint64_t>(static_cast<std::uint64_t>(7 + 3 + 8 + 64 * ranks));
  wanted.text(std::string("ICRVQD\0BB\0", 10)).add<std::uint64_t>(static_cast<std::uint64_t>(ranks));
  std::uint64_t first = 0;
  std::vector<Molecule> ordered;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto own = slabs(rank, ranks, box, 2).own;
    std::uint64_t count = 0;
    for (const auto& m : five())
      if (own.contains(m.position)) ordered.push_back(m), ++count;
    wanted.add_all(own.low).add_all(own.high).add(first).add(count);
    first += count;
  }
  for (const auto& m : ordered) {
    add_state(wanted, m);
    wanted.add<std::uint64_t>(m.id).add<std::int32_t>(m.component).add<std::int32_t>(0);
  }
  check_file(written(comm, files), wanted.get());
}

MPI_CASE("the netCDF file of five molecules", ranks{1}) {
  const SharedDir dir(comm);
  const auto files = files_of(PhaseSpaceFormat::netcdf, dir.file("five"));
  CHECK(files.header == dir.file("five.restart"));
  CHECK(files.data == dir.file("five.restart.nc"));
  Bytes wanted(true);
  const auto name = [&](const std::string& text) {
    wanted.add<std::uint32_t>(static_cast<std::uint32_t>(text.size()))
        .text(text)
        .text(std::string(-text.size() & 3, '\0'));
  };
  const auto word = [&](std::uint32_t value) { wanted.add(value); };
  wanted.text("CDF\2");
  word(0);
  word(10), word(3);  // dimensions, of the cells that are not empty
  name("d0"), word(30), name("d1"), word(30), name("d3"), word(15);
  word(12), word(3);
  name("number_of_molecules"), word(6), word(1), wanted.add(5.0);
  name("cell_edges"), word(6), word(3), wanted.add(4.0).add(4.0).add(2.0);
  name("cells"), word(4), word(3), word(2), word(1), word(2);
  word(11), word(3);
  const std::uint64_t data_begin = wanted.get().size() + 3 * 40;
  std::uint32_t dimension = 0;
  std::uint64_t begin = data_begin;
  for (const auto& [cell, count] : {std::pair<const char*, std::uint32_t>{"v0", 2}, {"v1", 2}, {"v3", 1}}) {
    name(cell), word(1), word(dimension++), word(0), word(0), word(6), word(count * 120), wanted.add(begin);
    begin += count * 120;
  }
  const auto molecules = five();
  CHECK(wanted.get().size() == data_begin);
  for (const std::size_t i : {0, 4, 1, 2, 3}) {
    add_state(wanted, molecules[i]);
    wanted.add(static_cast<double>(molecules[i].id)).add(static_cast<double>(molecules[i].component));
  }
  check_file(written(comm, files, {2, 1, 2}), wanted.get());
}

MPI_CASE("the text file of five molecules", ranks{1, 3}) {
  const SharedDir dir(comm);
  const auto files = files_of(PhaseSpaceFormat::ascii, dir.file("five"));
  CHECK(files.data == dir.file("five.restart.dat"));
  const auto text = without_sum(written(comm, files));
  const auto wanted = "mardyn trunk 20160512\n" + header_lines;
  CHECK(text.substr(0, wanted.size()) == wanted);
  const std::string line =
      "                  40          1   5.0000000000000000e-01   1.0000000000000000e+00   "
      "1.5000000000000000e+00"
      "   0.0000000000000000e+00  -0.0000000000000000e+00   1.0000000000000001e-01   5.9999999999999998e-01"
      "   0.0000000000000000e+00   8.0000000000000004e-01   0.0000000000000000e+00   0.0000000000000000e+00"
      "   0.0000000000000000e+00  -2.5000000000000000e+00\n";
  CHECK(text.size() == wanted.size() + 5 * line.size());
  CHECK(text.find(line) == wanted.size());
}

MPI_CASE("from each format into each other one", ranks{1, 3, 4}) {
  const SharedDir dir(comm);
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  Problem problem;
  problem.length = box;
  problem.dt = 0.1;
  problem.steps = 10;
  problem.model = model();
  problem.model.cutoff = problem.model.lj_cutoff = 2;
  trace::Log log("main");
  std::uint64_t sum = 0;
  for (const auto& molecule : five()) sum += hash_of(molecule);
  const auto names = format_names();
  for (std::size_t from = 0; from < names.size(); ++from)
    for (std::size_t to = 0; to < names.size(); ++to) {
      CAPTURE(names[from]);
      CAPTURE(names[to]);
      const bool has_time = names[from] != "mpi-restart";
      const auto source = files_of(all_formats[from], dir.file("from"));
      written(comm, source, {2, 1, 2});
      Simulation simulation(comm, problem, log);
      StateInTransit state(comm, problem, simulation, StateInTransit::Into::file);
      const auto formats = state.formats();
      REQUIRE(formats[from].recognises(source.data));
      const output::Plan plan;
      const output::KeptReductions none(plan);
      const auto step = formats[from].read(source.data, plan, none);
      CHECK(step == (has_time ? 5 : 0));
      formats[to].write(dir.file("to"), step, plan, none);
      const auto made = formats[to].files(dir.file("to"));
      const auto back = read(comm, recognise(made.front()), share);
      CHECK(state_sum(comm, back.molecules) == sum);
      if (names[to] != "mpi-restart") CHECK(back.header.time == (has_time ? 0.5 : 0));
    }
}

MPI_CASE("molecules in a checkpoint, back on other ranks", ranks{1, 2, 3, 4, 7}) {
  const SharedDir dir(comm);
  const FileGrid grid(box, {5, 3, 2});
  const auto pass = [&](std::vector<Molecule>& molecules, const Region& own) {
    return [&molecules, &grid, own](checkpoint::StateArchive& archive) {
      archive.component("molecules", 1, [&](int) {
        const auto saved = list_of(molecules);
        if (archive.restores()) molecules.clear();
        archive.rows("molecules",
                     std::make_unique<MoleculeRows>(
                         grid, own, saved, [&](const Molecule& molecule) { molecules.push_back(molecule); }));
      });
    };
  };
  const auto before = slabs(comm.rank(), comm.size(), box, 2),
             after = slabs(comm.rank(), comm.size(), box, 2, 2);
  std::vector<Molecule> own, back(1);
  for (const auto& molecule : five())
    if (before.own.contains(molecule.position)) own.push_back(molecule);
  trace::Log log("checkpoint");
  constexpr std::int64_t buffer_bytes = 1 << 20;
  checkpoint::Saving saving(comm, dir.path(),
                            {.simulation = "molecules", .program = "test", .step = 4, .time_s = 1},
                            pass(own, before.own), {}, {.buffer_bytes = buffer_bytes}, log);
  saving.finish();
  checkpoint::restore_newest(comm, dir.path(), "molecules", pass(back, after.own));
  std::vector<Molecule> wanted;
  for (const auto& molecule : five())
    if (after.own.contains(molecule.position)) wanted.push_back(molecule);
  const auto by_id = [](const Molecule& a, const Molecule& b) { return a.id < b.id; };
  std::sort(back.begin(), back.end(), by_id);
  std::sort(wanted.begin(), wanted.end(), by_id);
  CHECK(back == wanted);
}

}  // namespace tailrace::molecules
