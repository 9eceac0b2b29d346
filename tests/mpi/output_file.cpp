// SPDX-License-Identifier: BSD-3-Clause
/// `OutputFile`, as programs with a main loop of their own use it: what its file says, and what they may do
/// wrong.
#include "tailrace/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 grid{6, 5, 8};
constexpr Cadence all_steps{.first = 1, .every = 1, .last = 4};

/// A program with the fields of the pattern; what is wrong with it is changed before `open`.
struct Program {
  explicit Program(mpi::CommView ranks)
      : comm(ranks),
        contents{.frame = {.domain = grid, .dt_s = 1},
                 .own_box = pattern::slabs(grid, ranks.size())[static_cast<std::size_t>(ranks.rank())],
                 .streams = {make_stream("p", "p", Whole{}, all_steps, Reduction::none, grid),
                             make_stream("peak", "p", Whole{}, all_steps, Reduction::max, grid)}},
        path(directory.file("out.h5")),
        field(contents.own_box),
        view(field.view()) {}

  void open() { file.emplace(comm, path, contents, options); }
  void sample(StepIndex step) {
    field.set(step);
    file->sample(step, [this](const std::string&) { return view; });
  }
  void run(StepIndex last) {
    open();
    for (StepIndex step = 1; step <= last; ++step) sample(step);
    file->finish(last);
  }

  mpi::CommView comm;
  SharedDir directory{comm};
  OutputContents contents;
  std::string path;
  WriteOptions options;
  pattern::Field<float> field;
  FieldView view;
  std::optional<OutputFile> file;
};

std::uint64_t count_in(const h5::File& file, const char* path) {
  std::vector<std::uint64_t> values(1);
  file.read(path, std::span(values));
  return values[0];
}

}  // namespace

MPI_CASE("a file says whether it was finished, and after how many steps", ranks{1, 3}) {
  for (const StepIndex last : {4, 3, 6}) {
    Program program(comm);
    program.open();
    const auto check_counts = [&](StepIndex planned, StepIndex done) {
      if (!comm.is_root()) return;
      const auto file = h5::File::open(program.path);
      CHECK(count_in(file, steps_path) == static_cast<std::uint64_t>(planned));
      CHECK(count_in(file, steps_done_path) == static_cast<std::uint64_t>(done));
    };
    check_counts(4, 0);
    for (StepIndex step = 1; step <= last; ++step) program.sample(step);
    program.file->finish(last);
    check_counts(std::max<StepIndex>(4, last), last);
  }
}

MPI_CASE("own boxes that do not cover the domain once are refused", ranks{1, 2, 3, 7}) {
  const auto refusal = [&](const std::function<void(Box&)>& change) {
    Program program(comm);
    if (comm.rank() == comm.size() - 1) change(program.contents.own_box);
    return test::error_info_of([&] { program.open(); });
  };
  const auto gap = refusal([](Box& box) { box.hi.x -= 1; });
  CHECK(gap.kind == ErrorKind::input);
  CHECK_MESSAGE(gap.message.find("do not cover the domain of 6 x 5 x 8 points once") != std::string::npos,
                gap.message);
  CHECK(!refusal([](Box& box) { box.hi.z += 1; }).message.empty());
  CHECK(!refusal([](Box& box) { box = {}; }).message.empty());
  // As many points as there are, some of them twice.
  const auto moved = refusal([](Box& box) { box.lo.y -= 1, box.hi.y -= 1; });
  CHECK_MESSAGE(moved.message.find("together they have 240 points, of 240") != std::string::npos,
                moved.message);
}

MPI_CASE("what ranks were to be given alike and were not is named on all of them", ranks{2, 3}) {
  const auto refusal = [&](const std::function<void(Program&)>& change) {
    Program program(comm);
    if (comm.rank() == 1) change(program);
    const auto error = test::error_info_of([&] { program.open(); });
    CHECK(error.kind == ErrorKind::usage);
    return error.message;
  };
  const auto different = [](const char* what) {
    return fmt::format("an output file of different {} on different ranks", what);
  };
  CHECK(refusal([](Program& one) { one.path += "x"; }) == different("paths"));
  CHECK(refusal([](Program& one) { one.contents.frame.dt_s = 2; }) == different("frames"));
  CHECK(refusal([](Program& one) { one.contents.frame.origin_m[1] = 2; }) == different("frames"));
  CHECK(refusal([](Program& one) { one.contents.streams.pop_back(); }) == different("streams"));
  CHECK(refusal([](Program& one) { one.contents.streams[1].cadence.last = 5; }) == different("streams"));
  CHECK(refusal([](Program& one) { one.contents.streams[0].selection = Boxes{{Box::whole(grid)}}; }) ==
        different("streams"));
  CHECK(refusal([](Program& one) { one.options.strategy = "leaders"; }) == different("options"));
  CHECK(refusal([](Program& one) { one.path += "x", one.options.buffers = 3; }) ==
        different("paths, options"));
}

