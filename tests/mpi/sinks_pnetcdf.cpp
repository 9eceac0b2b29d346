// SPDX-License-Identifier: BSD-3-Clause
#ifdef TAILRACE_HAVE_PNETCDF

#include <fmt/format.h>
#include <pnetcdf.h>
#include <sys/mount.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

/// A netCDF file, read by PnetCDF alone on one rank.
class Reader {
 public:
  explicit Reader(const std::string& path) {
    REQUIRE(ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id_) == NC_NOERR);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { ncmpi_close(id_); }

  [[nodiscard]] int variable(const std::string& name) const {
    int variable = -1;
    REQUIRE_MESSAGE(ncmpi_inq_varid(id_, name.c_str(), &variable) == NC_NOERR, name);
    return variable;
  }
  [[nodiscard]] h5::Shape shape(const std::string& name) const {
    int count = 0;
    std::array<int, 8> ids{};
    REQUIRE(ncmpi_inq_var(id_, variable(name), nullptr, nullptr, &count, ids.data(), nullptr) == NC_NOERR);
    h5::Shape shape;
    for (int i = 0; i < count; ++i) {
      MPI_Offset length = 0;
      REQUIRE(ncmpi_inq_dimlen(id_, ids[static_cast<std::size_t>(i)], &length) == NC_NOERR);
      shape.push_back(static_cast<std::uint64_t>(length));
    }
    return shape;
  }
  /// The values as they are in memory, in the variable's own type.
  [[nodiscard]] std::vector<std::byte> bytes(const std::string& name) const {
    nc_type type = NC_NAT;
    REQUIRE(ncmpi_inq_vartype(id_, variable(name), &type) == NC_NOERR);
    const std::size_t size = type == NC_FLOAT ? 4 : 8;
    const MPI_Datatype memory = type == NC_FLOAT    ? MPI_FLOAT
                                : type == NC_DOUBLE ? MPI_DOUBLE
                                                    : MPI_LONG_LONG_INT;
    std::vector<std::byte> all(h5::element_count(shape(name)) * size);
    REQUIRE(ncmpi_get_var_all(id_, variable(name), all.data(), static_cast<MPI_Offset>(all.size() / size),
                              type == NC_UINT64 ? MPI_UNSIGNED_LONG_LONG : memory) == NC_NOERR);
    return all;
  }
  [[nodiscard]] std::string text(int variable, const char* name) const {
    MPI_Offset length = 0;
    REQUIRE_MESSAGE(ncmpi_inq_attlen(id_, variable, name, &length) == NC_NOERR, name);
    std::string text(static_cast<std::size_t>(length), '?');
    REQUIRE(ncmpi_get_att_text(id_, variable, name, text.data()) == NC_NOERR);
    return text;
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& name) const {
    const auto all = bytes(name);
    std::vector<std::uint64_t> result(all.size() / sizeof(std::uint64_t));
    std::copy_n(all.data(), all.size(),
                reinterpret_cast<std::byte*>(result.data()));  // NOLINT: plain numbers
    return result;
  }

 private:
  int id_ = -1;
};

std::string variable_of(std::string path) {
  path.erase(0, 1);
  std::replace(path.begin(), path.end(), '/', '_');
  return path;
}

WriteOptions netcdf(const std::string& fault = {}) {
  return options_of({.strategy = "blocking", .sink = "pnetcdf"}, fault);
}

/// Each variable holds what the dataset of the sink hdf5 does.
void check_equal(const std::string& netcdf_path, const std::string& hdf5_path,
                 const std::vector<Stream>& streams) {
  const Reader reader(netcdf_path);
  const auto file = h5::File::open(hdf5_path);
  for (const auto& stream : streams)
    for (const auto& spec : stream.datasets) {
      std::vector<std::byte> wanted(h5::element_count(spec.shape) * h5::size_bytes(spec.type));
      if (wanted.empty()) continue;
      file.read_range(spec.path, 0, h5::element_count(spec.shape), spec.type, wanted);
      const auto name = variable_of(spec.path);
      CHECK_MESSAGE(reader.shape(name) == spec.shape, name);
      CHECK_MESSAGE(reader.bytes(name) == wanted, name);
    }
}

}  // namespace

// On these numbers each domain meets each split.
MPI_CASE("pnetcdf: variables hold what the datasets of hdf5 do, with attributes and commit mark",
         shared_by{2, 3, 7}) {
  const SharedDir directory(comm);
  auto turn = static_cast<std::size_t>(comm.size());
  for (const Index3 domain : {Index3{11, 7, 5}, Index3{3, 1, 2}}) {
    const PatternRun fixture{
        .domain = domain, .streams = streams_of_all_kinds(domain), .split = next_split(turn++)};
    CHECK(!run_pattern(comm, directory.file("out.h5"), fixture, options_of({})));
    CHECK(!run_pattern(comm, directory.file("out.nc"), fixture, netcdf()));
    if (!comm.is_root()) continue;
    check_equal(directory.file("out.nc"), directory.file("out.h5"), fixture.streams);
    const Reader reader(directory.file("out.nc"));
    CHECK(reader.numbers("tailrace_record") ==
          std::vector<std::uint64_t>(static_cast<std::size_t>(comm.size()), 6));
    CHECK(reader.numbers("t_index") == std::vector<std::uint64_t>{6});
    CHECK(reader.text(NC_GLOBAL, "created_by") == "a test");
    CHECK(reader.text(NC_GLOBAL, "run_time") == "12.5 s");
    CHECK(reader.text(reader.variable("tailrace_record"), "data_type") == "long");
  }
}

