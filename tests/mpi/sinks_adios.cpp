// SPDX-License-Identifier: BSD-3-Clause
#ifdef TAILRACE_HAVE_ADIOS2

#include <adios2.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

/// An output, read by ADIOS2 alone on one rank.
class Reader {
 public:
  explicit Reader(const std::string& path) : io_(adios_.DeclareIO("test")) {
    io_.SetEngine("BP5");
    engine_ = io_.Open(path, adios2::Mode::ReadRandomAccess);
  }

  [[nodiscard]] std::size_t steps() const { return engine_.Steps(); }
  [[nodiscard]] bool has(const std::string& variable) { return !io_.VariableType(variable).empty(); }
  /// A variable's extents and values, step after step, as they are in memory.
  struct Content {
    h5::Shape shape;
    std::size_t steps = 0;
    std::vector<std::byte> bytes;
  };
  template <class T>
  [[nodiscard]] Content content_of(const std::string& name) {
    auto variable = io_.InquireVariable<T>(name);
    REQUIRE_MESSAGE(variable, name);
    const auto shape = variable.Shape();
    Content found{.shape = {shape.begin(), shape.end()}, .steps = variable.Steps(), .bytes = {}};
    std::vector<T> values(h5::element_count(found.shape));
    for (std::size_t step = 0; step < found.steps; ++step) {
      variable.SetStepSelection({step, 1});
      if (!shape.empty()) variable.SetSelection({adios2::Dims(shape.size(), 0), shape});
      engine_.Get(variable, values.data(), adios2::Mode::Sync);
      const auto bytes = std::as_bytes(std::span(values));
      found.bytes.insert(found.bytes.end(), bytes.begin(), bytes.end());
    }
    return found;
  }
  [[nodiscard]] Content content(const std::string& name, h5::ElementType type) {
    return type == h5::ElementType::float32 ? content_of<float>(name) : content_of<double>(name);
  }
  /// A number in each step that has it.
  [[nodiscard]] std::vector<std::uint64_t> numbers(const std::string& name) {
    const auto all = content_of<std::uint64_t>(name).bytes;
    std::vector<std::uint64_t> result(all.size() / sizeof(std::uint64_t));
    std::copy_n(all.data(), all.size(), reinterpret_cast<std::byte*>(result.data()));  // NOLINT: plain
    return result;
  }
  [[nodiscard]] std::string text(const std::string& name) {
    const auto attribute = io_.InquireAttribute<std::string>(name);
    REQUIRE_MESSAGE(attribute, name);
    return attribute.Data().at(0);
  }
  [[nodiscard]] h5::Shape shape_attribute(const std::string& name) {
    return io_.InquireAttribute<std::uint64_t>(name + "/dataset_shape").Data();
  }

 private:
  adios2::ADIOS adios_;
  adios2::IO io_;
  adios2::Engine engine_;
};

WriteOptions adios(const std::string& parameters = {}, const std::string& fault = {}) {
  return options_of({.strategy = "blocking", .sink = "adios2" + parameters}, fault);
}

/// Each variable holds, step after step, what the dataset of the sink hdf5 holds up to where the run ended.
void check_equal(const std::string& adios_path, const std::string& hdf5_path, const PatternRun& fixture) {
  Reader reader(adios_path);
  const auto file = h5::File::open(hdf5_path);
  for (const auto& stream : fixture.streams)
    for (const auto& spec : stream.datasets) {
      const auto name = spec.path.substr(1);
      const bool series = stream.reduction == Reduction::none;
      const auto planned = series ? static_cast<std::uint64_t>(stream.cadence.samples()) : 1;
      const auto there = series ? static_cast<std::uint64_t>(stream.cadence.samples_until(fixture.steps)) : 1;
      CHECK_MESSAGE(reader.shape_attribute(name) == spec.shape, name);
      const auto count = h5::element_count(spec.shape) / planned * there;
      CHECK_MESSAGE(reader.has(name) == (count > 0), name);
      if (count == 0) continue;
      std::vector<std::byte> wanted(count * h5::size_bytes(spec.type));
      file.read_range(spec.path, 0, count, spec.type, wanted);
      const auto found = reader.content(name, spec.type);
      CHECK_MESSAGE(found.steps == there, name);
      CHECK_MESSAGE(found.bytes == wanted, name);
    }
}

}  // namespace