MPI_CASE("options and streams that nothing can follow are refused", ranks{1, 2}) {
  const auto refusal = [&](const std::function<void(Program&)>& change) {
    Program program(comm);
    change(program);
    return test::error_info_of([&] { program.open(); }).message;
  };
  CHECK(refusal([](Program& one) { one.options.strategy = "threads", one.options.buffers = 0; }) ==
        "an output with 0 buffers");
  CHECK(refusal([](Program& one) { one.options.writers = 0; }) == "an output with 0 writers");
  CHECK(refusal([](Program& one) {
          one.options.strategy = "leaders", one.options.sink = "hdf5-chunked";
        }).find("--write leaders does not go with --sink hdf5-chunked") == 0);
  CHECK(refusal([](Program& one) {
          one.contents.streams[0].cadence.every = 0;
        }).find("samples every 0 steps") != std::string::npos);
  CHECK(refusal([](Program& one) {
          one.contents.streams[0].cadence.at = {3, 2};
        }).find("do not ascend") != std::string::npos);
}

MPI_CASE("a program that names no strategy gets one that goes with its sink", ranks{1, 2}) {
  for (const auto* const sink : {"hdf5", "hdf5-chunked", "mpiio"}) {
    Program program(comm);
    program.options.sink = sink;
    program.run(4);
    if (comm.is_root()) CHECK(count_in(h5::File::open(program.path), steps_done_path) == 4);
  }
}

MPI_CASE("a file that was finished takes no more calls", ranks{1, 2}) {
  Program program(comm);
  program.run(4);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { program.sample(5); }, [&] { program.file->finish(4); }, [&] { program.file->flush(); }}) {
    const auto error = test::error_info_of(call);
    CHECK(error.kind == ErrorKind::usage);
    CHECK_MESSAGE(error.message.find("a call after finish") != std::string::npos, error.message);
  }
  CHECK(!program.file->failed());
}

MPI_CASE("a field that cannot be sampled on one rank is the same error on all, at the end", ranks{1, 2, 3}) {
  const int failing = comm.size() - 1;
  const auto error_with = [&](const char* sink, const std::function<void(FieldView&)>& change) {
    Program program(comm);
    program.options.sink = sink;
    program.open();
    program.sample(1);
    if (comm.rank() == failing) change(program.view);
    for (StepIndex step = 2; step <= 4; ++step) program.sample(step);
    CHECK(program.file->failed() == (comm.rank() == failing));
    const auto refusal = test::error_info_of([&] { program.file->finish(4); });
    CHECK(refusal.kind == ErrorKind::usage);
    CHECK(refusal.rank == failing);
    return refusal.message;
  };
  const auto error = [&](const std::function<void(FieldView&)>& change) {
    const auto message = error_with("hdf5", change);
    CHECK(error_with("hdf5-chunked", change) == message.c_str());
    return message;
  };
  const auto wrong = fmt::format("output peak: the field p of rank {} ", failing);
  CHECK(error([](FieldView& view) { view.data = nullptr; }) == wrong + "has no data");
  CHECK(error([](FieldView& view) { view.type = h5::ElementType::int64; }) ==
        wrong + "has elements of 64-bit integer");
  CHECK(error([](FieldView& view) { view.memory = Memory::device; }) ==
        wrong + "is in the memory of a device that the output was not given");
  CHECK(error([](FieldView& view) { view.box.hi.x -= 1; }).find(wrong + "is of x 0 to 4, y 0 to 4, z ") == 0);
}

