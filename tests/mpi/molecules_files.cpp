// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "../mpi/output_fixture.hpp"
#include "file_grid.hpp"
#include "molecules_share.hpp"
#include "mpi_case.hpp"

/// Files of molecules: those of the reference are read, each format comes back as it was written, on other
/// ranks too, and what is damaged is refused.
namespace tailrace::molecules {

namespace {

using fixture::bytes_of, fixture::list_of;
using fixture::read;
using fixture::refusal;
using fixture::slabs;
using fixture::state_sum;
using output::fixture::SharedDir;

constexpr std::array all_formats{PhaseSpaceFormat::ascii, PhaseSpaceFormat::binary, PhaseSpaceFormat::cells,
                                 PhaseSpaceFormat::netcdf, PhaseSpaceFormat::mpi_restart};
constexpr Vec3 argon_box{18, 18, 18};

std::string data(const std::string& name) {
  return TAILRACE_TEST_DATA "/molecules/" + name;
}

/// The states of the reference, all the same but for the last.
std::vector<PhaseSpaceFiles> reference_files() {
  const auto header = data("checkpoints/step100.cells.restart");
  return {recognise(data("checkpoints/step100.ascii.restart.dat")),
          recognise(data("checkpoints/step100.binary.restart.header.xml")),
          recognise(data("checkpoints/step100.np1.MPIrestart.dat")),
          {PhaseSpaceFormat::cells, header, data("checkpoints/step100.cells-2x2x1.mpi")},
          {PhaseSpaceFormat::cells, header, data("checkpoints/step100.cells-3x3x3.mpi")}};
}

/// Two components with all kinds of sites.
Model mixture() {
  Model model;
  model.components.push_back(
      {.name = "argon",
       .lennard_jones = {{.place = {0, 0, 0}, .mass = 1, .epsilon = 1, .sigma = 1, .shifted = true}},
       .charges = {},
       .dipoles = {},
       .quadrupoles = {}});
  model.components.push_back(
      {.name = "polar",
       .lennard_jones = {{.place = {0, 0, 0.1}, .mass = 0.3, .epsilon = 1.5, .sigma = 0.9}},
       .charges = {{.place = {0.1, 0, 0}, .mass = 0.7, .charge = -1.0 / 3}},
       .dipoles = {{.place = {0, 0.2, 0}, .direction = {0, 1, 0}, .moment = 1.2}},
       .quadrupoles = {{.place = {0, 0, 0}, .direction = {1, 0, 0}, .moment = 0.8}},
       .inertia_override = {0.25, 0.5, 0}});
  model.mixing = {{.xi = 1.05, .eta = 0.97}};
  model.reaction_field_epsilon = 78.3;
  return model;
}

/// Molecules of two components all over a box, on its border and at its far end.
std::vector<Molecule> crowd(int count, const Vec3& box) {
  std::vector<Molecule> molecules;
  const auto fraction = [](int i, double step) { return i * step - std::floor(i * step); };
  for (int i = 0; i < count; ++i) {
    Molecule molecule;
    molecule.position = {box[0] * fraction(i, 0.8191725134), box[1] * fraction(i, 0.6710436067),
                         box[2] * fraction(i, 0.5497004779)};
    molecule.velocity = {std::sin(i), std::cos(i), 1.0 / (i + 1)};
    const double a = 0.1 * i;
    molecule.orientation = {std::cos(a), std::sin(a), 0, 0};
    molecule.angular_momentum = {0, -1e-300, 1e300 / (i + 3)};
    molecule.id = i == 3 ? (1ULL << 53) : static_cast<std::uint64_t>(7 * i + 1);
    molecule.component = i % 2;
    molecules.push_back(molecule);
  }
  molecules[1].position = {0, box[1] / 2, 0};
  for (std::size_t d = 0; d < 3; ++d) molecules[2].position[d] = std::nextafter(box[d], 0);
  molecules[4].position = {box[0] / 2, box[1] / 3, box[2] / 5};
  return molecules;
}

/// Those of a rank.
std::vector<Molecule> own_of(const std::vector<Molecule>& all, const Share& share) {
  std::vector<Molecule> own;
  std::copy_if(all.begin(), all.end(), std::back_inserter(own),
               [&](const Molecule& molecule) { return share.own.contains(molecule.position); });
  return own;
}

void write(mpi::CommView comm, const PhaseSpaceFiles& files, const std::vector<Molecule>& all,
           const Model& model, const Vec3& box, std::array<std::int64_t, 3> cells, int max_ranks = 1 << 30) {
  const auto share = slabs(comm.rank(), comm.size(), box, model.components.size(), max_ranks);
  const auto own = own_of(all, share);
  write_phase_space(comm, files,
                    {.time = 0.1 + 0.2,
                     .temperature = 1.8,
                     .box = box,
                     .model = &model,
                     .own = share.own,
                     .list = list_of(own),
                     .cells = cells});
}

void put_bytes(mpi::CommView comm, const std::string& path, const std::string& bytes) {
  if (comm.is_root()) std::ofstream(path, std::ios::binary) << bytes;
  mpi::barrier(comm);
}

}  // namespace

MPI_CASE("all checkpoints of the reference are the same state", ranks{1, 2, 3, 4, 7}) {
  std::vector<std::uint64_t> sums;
  for (const auto& files : reference_files()) {
    CAPTURE(files.data);
    const auto share = slabs(comm.rank(), comm.size(), argon_box, 1);
    const auto reading = read(comm, files, share);
    CHECK(mpi::sum(comm, static_cast<std::int64_t>(reading.molecules.size())) == 2048);
    CHECK(std::all_of(reading.molecules.begin(), reading.molecules.end(),
                      [&](const Molecule& molecule) { return share.own.contains(molecule.position); }));
    sums.push_back(state_sum(comm, reading.molecules));
    if (files.format != PhaseSpaceFormat::mpi_restart) {
      CHECK(reading.header.time == 4.000000000000003e-01);
      CHECK(reading.header.molecules == 2048);
    }
  }
  CHECK(std::count(sums.begin(), sums.end(), sums[0]) == 5);
}

MPI_CASE("the checkpoint of a run on two ranks is the same state but for rounding", ranks{1, 3}) {
  const auto share = slabs(comm.rank(), comm.size(), argon_box, 1);
  auto one = read(comm, recognise(data("checkpoints/step100.np1.MPIrestart.dat")), share).molecules;
  auto two = read(comm, recognise(data("checkpoints/step100.np2.MPIrestart.dat")), share).molecules;
  REQUIRE(one.size() == two.size());
  const auto by_id = [](const Molecule& a, const Molecule& b) { return a.id < b.id; };
  std::sort(one.begin(), one.end(), by_id);
  std::sort(two.begin(), two.end(), by_id);
  double worst_position = 0, worst_velocity = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(one[i].id == two[i].id);
    for (std::size_t d = 0; d < 3; ++d) {
      worst_position = std::max(worst_position, std::abs(one[i].position[d] - two[i].position[d]));
      worst_velocity = std::max(worst_velocity, std::abs(one[i].velocity[d] - two[i].velocity[d]));
    }
  }
  CHECK(worst_position <= 1.5e-14);
  CHECK(worst_velocity <= 1.5e-13);
}

