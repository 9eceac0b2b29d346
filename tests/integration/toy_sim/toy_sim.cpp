// SPDX-License-Identifier: BSD-3-Clause
// The smallest simulation: each point of a box grows at its own rate (test_toy_sim.py runs it).
#include "tailrace/run/simulate.hpp"

namespace tailrace {

class Toy {
 public:
  static constexpr const char *name = "toy", *purpose = "Points that grow, each at its own rate";
  struct Options : run::CaseOptions {
    Index3 cells;
    double rate = 0;
  };
  static std::vector<run::OfferedQuantity> quantities() { return {{"height", "m"}}; }
  static std::vector<run::Key> keys() {
    using enum run::KeyType;
    return {{.name = "domain.cells",
             .type = integers,
             .meaning = "points along x, y, z",
             .fallback = "[6, 5, 4]"},
            {.name = "time.steps", .type = integer, .meaning = "steps", .fallback = "40", .limits = {1, 1e6}},
            {.name = "toy.rate",
             .type = real,
             .meaning = "growth of the first point per step, in metres",
             .limits = {0, 10},
             .fix = "rate = 0.5",
             .required = true}};
  }
  static void read(run::CaseFile& file, Options& options) {
    options.cells = file.grid("domain.cells", *file.integers("domain.cells")).value_or(Index3{});
    options.steps = *file.integer("time.steps");
    options.rate = file.real("toy.rate").value_or(0);
  }
  static run::OutputDomain domain(const Options& options) {
    return {options.cells, Box::whole(options.cells), options.steps, 0, 1, {1, 1, 1}, {"height"}, {}};
  }
  static layout::Decomposition decomposition(const Options& options, int ranks) {
    return layout::Decomposition::slab(options.cells, layout::Axis::z, ranks);
  }

  Toy(mpi::CommView comm, const Options& options)
      : cells_(options.cells),
        box_(decomposition(options, comm.size()).box(comm.rank())),
        rate_(options.rate),
        heights_(static_cast<std::size_t>(box_.volume())) {}

  void advance(StepIndex) {
    const auto first = static_cast<double>(box_.lo.z * cells_.x * cells_.y);
    for (std::size_t i = 0; i < heights_.size(); ++i)
      heights_[i] += rate_ * (1 + first + static_cast<double>(i));
  }
  [[nodiscard]] output::FieldView field(const std::string&) const {
    return {heights_.data(), h5::ElementType::float64, box_, cells_.x, cells_.x * cells_.y};
  }
  void state(checkpoint::StateArchive& archive) {
    archive.component("toy", 1, [&](int) {
      archive.field("heights",
                    {heights_.data(), h5::ElementType::float64, cells_, box_, cells_.x, cells_.x * cells_.y});
    });
  }
  void restored(StepIndex) {}
  [[nodiscard]] std::size_t memory_bytes() const { return heights_.size() * sizeof(double); }

 private:
  Index3 cells_;
  Box box_;
  double rate_;
  std::vector<double> heights_;
};

}  // namespace tailrace

int main(int argc, char** argv) {
  return tailrace::run::simulate<tailrace::Toy>(argc, argv);
}