MPI_CASE("adios2: variables hold what the datasets of hdf5 do, with attributes and commit mark",
         ranks{1, 2, 3, 4}) {
  const SharedDir directory(comm);
  for (const Index3 domain : {Index3{11, 7, 5}, Index3{3, 1, 2}})
    for (const Split split : {pattern::slabs, pattern::pencils, pattern::one_owner}) {
      const PatternRun fixture{.domain = domain, .streams = streams_of_all_kinds(domain), .split = split};
      CHECK(!run_pattern(comm, directory.file("out.h5"), fixture, options_of({})));
      CHECK(!run_pattern(comm, directory.file("out.bp"), fixture, adios()));
      if (!comm.is_root()) continue;
      check_equal(directory.file("out.bp"), directory.file("out.h5"), fixture);
      Reader reader(directory.file("out.bp"));
      CHECK(reader.steps() == 8);  // the head, six samples, the reductions with the tail
      CHECK(reader.numbers("tailrace_record") == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 6});
      CHECK(reader.numbers("t_index") == std::vector<std::uint64_t>{0, 6});
      CHECK(reader.text("created_by") == "a test");
      CHECK(reader.text("run_time") == "12.5 s");
    }
}

MPI_CASE("adios2: samples have the extents that follow those of the samples", ranks{1, 2}) {
  const SharedDir directory(comm);
  const Index3 domain{5, 4, 3};
  std::vector<Stream> streams;
  const std::map<std::string, std::pair<h5::Shape, h5::Shape>> wanted{
      {"grid", {{6, 3, 4, 5}, {3, 4, 5}}},
      {"behind_one", {{1, 6, 60}, {60}}},
      {"flat", {{360}, {60}}},
      {"mixed", {{4, 90}, {60}}},
  };
  for (const auto& [name, shapes] : wanted) {
    streams.push_back(stream(name, Whole{}, Reduction::none, domain));
    streams.back().datasets[0].shape = shapes.first;
  }
  const PatternRun fixture{.domain = domain, .streams = streams};
  CHECK(!run_pattern(comm, directory.file("out.h5"), fixture, options_of({})));
  CHECK(!run_pattern(comm, directory.file("out.bp"), fixture, adios()));
  if (!comm.is_root()) return;
  check_equal(directory.file("out.bp"), directory.file("out.h5"), fixture);
  Reader reader(directory.file("out.bp"));
  for (const auto& stream : streams) {
    const auto& path = stream.datasets[0].path;
    CHECK_MESSAGE(reader.content_of<float>(path.substr(1)).shape == wanted.at(stream.name).second, path);
  }
}

MPI_CASE("adios2: reductions larger than a staging buffer, with parameters of the engine", ranks{1, 3}) {
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
  for (const char* parameters : {"", ":AggregatorRatio=1,StatsLevel=0"}) {
    CHECK(!run_pattern(comm, directory.file("out.bp"), fixture, adios(parameters)));
    if (comm.is_root()) check_equal(directory.file("out.bp"), directory.file("out.h5"), fixture);
    mpi::barrier(comm);
  }
}

MPI_CASE("adios2: the attributes of a group, a second name, and an output in place of an older one",
         ranks{1, 2}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  auto snap = stream("snap", Whole{}, Reduction::none, domain);
  snap.datasets[0].path = "/snap/values";
  auto with_group = head();
  with_group.group_attributes.push_back({"/snap", {.name = "quantity", .value = std::string("p")}});
  const auto path = directory.file("out.h5");
  CHECK(!run_pattern(comm, path, {.domain = domain, .streams = {snap}}, options_of({})));  // a file
  CHECK(!run_pattern(comm, path, {.domain = domain, .streams = {snap}}, adios(), with_group));
  CHECK(!run_pattern(comm, path, {.domain = domain, .streams = {snap}, .steps = 2}, adios(), with_group));
  if (!comm.is_root()) return;
  Reader reader(directory.file("out.bp"));
  CHECK(reader.text("snap/quantity") == "p");
  CHECK(reader.content_of<float>("snap/values").steps == 2);
}