MPI_CASE("starts of the cases", ranks{1, 3}) {
  const auto argon_start =
      read(comm, recognise(data("argon-1clj/start.inp")), slabs(comm.rank(), comm.size(), argon_box, 1));
  CHECK(mpi::sum(comm, static_cast<std::int64_t>(argon_start.molecules.size())) == 2048);
  CHECK(argon_start.header.temperature == 1.8);
  CHECK(argon_start.header.components[0].lennard_jones[0].mass == 1);
  for (const auto& molecule : argon_start.molecules) CHECK(molecule.orientation == Quaternion{1, 0, 0, 0});
  const auto co2_start = read(comm, recognise(data("co2-3clj3c/start.inp")),
                              slabs(comm.rank(), comm.size(), {22.5, 22.5, 22.5}, 1));
  CHECK(mpi::sum(comm, static_cast<std::int64_t>(co2_start.molecules.size())) == 2048);
  REQUIRE(co2_start.header.components.size() == 1);
  CHECK(co2_start.header.components[0].charges.size() == 3);
  CHECK(co2_start.header.components[0].inertia_override == Vec3{0.1152, 0.1152, 0});
  CHECK(co2_start.header.reaction_field_epsilon == 1e10);
}

MPI_CASE("each format comes back as it was written, however the ranks share the box", ranks{1, 2, 3, 4, 7}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto all = crowd(500, box);
  const auto model = mixture();
  for (const auto format : all_formats)
    for (const auto& cells :
         {std::array<std::int64_t, 3>{1, 1, 1}, {comm.size(), 1, 1}, {3, 2, 4}, {13, 11, 9}}) {
      CAPTURE(to_string(format));
      CAPTURE(cells[0]);
      const auto files = files_of(format, dir.file("state"));
      write(comm, files, all, model, box, cells);
      // Read by slabs of other widths, some ranks without any.
      const auto share = slabs(comm.rank(), comm.size(), box, 2, std::max(1, comm.size() / 2));
      const auto back = read(comm, recognise(files.header.empty() ? files.data : files.header), share);
      CHECK(mpi::sum(comm, static_cast<std::int64_t>(back.molecules.size())) == 500);
      CHECK(state_sum(comm, back.molecules) == state_sum(comm, own_of(all, share)));
      if (format == PhaseSpaceFormat::mpi_restart) continue;
      CHECK(back.header.time == 0.1 + 0.2);
      CHECK(back.header.box == box);
      CHECK(back.header.state_sum.has_value());
      if (format == PhaseSpaceFormat::binary) continue;
      CHECK(back.header.components[1].quadrupoles == model.components[1].quadrupoles);
      CHECK(back.header.components[1].charges == model.components[1].charges);
      CHECK(back.header.components[1].inertia_override == model.components[1].inertia_override);
      CHECK(back.header.mixing == model.mixing);
      CHECK(back.header.temperature == 1.8);
    }
}

