// Heat in a box, on any number of ranks: outputs as the case asks for, checkpoints, going on with others.
//   mpirun -n 2 minimal_sim case.toml DIR            mpirun -n 3 minimal_sim case.toml DIR --resume
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <tailrace/decomposition.hpp>
#include <tailrace/run/case_write.hpp>
#include <tailrace/run/run.hpp>

using namespace tailrace;

/// Temperatures on slabs of z planes, with a plane of halo on both sides; 0 outside of the box.
class Heat {
 public:
  Heat(mpi::CommView comm, Index3 cells, double rate)
      : comm_(comm),
        cells_(cells),
        box_(layout::Decomposition::slab(cells, layout::Axis::z, comm.size()).box(comm.rank())),
        plane_((cells.x + 2) * (cells.y + 2)),
        now_(plane_ * (box_.z().size() + 2)),
        next_(now_.size()),
        rate_(rate) {
    const Index3 hot{cells.x / 2, cells.y / 2, cells.z / 2};
    if (box_.contains(hot)) now_[at(hot)] = 1000;
    get_halos();
  }

  [[nodiscard]] const Box& box() const { return box_; }

  void advance(StepIndex) {
    const auto row = static_cast<std::size_t>(cells_.x + 2);
    for (auto z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = 0; y < cells_.y; ++y)
        for (std::int64_t x = 0; x < cells_.x; ++x) {
          const std::size_t i = at({x, y, z});
          next_[i] = now_[i] + rate_ * (now_[i - 1] + now_[i + 1] + now_[i - row] + now_[i + row] +
                                        now_[i - plane_] + now_[i + plane_] - 6 * now_[i]);
        }
    now_.swap(next_);
    get_halos();
  }

  /// What is recorded: where the points of this rank are in memory.
  [[nodiscard]] output::FieldView field(const std::string&) const {
    return {now_.data() + at(box_.lo), h5::ElementType::float64, box_, cells_.x + 2, stride_z()};
  }
  /// What the future depends on: saves and restores.
  void state(checkpoint::StateArchive& archive) {
    archive.component("heat", 1, [&](int) {
      archive.field("temperature", {now_.data() + at(box_.lo), h5::ElementType::float64, cells_, box_,
                                    cells_.x + 2, stride_z()});
    });
  }
  void restored(StepIndex) { get_halos(); }
  [[nodiscard]] std::int64_t memory_bytes() const {
    return 2 * static_cast<std::int64_t>(now_.size() * sizeof(double));
  }

 private:
  [[nodiscard]] std::int64_t stride_z() const { return static_cast<std::int64_t>(plane_); }
  [[nodiscard]] std::size_t at(Index3 p) const {
    return static_cast<std::size_t>(p.z - box_.lo.z + 1) * plane_ +
           static_cast<std::size_t>((p.y + 1) * (cells_.x + 2) + p.x + 1);
  }
  /// Ranks without planes are the last ones: they have no neighbours.
  void get_halos() {
    const auto has = [&](int rank) {
      return rank >= 0 && rank < comm_.size() && layout::split(cells_.z, comm_.size(), rank).size() > 0;
    };
    const int rank = comm_.rank(), count = static_cast<int>(plane_);
    if (!has(rank)) return;
    const int below = has(rank - 1) ? rank - 1 : MPI_PROC_NULL,
              above = has(rank + 1) ? rank + 1 : MPI_PROC_NULL;
    double* const last = now_.data() + now_.size() - plane_;
    MPI_Sendrecv(last - plane_, count, MPI_DOUBLE, above, 0, now_.data(), count, MPI_DOUBLE, below, 0,
                 comm_.get(), MPI_STATUS_IGNORE);
    MPI_Sendrecv(now_.data() + plane_, count, MPI_DOUBLE, below, 1, last, count, MPI_DOUBLE, above, 1,
                 comm_.get(), MPI_STATUS_IGNORE);
  }

  mpi::CommView comm_;
  Index3 cells_;
  Box box_;
  std::size_t plane_;
  std::vector<double> now_, next_;
  double rate_;
};

struct Case {
  Index3 cells;
  StepIndex steps = 0;
  std::vector<run::OutputTable> outputs;
};

Case read_case(const std::string& path, run::RunOptions& options) {
  auto file = run::CaseFile::read(path, {});
  const auto n = file.integer("heat.cells", {1, 10000}).value_or(32);
  const auto steps = file.integer("time.steps", {1}).value_or(100);
  Case found{{n, n, n}, steps, run::read_output_tables(file, {{"T", "K"}}, "")};
  run::read_write(file, {}, options.write);
  run::read_checkpoint(file, options.checkpoint.emplace());
  file.finish();
  return found;
}

int simulate(mpi::CommView comm, const Case& c, const std::string& case_file, run::Run& run,
             const std::string& directory) {
  Heat heat(comm, c.cells, 0.1);
  run.account().simulation = "minimal";
  const run::OutputDomain domain{c.cells, Box::whole(c.cells), c.steps, 0, 1, {1, 1, 1}, {"T"}, {}};
  run.plan({}, {c.outputs, domain, case_file}, heat.box(), c.cells);
  run.prepare_directory();
  const StepIndex done = run.restore(heat);
  run.open_output(directory + "/output.h5", {}, heat.memory_bytes());
  const auto result = run.drive(heat, {done, c.steps, c.steps}, {.quantity = "T"}, [](StepIndex) {});
  const auto fields = [&](output::Session&) -> output::FieldLookup {
    return [&](const std::string& name) { return heat.field(name); };
  };
  const auto tail = [] { return output::FileTail(); };
  const auto end = run.close(result, fields, tail, heat.box().volume()).end;
  if (end.error) throw Error(*end.error);
  return run::exit_status(end.status);
}

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const auto world = environment.world();
  if (argc < 3) return std::puts("minimal_sim CASE DIR [--resume]"), run::bad_input;
  const auto status_of = [](ErrorKind kind) { return run::exit_status(kind); };
  run::RunOptions options{.program = "minimal_sim", .directory = argv[2]};
  options.resume = argc > 3 && std::string(argv[3]) == "--resume";
  try {  // all ranks read the case and come to the same result
    const Case c = read_case(argv[1], options);
    const auto start = [&](mpi::CommView comm) {
      run::Run run(comm, options);
      return run.guard([&] { return simulate(comm, c, argv[1], run, options.directory); }, status_of);
    };
    return run::with_crew(world, options.program, options.write, start, status_of);
  } catch (const Error& error) {
    if (world.is_root()) run::print_error(options.program, error.info());
    return run::bad_input;
  }
}