MPI_CASE("adios2: a directory with other things is refused and left alone", ranks{1, 3}) {
  const SharedDir directory(comm);
  const auto path = directory.file("out.bp");
  if (comm.is_root()) {
    std::filesystem::create_directory(path);
    for (const char* name : {"/md.idx", "/thesis.tex"}) std::ofstream(path + name) << "mine";
  }
  mpi::barrier(comm);
  const Index3 domain{4, 4, 4};
  const auto error = error_of([&] {
    run_pattern(comm, path, {.domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain)}},
                adios());
  });
  REQUIRE(error);
  CHECK(error->message.find("thesis.tex") != std::string::npos);
  if (comm.is_root()) CHECK(std::filesystem::file_size(path + "/md.idx") == 4);
}

MPI_CASE("adios2: a value that the engine refuses is reported before the first step", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  const auto error = error_of([&] {
    run_pattern(comm, directory.file("out.bp"),
                {.domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain)}},
                adios(":NumAggregators=nobody"));
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK_MESSAGE(error->message.find("nobody") != std::string::npos, error->message);
}

MPI_CASE("adios2: a failed write is the same error on all ranks, the commit mark says what is there",
         ranks{1, 2, 3, 4}) {
  const SharedDir directory(comm);
  const Index3 domain{8, 7, 14};
  const PatternRun fixture{.domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain)}};
  const auto error =
      run_pattern(comm, directory.file("out.bp"), fixture,
                  adios({}, fmt::format("write:rank={},step=4,error=ENOSPC", comm.size() - 1)));
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::io);
  CHECK(error->rank == comm.size() - 1);
  CHECK(error->message.find("No space left on device") != std::string::npos);
  if (!comm.is_root()) return;
  Reader reader(directory.file("out.bp"));
  CHECK(reader.numbers("tailrace_record") == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(reader.content_of<float>("p").steps == 3);
  CHECK(reader.numbers("t_index") == std::vector<std::uint64_t>{0});
  CHECK(reader.text("run_time") == "12.5 s");
}

MPI_CASE("adios2: a full disk ends with the same error on all and an output that opens", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{32, 32, 28};  // 112 KiB a sample
  const bool mounted =
      !comm.is_root() || mount("tailrace-test", directory.path().c_str(), "tmpfs", 0, "size=1m") == 0;
  if (mpi::min(comm, std::int64_t{mounted}) == 0) return;
  const Cadence cadence{.first = 1, .every = 1, .last = 20};
  const PatternRun fixture{
      .domain = domain, .streams = {stream("p", Whole{}, Reduction::none, domain, cadence)}, .steps = 20};
  const auto error = run_pattern(comm, directory.file("out.bp"), fixture, adios());
  REQUIRE(error);
  CHECK_MESSAGE(error->message.find("No space left on device") != std::string::npos, error->message);
  if (!comm.is_root()) return;
  const auto steps = Reader(directory.file("out.bp")).numbers("tailrace_record").back();
  CHECK(steps >= 3);
  CHECK(steps < 20);
  umount2(directory.path().c_str(), MNT_DETACH);
}

MPI_CASE("adios2: a run that should resume in such an output is refused at once", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  const Plan plan = make_plan({}, comm.is_root() ? Box::whole(domain) : Box{}, domain);
  trace::Log log("main");
  const auto error = error_of([&] {
    Session session(comm, directory.file("out.bp"), plan, head(), adios(), log,
                    {.resume = {.after = 3, .accumulators = {}}});
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message.find("cannot resume in a file of --sink adios2") != std::string::npos);
}

#endif