MPI_CASE("files do not depend on who wrote", ranks{3, 7}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto all = crowd(300, box);
  for (const auto format : {PhaseSpaceFormat::cells, PhaseSpaceFormat::netcdf}) {
    // Cells that no border of a slab cuts: the order within them is that of the list.
    const auto many = files_of(format, dir.file("many")), one = files_of(format, dir.file("one"));
    write(comm, many, all, mixture(), box, {1, 4, 4}, 1);
    const auto alone = mpi::Comm::split(comm, comm.is_root() ? 0 : -1);
    if (!alone.empty()) write(alone, one, all, mixture(), box, {1, 4, 4});
    CHECK(bytes_of(comm, many.data) == bytes_of(comm, one.data));
    CHECK(bytes_of(comm, many.header) == bytes_of(comm, one.header));
  }
}

MPI_CASE("of cells a rank reads those that it touches", ranks{3, 4, 7}) {
  const SharedDir dir(comm);
  const Vec3 box{16, 16, 16};
  const auto all = crowd(20000, box);
  const auto files = files_of(PhaseSpaceFormat::cells, dir.file("state"));
  write(comm, files, all, mixture(), box, {32, 32, 32});
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  const auto reading = read(comm, files, share);
  CHECK(state_sum(comm, reading.molecules) == state_sum(comm, own_of(all, share)));
  // The counts of an equal part of the cells, and of its own cells a layer more on each side at most.
  const double layers = share.own.widths()[0] / 0.5 + 2;
  const double most = 40 + 4 * 32768.0 / comm.size() + 4 + 1.05 * 116 * 20000 * layers / 32;
  CHECK(static_cast<double>(reading.bytes_read) <= most);
  const auto bytes = mpi::sum(comm, reading.bytes_read);
  CHECK(bytes >= 116 * 20000 + 4 * 32768);
}

MPI_CASE("plain formats are read once, by all together", ranks{3, 7}) {
  const SharedDir dir(comm);
  const Vec3 box{16, 16, 16};
  const auto all = crowd(20000, box);
  for (const auto format :
       {PhaseSpaceFormat::binary, PhaseSpaceFormat::mpi_restart, PhaseSpaceFormat::netcdf}) {
    const auto files = files_of(format, dir.file("state"));
    write(comm, files, all, mixture(), box, {4, 4, 4});
    const auto reading = read(comm, files, slabs(comm.rank(), comm.size(), box, 2));
    CHECK(reading.bytes_read <= 120 * (20000 / comm.size() + 1));
  }
}