MPI_CASE("pnetcdf: 256 boxes, and a run that stops early leaves zeros", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{17, 13, 19};
  const Boxes boxes = many_boxes(domain, 256);
  for (const StepIndex steps : {6, 2, 0}) {
    const PatternRun fixture{
        .domain = domain,
        .streams = {stream("p", boxes, Reduction::none, domain), stream("m", boxes, Reduction::max, domain)},
        .split = pattern::pencils,
        .steps = steps};
    CHECK(!run_pattern(comm, directory.file("out.h5"), fixture, options_of({})));
    CHECK(!run_pattern(comm, directory.file("out.nc"), fixture, netcdf()));
    if (comm.is_root()) check_equal(directory.file("out.nc"), directory.file("out.h5"), fixture.streams);
  }
}

MPI_CASE("pnetcdf: reductions larger than a staging buffer are written in batches", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{128, 96, 90};  // 4.2 MiB
  const Cadence two{.first = 1, .every = 1, .last = 2};
  const PatternRun fixture{.domain = domain,
                           .streams = {stream("points", some_points(domain), Reduction::none, domain, two),
                                       stream("rms", Whole{}, Reduction::rms, domain, two),
                                       stream("last", Whole{}, Reduction::final, domain, two)},
                           .split = pattern::one_owner,
                           .steps = 2};
  CHECK(!run_pattern(comm, directory.file("out.h5"), fixture, options_of({})));
  CHECK(!run_pattern(comm, directory.file("out.nc"), fixture, netcdf()));
  if (comm.is_root()) check_equal(directory.file("out.nc"), directory.file("out.h5"), fixture.streams);
}

MPI_CASE("pnetcdf: the attributes of a group belong to the variables of its streams", ranks{1, 2}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  auto snap = stream("snap", Whole{}, Reduction::none, domain);
  snap.datasets[0].path = "/snap/values";
  auto with_group = head();
  with_group.datasets.push_back(with_group.datasets[0]);
  with_group.datasets.back().spec.path = "/snap/step";
  with_group.group_attributes.push_back({"/snap", {.name = "quantity", .value = std::string("p")}});
  const PatternRun fixture{.domain = domain, .streams = {snap}};
  CHECK(!run_pattern(comm, directory.file("out.nc"), fixture, netcdf(), with_group));
  if (!comm.is_root()) return;
  const Reader reader(directory.file("out.nc"));
  CHECK(reader.text(reader.variable("snap_values"), "quantity") == "p");
  CHECK(reader.shape("snap_step") == h5::Shape{1, 1, 1});
}

MPI_CASE("pnetcdf: two datasets of one variable are refused on all ranks", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  auto first = stream("a_b", Whole{}, Reduction::none, domain), second = first;
  first.datasets[0].path = "/a/b";
  const PatternRun fixture{.domain = domain, .streams = {first, second}};
  const auto error = error_of([&] { run_pattern(comm, directory.file("out.nc"), fixture, netcdf()); });
  REQUIRE(error);
  CHECK(error->message.find("the datasets /a/b and /a_b would both be the variable a_b") !=
        std::string::npos);
  mpi::barrier(comm);
  CHECK(!std::filesystem::exists(directory.file("out.nc")));
  CHECK(!std::filesystem::exists(directory.file("out.nc.partial")));
}

MPI_CASE("pnetcdf: a failed write is the same error on all ranks, the commit mark says what is there",
         ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const Index3 domain{8, 7, 14};
  const PatternRun fixture{.domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain)}};
  const auto error = run_pattern(comm, directory.file("out.nc"), fixture,
                                 netcdf(fmt::format("write:rank={},step=4,error=ENOSPC", comm.size() - 1)));
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::io);
  CHECK(error->rank == comm.size() - 1);
  CHECK(error->message.find("No space left on device") != std::string::npos);
  if (!comm.is_root()) return;
  const Reader reader(directory.file("out.nc"));
  for (const auto steps : reader.numbers("tailrace_record")) CHECK(steps == 3);
  CHECK(reader.numbers("t_index") == std::vector<std::uint64_t>{0});
  CHECK(reader.text(NC_GLOBAL, "run_time") == "12.5 s");
}

MPI_CASE("pnetcdf: a full disk ends with the same error on all and a file that opens", ranks{1, 2, 3, 7}) {
  const SharedDir directory(comm);
  const Index3 domain{16, 16, 28};
  const bool mounted =
      !comm.is_root() || mount("tailrace-test", directory.path().c_str(), "tmpfs", 0, "size=256k") == 0;
  if (mpi::min(comm, std::int64_t{mounted}) == 0) return;
  const Cadence cadence{.first = 1, .every = 1, .last = 20};
  const PatternRun fixture{
      .domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain, cadence)}, .steps = 20};
  const auto error = run_pattern(comm, directory.file("out.nc"), fixture, netcdf());
  REQUIRE(error);
  CHECK_MESSAGE(error->message.find("No space left on device") != std::string::npos, error->message);
  if (!comm.is_root()) return;
  const auto steps = Reader(directory.file("out.nc")).numbers("tailrace_record");
  CHECK(*std::min_element(steps.begin(), steps.end()) >= 3);
  CHECK(*std::max_element(steps.begin(), steps.end()) < 20);
  umount2(directory.path().c_str(), MNT_DETACH);
}

MPI_CASE("pnetcdf: a run that should resume in such a file is refused at once", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  const Plan plan = make_plan({}, comm.is_root() ? Box::whole(domain) : Box{}, domain);
  trace::Log log("main");
  const auto error = error_of([&] {
    Session session(comm, directory.file("out.nc"), plan, head(), netcdf(), log,
                    {.resume = {.after = 3, .accumulators = {}}});
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message.find("cannot resume in a file of --sink pnetcdf") != std::string::npos);
}

#endif
