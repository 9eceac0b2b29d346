// SPDX-License-Identifier: BSD-3-Clause
// Heat in a box, on any number of ranks: outputs as the case asks for, checkpoints, resuming on others.
//   TAILRACE_BIN_DIR=build-minimal tailrace run examples/minimal_sim/case.toml -n 2
#include <tailrace/halo.hpp>
#include <tailrace/run/simulate.hpp>

using namespace tailrace;

/// Temperatures on slabs of z planes, with a layer of halo on all sides; 0 outside of the box.
class Heat {
 public:
  static constexpr const char *name = "minimal", *purpose = "Heat in a box";
  struct Options : run::CaseOptions {
    std::int64_t cells = 0;
  };
  static std::vector<run::OfferedQuantity> quantities() { return {{"T", "K"}}; }
  static std::vector<run::Key> keys() {
    using enum run::KeyType;
    return {{.name = "heat.cells",
             .type = integer,
             .meaning = "points along each edge",
             .fallback = "32",
             .limits = {1, 10000}},
            {.name = "time.steps",
             .type = integer,
             .meaning = "steps",
             .fallback = "100",
             .limits = {.least = 1}}};
  }
  static void read(run::CaseFile& file, Options& options) {
    options.cells = *file.integer("heat.cells");
    options.steps = *file.integer("time.steps");
  }
  static Index3 points(const Options& options) { return {options.cells, options.cells, options.cells}; }
  static run::OutputDomain domain(const Options& options) {
    return {points(options), Box::whole(points(options)), options.steps, 0, 1, {1, 1, 1}, {"T"}, {}};
  }
  static layout::Decomposition decomposition(const Options& options, int ranks) {
    return layout::Decomposition::slab(points(options), layout::Axis::z, ranks);
  }

  Heat(mpi::CommView comm, const Options& options)
      : cells_(points(options)),
        box_(decomposition(options, comm.size()).box(comm.rank())),
        row_(static_cast<std::size_t>(cells_.x + 2)),
        plane_(row_ * row_),
        now_(plane_ * static_cast<std::size_t>(box_.z().size() + 2)),
        next_(now_.size()),
        halo_(comm, {.decomposition = decomposition(options, comm.size()),
                     .layout = {cells_.x + 2, static_cast<std::int64_t>(plane_)},
                     .element_bytes = sizeof(double)}) {
    const Index3 hot{cells_.x / 2, cells_.y / 2, cells_.z / 2};
    if (box_.contains(hot)) now_[at(hot)] = 1000;
    exchange_halos();
  }

  void advance(StepIndex) {
    for (auto z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = 0; y < cells_.y; ++y)
        for (std::int64_t x = 0; x < cells_.x; ++x) {
          const std::size_t i = at({x, y, z});
          next_[i] = now_[i] + 0.1 * (now_[i - 1] + now_[i + 1] + now_[i - row_] + now_[i + row_] +
                                      now_[i - plane_] + now_[i + plane_] - 6 * now_[i]);
        }
    now_.swap(next_);
    exchange_halos();
  }

  /// Returns what is recorded: where the points of this rank are in memory.
  [[nodiscard]] output::FieldView field(const std::string&) const {
    return {now_.data() + at(box_.lo), h5::ElementType::float64, box_, cells_.x + 2,
            static_cast<std::int64_t>(plane_)};
  }
  /// Saves and restores what the future depends on.
  void state(checkpoint::StateArchive& archive) {
    archive.component("heat", 1, [&](int) {
      archive.field("temperature", {now_.data() + at(box_.lo), h5::ElementType::float64, cells_, box_,
                                    cells_.x + 2, static_cast<std::int64_t>(plane_)});
    });
  }
  void restored(StepIndex) { exchange_halos(); }
  [[nodiscard]] std::size_t memory_bytes() const { return 2 * now_.size() * sizeof(double); }

 private:
  void exchange_halos() { halo_.exchange(now_.data() + at(box_.lo)); }
  [[nodiscard]] std::size_t at(Index3 p) const {
    return static_cast<std::size_t>(p.z - box_.lo.z + 1) * plane_ + static_cast<std::size_t>(p.y + 1) * row_ +
           static_cast<std::size_t>(p.x + 1);
  }
  Index3 cells_;
  Box box_;
  std::size_t row_, plane_;
  std::vector<double> now_, next_;
  layout::Halo halo_;
};

int main(int argc, char** argv) {
  return run::simulate<Heat>(argc, argv);
}