MPI_CASE("netCDF files of thousands of cells are read by ncdump", ranks{1, 3}) {
  const SharedDir dir(comm);
  const Vec3 box{16, 16, 16};
  const auto all = crowd(20000, box);
  const auto files = files_of(PhaseSpaceFormat::netcdf, dir.file("state"));
  write(comm, files, all, mixture(), box, {16, 16, 16});
  if (!comm.is_root()) return;
  if (std::system("command -v ncdump > /dev/null") != 0) {
    MESSAGE("ncdump is not there: not looked at with it");
    return;
  }
  const auto dump = dir.file("dump"), last = dir.file("last");
  REQUIRE(std::system(fmt::format("ncdump -h {} > {}", files.data, dump).c_str()) == 0);
  std::ifstream header(dump);
  int cells = 0;
  for (std::string line; std::getline(header, line);)
    cells += line.find("double v") != std::string::npos ? 1 : 0;
  const FileGrid grid(box, {16, 16, 16});
  std::set<std::int64_t> filled;
  for (const auto& molecule : all) filled.insert(grid.cell_of(molecule.position));
  CHECK(cells == static_cast<int>(filled.size()));
  CHECK(cells > 1024);
  // The first number of the last cell.
  const auto command = "ncdump -p 9,17 -v v4095 {} | sed -n '/^data/,$p' > {}";
  REQUIRE(std::system(fmt::format(fmt::runtime(command), files.data, last).c_str()) == 0);
  std::ifstream values(last);
  for (std::string word; values >> word && word != "=";) {
  }
  double x = 0;
  values >> x;
  CHECK(std::any_of(all.begin(), all.end(), [&](const Molecule& molecule) {
    return grid.cell_of(molecule.position) == 4095 && molecule.position[0] == x;
  }));
}

MPI_CASE("a file that is cut anywhere is refused on all ranks", ranks{2, 3}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto all = crowd(60, box);
  for (const auto format : all_formats) {
    const auto files = files_of(format, dir.file("state"));
    write(comm, files, all, mixture(), box, {2, 2, 2});
    const auto share = slabs(comm.rank(), comm.size(), box, 2);
    for (const auto& path : {files.header, files.data}) {
      if (path.empty()) continue;
      const auto whole = bytes_of(comm, path);
      for (const std::size_t cut :
           {std::size_t{0}, std::size_t{3}, std::size_t{39}, std::size_t{41}, std::size_t{77},
            whole.size() / 3, whole.size() / 2, whole.size() - 200, whole.size() - 6}) {
        if (cut >= whole.size()) continue;
        CAPTURE(path);
        CAPTURE(cut);
        put_bytes(comm, path, whole.substr(0, cut));
        CHECK(!refusal([&] { read(comm, files, share); }).empty());
      }
      put_bytes(comm, path, whole);
      CHECK(refusal([&] { read(comm, files, share); }).empty());
    }
  }
}

MPI_CASE("states that cannot be are refused, with the molecule", ranks{1, 3}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  const auto files = files_of(PhaseSpaceFormat::binary, dir.file("state"));
  const auto good = crowd(60, box);
  // Changes a molecule in the file, in place of one that the writer would not know to put.
  const auto refused = [&](const std::function<void(Molecule&)>& change) {
    write(comm, files, good, mixture(), box, {1, 1, 1});
    auto header = bytes_of(comm, files.header);
    header.erase(header.find("<statesum>"), header.find("</statesum>") + 12 - header.find("<statesum>"));
    auto bytes = bytes_of(comm, files.data);
    auto row = std::as_writable_bytes(std::span(bytes)).subspan(116 * 7, 116);
    auto molecule = unpack(icrvqd_row, row);
    change(molecule);
    pack(icrvqd_row, molecule, row);
    mpi::barrier(comm);
    put_bytes(comm, files.header, header);
    put_bytes(comm, files.data, bytes);
    return refusal([&] { read(comm, files, share); });
  };
  const auto has = [](const std::string& message, const char* part) {
    return message.find(part) != std::string::npos;
  };
  CHECK(refused([](Molecule&) {}).empty());
  CHECK(has(refused([](Molecule& m) { m.id = 99991, m.velocity[1] = NAN; }), "molecule 99991 holds NaN"));
  CHECK(has(refused([&](Molecule& m) { m.position[1] = box[1]; }), "outside of the box"));
  CHECK(has(refused([&](Molecule& m) { m.position[0] = -1e-9; }), "outside of the box"));
  CHECK(has(refused([](Molecule& m) { m.component = 2; }), "is of component 3, of 2"));
  CHECK(has(refused([](Molecule& m) { m.component = -1; }), "component that cannot be"));
  CHECK(has(refused([](Molecule& m) { m.orientation = {0, 0, 0, 0}; }), "no rotation"));
  CHECK(has(refused([](Molecule& m) { m.id = 1; }), "two molecules have the id 1"));
  CHECK(has(refused([](Molecule& m) { m.position = {0, 0, 0}; }), "at the same point"));
}

