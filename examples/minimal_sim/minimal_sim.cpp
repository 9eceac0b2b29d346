// Heat in a box, on any number of ranks: outputs as the case asks for, checkpoints, and legs that go on with others.
//   mpirun -n 2 minimal_sim case.toml DIR            mpirun -n 3 minimal_sim case.toml DIR --resume
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <tailrace/layout/decomposition.hpp>
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

  /// What is recorded.
  [[nodiscard]] output::FieldView field(const std::string&) const {
    return {.data = now_.data() + at(box_.lo),
            .type = h5::ElementType::float64,
            .box = box_,
            .stride_y = cells_.x + 2,
            .stride_z = static_cast<std::int64_t>(plane_)};
  }
  /// What the future depends on: saves and restores.
  void state(checkpoint::StateArchive& archive) {
    archive.component("heat", 1, [&](int) {
      archive.field("temperature", {.data = now_.data() + at(box_.lo),
                                    .type = h5::ElementType::float64,
                                    .domain = cells_,
                                    .box = box_,
                                    .stride_y = cells_.x + 2,
                                    .stride_z = static_cast<std::int64_t>(plane_)});
    });
  }
  void restored(StepIndex) { get_halos(); }
  [[nodiscard]] std::int64_t memory_bytes() const { return 2 * static_cast<std::int64_t>(now_.size() * sizeof(double)); }

 private:
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
    const int below = has(rank - 1) ? rank - 1 : MPI_PROC_NULL, above = has(rank + 1) ? rank + 1 : MPI_PROC_NULL;
    double* const last = now_.data() + now_.size() - plane_;
    MPI_Sendrecv(last - plane_, count, MPI_DOUBLE, above, 0, now_.data(), count, MPI_DOUBLE, below, 0, comm_.get(),
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now_.data() + plane_, count, MPI_DOUBLE, below, 1, last, count, MPI_DOUBLE, above, 1, comm_.get(),
                 MPI_STATUS_IGNORE);
  }

  mpi::CommView comm_;
  Index3 cells_;
  Box box_;
  std::size_t plane_;
  std::vector<double> now_, next_;
  double rate_;
};

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const auto world = environment.world();
  if (argc < 3) return std::puts("minimal_sim CASE DIR [--resume]"), run::bad_input;
  run::RunOptions options{.program = "minimal_sim", .directory = argv[2]};
  run::CheckpointOptions checkpoints;
  std::vector<run::OutputTable> tables;
  Index3 cells;
  StepIndex steps = 0;
  try {  // all ranks read the case and come to the same result
    auto file = run::CaseFile::read(argv[1], {});
    const auto n = file.integer("heat.cells", {1, 10000}).value_or(32);
    cells = {n, n, n};
    steps = file.integer("time.steps", {1}).value_or(100);
    tables = run::read_output_tables(file, {{"T", "K"}}, "");
    run::read_write(file, {}, options.write);
    run::read_checkpoint(file, checkpoints);
    file.finish();
  } catch (const Error& error) {
    if (world.is_root()) run::print_error(options.program, error.info());
    return run::bad_input;
  }
  options.checkpoint = checkpoints;
  options.resume = argc > 3 && std::string(argv[3]) == "--resume";
  const auto simulate = [&](mpi::CommView comm) {
    run::Run run(comm, options);
    return run.guard(
        [&] {
          run.account().simulation = "minimal";
          Heat heat(comm, cells, 0.1);
          run.plan({}, {tables, {.points = cells, .interior = Box::whole(cells), .steps = steps, .dt_s = 1, .quantities = {"T"}}, argv[1]},
                   heat.box(), cells);
          run.prepare_directory();
          const StepIndex done = run.restore(heat);
          run.open_output(options.directory + "/output.h5", {}, heat.memory_bytes());
          const auto result = run.drive(heat, {.done = done, .last = steps, .planned = steps}, {.quantity = "T"}, [](StepIndex) {});
          const auto fields = [&](output::Session&) -> output::FieldLookup {
            return [&](const std::string& name) { return heat.field(name); };
          };
          const auto end = run.close(result, fields, [] { return output::FileTail(); }, heat.box().volume()).end;
          if (end.error) throw Error(*end.error);
          return run::exit_status(end.status);
        },
        [](ErrorKind kind) { return run::exit_status(kind); });
  };
  const auto status_of = [](ErrorKind kind) { return run::exit_status(kind); };
  return run::with_crew(world, options.program, options.write, simulate, status_of);
}