MPI_CASE("samples that are out of order or left out are refused", ranks{1, 2}) {
  const auto refusal = [&](const std::vector<StepIndex>& steps, StepIndex last) {
    Program program(comm);
    program.open();
    for (const StepIndex step : steps) program.sample(step);
    const auto error = test::error_info_of([&] { program.file->finish(last); });
    CHECK((error.kind == ErrorKind::usage || error.message.empty()));
    return error.message.substr(std::min(error.message.size(), program.path.size() + 2));
  };
  CHECK(refusal({1, 2, 2, 3, 4}, 4) == "step 2 is sampled after a sample of step 2");
  CHECK(refusal({1, 2, 1, 3, 4}, 4) == "step 1 is sampled after a sample of step 2");
  CHECK(refusal({1, 2, 4}, 4) ==
        "step 4 is sampled, and output p has no sample of a step that was due before");
  CHECK(refusal({1, 2, 3, 4}, 3) == "finished after step 3 after a sample of step 4");
  CHECK(refusal({1, 2}, 4) ==
        "finished after step 4, and output p has no sample of a step that was due before");
  CHECK(refusal({1, 2}, 2).empty());
  CHECK(refusal({0, 1, 2, 3, 4, 5, 6}, 7).empty());
}

MPI_CASE("a step that is refused at the end leaves the file open", ranks{1, 2}) {
  Program program(comm);
  program.open();
  for (StepIndex step = 1; step <= 3; ++step) program.sample(step);
  CHECK(test::error_of([&] { program.file->finish(2); }));
  CHECK(!test::error_of([&] { program.file->finish(3); }));
}

MPI_CASE("different last steps on the ranks end the output of all", ranks{2, 3}) {
  for (const auto* const strategy : {"auto", "threads"})
    for (const StepIndex sampled : {3, 4}) {
      Program program(comm);
      program.options.strategy = strategy;
      program.open();
      for (StepIndex step = 1; step <= sampled; ++step) program.sample(step);
      const auto error = test::error_info_of([&] { program.file->finish(sampled + comm.rank()); });
      CHECK(error.rank == 0);
      CHECK_MESSAGE(error.message.find(fmt::format("finished after step {} on one rank, after step {} on",
                                                   sampled, sampled + comm.size() - 1)) != std::string::npos,
                    error.message);
    }
}

/// Other ranks wait for it where the ranks decide or move samples together, for an hour at most.
MPI_CASE("a sample that one rank leaves out ends the output of all, whoever waits for it", ranks{2, 3}) {
  constexpr StepIndex last = 40;
  const Cadence often{.first = 1, .every = 1, .last = last};
  for (const auto& [strategy, sink] : {std::pair{"auto", "hdf5"},
                                       {"auto", "hdf5-chunked"},
                                       {"threads", "hdf5-chunked"},
                                       {"leaders", "hdf5"},
                                       {"blocking", "mpiio"}})
    for (const int omitting : {0, 1})
      for (const StepIndex omitted : {StepIndex{7}, last}) {
        Program program(comm);
        program.contents.streams = {make_stream("p", "p", Whole{}, often, Reduction::none, grid)};
        program.options.strategy = strategy;
        program.options.sink = sink;
        program.open();
        for (StepIndex step = 1; step <= last; ++step)
          if (comm.rank() != omitting || step < omitted || step > omitted + 1) program.sample(step);
        const auto error = test::error_info_of([&] { program.file->finish(last); });
        CHECK(error.rank == omitting);
        CHECK_MESSAGE(
            error.message.find("output p has no sample of a step that was due before") != std::string::npos,
            error.message);
      }
}

MPI_CASE("a final stream whose step did not come has no value", ranks{1, 2}) {
  for (const StepIndex last : {3, 4}) {
    Program program(comm);
    program.contents.streams.push_back(
        make_stream("end", "p", Whole{}, {.first = 4, .every = 1, .last = 4}, Reduction::final, grid));
    program.run(last);
    if (!comm.is_root()) continue;
    std::vector<std::int64_t> step(1);
    h5::File::open(program.path).read("/end/step", std::span(step));
    CHECK(step[0] == (last == 4 ? 4 : 0));
  }
}

MPI_CASE("values are of the type that a stream is made for, whatever the field has", ranks{1}) {
  Program program(comm);
  program.contents.streams.push_back(
      make_stream("exact", "p", Whole{}, all_steps, Reduction::none, grid, h5::ElementType::float64));
  program.run(4);
  const auto file = h5::File::open(program.path);
  CHECK(file.type("/p/values") == h5::ElementType::float32);
  CHECK(file.type("/exact/values") == h5::ElementType::float64);
}