namespace {
bool contains(const std::string& message, const char* part) {
  CAPTURE(message);
  return message.find(part) != std::string::npos;
}

/// Files of a state, damaged in one way or another, and how reading them ends.
struct DamagedFiles {
  explicit DamagedFiles(mpi::CommView of) : comm(of), dir(of) {}

  [[nodiscard]] PhaseSpaceFiles make(PhaseSpaceFormat format) const {
    const auto files = files_of(format, dir.file("state"));
    write(comm, files, crowd(60, box), mixture(), box, {2, 2, 2});
    return files;
  }
  void replace(const std::string& path, const std::string& from, const std::string& to) const {
    auto text = bytes_of(comm, path);
    text.replace(text.find(from), from.size(), to);
    mpi::barrier(comm);
    put_bytes(comm, path, text);
  }
  void reverse_bytes(const std::string& path, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    auto bytes = bytes_of(comm, path);
    std::reverse(bytes.begin() + begin, bytes.begin() + end);
    put_bytes(comm, path, bytes);
  }
  [[nodiscard]] std::string reading(const PhaseSpaceFiles& files) const {
    return refusal([&] { read(comm, files, slabs(comm.rank(), comm.size(), box, 2)); });
  }

  mpi::CommView comm;
  SharedDir dir;
  Vec3 box{9, 7, 5.5};
};
}  // namespace

MPI_CASE("counts that do not fit are refused", ranks{1, 3}) {
  const DamagedFiles files(comm);
  for (const char* number : {"59", "61"}) {
    const auto ascii = files.make(PhaseSpaceFormat::ascii);
    files.replace(ascii.data, "NumberOfMolecules 60", fmt::format("NumberOfMolecules {}", number));
    CHECK(contains(files.reading(ascii), number[1] == '9' ? "more than 59 molecules" : "it is truncated"));
    const auto binary = files.make(PhaseSpaceFormat::binary);
    files.replace(binary.header, "<number>60", fmt::format("<number>{}", number));
    CHECK(contains(files.reading(binary), "bytes where"));
    const auto cells = files.make(PhaseSpaceFormat::cells);
    files.replace(cells.header, "NumberOfMolecules 60", fmt::format("NumberOfMolecules {}", number));
    CHECK(contains(files.reading(cells), "states 60 molecules"));
    const auto netcdf = files.make(PhaseSpaceFormat::netcdf);
    files.replace(netcdf.header, "NumberOfMolecules 60", fmt::format("NumberOfMolecules {}", number));
    CHECK(contains(files.reading(netcdf), "holds 60 molecules"));
  }
}

MPI_CASE("a file of another state than its header is refused", ranks{1, 3}) {
  const DamagedFiles files(comm);
  for (const auto format : {PhaseSpaceFormat::cells, PhaseSpaceFormat::binary, PhaseSpaceFormat::netcdf}) {
    const auto made = files.make(format);
    const auto header = bytes_of(comm, made.header);
    auto other = crowd(60, files.box);
    other[9].velocity[0] += 1e-12;
    write(comm, made, other, mixture(), files.box, {2, 2, 2});
    put_bytes(comm, made.header, header);
    CHECK(contains(files.reading(made), "others than its header states"));
  }
}

MPI_CASE("files of machines of another byte order are refused", ranks{1, 3}) {
  const DamagedFiles files(comm);
  const auto cells = files.make(PhaseSpaceFormat::cells);
  files.reverse_bytes(cells.data, 0, 8);
  CHECK(contains(files.reading(cells), "another byte order"));
  const auto restart = files.make(PhaseSpaceFormat::mpi_restart);
  files.reverse_bytes(restart.data, 52, 56);
  CHECK(contains(files.reading(restart), "the other byte order"));
}

MPI_CASE("both orders of rows of the MPI-IO checkpoint are distinguished", ranks{1, 2}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  const auto files = files_of(PhaseSpaceFormat::mpi_restart, dir.file("state"));
  const auto alone = mpi::Comm::split(comm, comm.is_root() ? 0 : -1);
  if (!alone.empty()) write(alone, files, crowd(60, box), mixture(), box, {1, 1, 1});
  const auto parallel = bytes_of(comm, files.data);
  const auto sum = state_sum(comm, read(comm, files, share).molecules);

  auto serial = parallel;
  const auto rows = std::as_writable_bytes(std::span(serial)).subspan(146);
  for (std::size_t i = 0; i < 60; ++i)
    pack(serial_row, unpack(padded_transfer_row, rows.subspan(120 * i)), rows.subspan(120 * i));
  put_bytes(comm, files.data, serial);
  CHECK(state_sum(comm, read(comm, files, share).molecules) == sum);

  // Without a table of ranks, and without the end of the last record.
  auto bare = parallel.substr(0, 71) + parallel.substr(146, 60 * 120 - 4);
  bare[56] = 7;
  put_bytes(comm, files.data, bare);
  CHECK(state_sum(comm, read(comm, files, share).molecules) == sum);

  // As ls1 mardyn writes it when it does not look at what MPI says: rows over the table.
  auto damaged = parallel;
  for (std::size_t i = 0; i < 60; ++i) damaged.replace(82 + 116 * i, 116, parallel, 146 + 120 * i, 116);
  put_bytes(comm, files.data, damaged);
  CHECK(refusal([&] { read(comm, files, share); }).find("damaged") != std::string::npos);
}

MPI_CASE("a state that cannot be written leaves the older one", ranks{1, 3}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto files = files_of(PhaseSpaceFormat::binary, dir.file("state"));
  write(comm, files, crowd(60, box), mixture(), box, {1, 1, 1});
  const auto before = bytes_of(comm, files.data);
  // Its place beside the older one is taken.
  if (comm.is_root()) std::filesystem::create_directory(files.data + ".partial");
  mpi::barrier(comm);
  CHECK(!refusal([&] { write(comm, files, crowd(40, box), mixture(), box, {1, 1, 1}); }).empty());
  CHECK(bytes_of(comm, files.data) == before);
  CHECK(!std::filesystem::exists(files.header + ".partial"));
}

MPI_CASE("a write of two files that ended between their names is whole", ranks{1, 3}) {
  const SharedDir dir(comm);
  const Vec3 box{9, 7, 5.5};
  const auto share = slabs(comm.rank(), comm.size(), box, 2);
  for (const auto format : {PhaseSpaceFormat::binary, PhaseSpaceFormat::cells, PhaseSpaceFormat::netcdf}) {
    const auto files = files_of(format, dir.file(to_string(format)));
    const auto count = [&] {
      return mpi::sum(comm,
                      static_cast<std::int64_t>(read(comm, recognise(files.data), share).molecules.size()));
    };
    write(comm, files, crowd(40, box), mixture(), box, {2, 2, 2});
    const auto header = bytes_of(comm, files.header);
    write(comm, files, crowd(60, box), mixture(), box, {2, 2, 2});
    // The older state was there, or none.
    put_bytes(comm, files.header + ".partial", bytes_of(comm, files.header));
    put_bytes(comm, files.header, header);
    CHECK(count() == 60);
    if (comm.is_root()) std::filesystem::remove(files.header);
    mpi::barrier(comm);
    CHECK(count() == 60);
    // Beside data that have no name either, it is of a state that never was complete.
    put_bytes(comm, files.data + ".partial", "");
    CHECK(!refusal([&] { count(); }).empty());
    mpi::barrier(comm);
    if (comm.is_root()) std::filesystem::remove(files.data + ".partial");
    mpi::barrier(comm);
    write(comm, files, crowd(50, box), mixture(), box, {2, 2, 2});
    CHECK(count() == 50);
    CHECK(!std::filesystem::exists(files.header + ".partial"));
  }
}

}  // namespace tailrace::molecules
