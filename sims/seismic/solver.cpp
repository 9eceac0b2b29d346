// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/aligned.hpp"
#include "mpi/verdict.hpp"
#include "sponge.hpp"
#include "tailrace/error.hpp"
#include "tailrace/halo.hpp"

namespace tailrace::seismic {

namespace {

Index3 plus(Index3 p, std::int64_t all) noexcept {
  return {p.x + all, p.y + all, p.z + all};
}

/// The part of a box of the grid that belongs to the domain and `margin` points around it, counted there. At
/// the rim of the grid the zeros of the halo belong to the box.
Box part_of(const Box& box, const Problem& problem, std::int64_t margin) noexcept {
  if (box.empty()) return {};
  const Index3 grid = problem.grid();
  const auto low = [](std::int64_t i) { return i == 0 ? -reach : i; };
  const auto high = [](std::int64_t i, std::int64_t end) { return i == end ? end + reach : i; };
  const Box stored{{low(box.lo.x), low(box.lo.y), low(box.lo.z)},
                   {high(box.hi.x, grid.x), high(box.hi.y, grid.y), high(box.hi.z, grid.z)}};
  const auto shift = margin - problem.boundary.width;
  const Box inside = intersect({plus(stored.lo, shift), plus(stored.hi, shift)},
                               Box::whole(plus(problem.cells, 2 * margin)));
  return inside.empty() ? Box{} : inside;
}

/// Returns how the grid of a problem is cut if nothing else is asked for.
layout::Decomposition decomposition_of(const Problem& problem, int ranks) {
  return layout::Decomposition::bricks(problem.grid(), layout::min_cut_bricks(problem.grid(), ranks));
}

/// The fields that the equations have: p, and q where it differs.
std::size_t field_count(Equations equations) noexcept {
  return equations == Equations::isotropic ? 1 : 2;
}

template <class Real>
double bytes_of(const Problem& problem, const Box& own) {
  if (own.empty()) return 0;
  const auto levels = static_cast<double>(2 * field_count(problem.properties.equations));
  const auto layout = ArrayLayout::of<Real>(own.extents(), reach);
  return levels * static_cast<double>(layout.size) * sizeof(Real) +
         Medium<Real>::needed_bytes(problem.properties, problem.boundary, own);
}

/// A value to be added at a point of the rank's arrays.
struct LocalSource {
  std::int64_t at = 0;
  const Source* source = nullptr;
};

}  // namespace

double largest_stable_dt_s(const std::array<double, 3>& spacing_m, double speed_m_s) noexcept {
  double sum = 0;
  for (const double h : spacing_m) sum += 1 / (h * h);
  return 2 / (speed_m_s * std::sqrt(largest_symbol() * sum));
}

Box own_cells(const Problem& problem, int ranks, int rank) {
  return part_of(decomposition_of(problem, ranks).box(rank), problem, problem.margin);
}

Extremes survey(mpi::CommView comm, const Problem& problem) {
  Extremes all;
  const Box own = part_of(decomposition_of(problem, comm.size()).box(comm.rank()), problem, 0);
  mpi::collectively(comm, [&] { all = survey(problem.properties, own); });
  all.speed_m_s = mpi::max(comm, all.speed_m_s);
  all.vp_m_s = mpi::max(comm, all.vp_m_s);
  all.vs_m_s = mpi::max(comm, all.vs_m_s);
  all.slowest_m_s = -mpi::max(comm, -all.slowest_m_s);
  all.speed_ratio = mpi::max(comm, all.speed_ratio);
  // A layer of random speeds may put the largest speed beside the largest ratio.
  if (problem.boundary.kind == Boundary::Kind::random)
    all.speed_m_s = std::max(all.speed_m_s, all.vp_m_s * all.speed_ratio);
  const Index3& n = problem.cells;
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const Index3& p = all.first_unstable;
  const auto first = mpi::min(comm, all.unstable > 0 ? (p.z * n.y + p.y) * n.x + p.x : none);
  all.unstable = mpi::sum(comm, all.unstable);
  if (first != none) all.first_unstable = {first % n.x, first / n.x % n.y, first / n.x / n.y};
  return all;
}

/// Describes what does not depend on the precision.
class Solver::State {
 public:
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  virtual ~State() = default;
  virtual void advance(StepIndex step) = 0;
  /// The field at a point of the rank's box, counted from its low corner.
  [[nodiscard]] virtual output::FieldView view(bool wants_q, Index3 first) const = 0;
  [[nodiscard]] virtual std::int64_t memory_bytes() const noexcept = 0;
  virtual void state(checkpoint::StateArchive& archive) = 0;
  virtual void get_halos() = 0;
};

template <class Real>
class Solver::StateOf final : public Solver::State {
 public:
  StateOf(mpi::CommView comm, const Problem& problem, const Extremes& extremes,
          const layout::Decomposition& decomposition, trace::Log& log)
      : own_(decomposition.box(comm.rank())),
        layout_(ArrayLayout::of<Real>(own_.extents(), reach)),
        log_(log),
        grid_(problem.grid()),
        dt_s_(problem.dt_s),
        sources_(problem.sources),
        medium_(problem.properties, problem.boundary, extremes, problem.cells, own_, problem.dt_s),
        halo_(comm, {.decomposition = decomposition,
                     .layout = {layout_.stride_y, layout_.stride_z},
                     .element_bytes = sizeof(Real),
                     .width = reach,
                     .points = problem.properties.equations == Equations::tti ? layout::HaloPoints::edges
                                                                              : layout::HaloPoints::faces}) {
    fields_.resize(field_count(problem.properties.equations));
    if (own_.empty()) return;
    for (auto& field : fields_)
      for (auto& level : field) level = zero_array<Real>(layout_.size, layout_.stride_z);
    locate_sources(problem.boundary.width);
    set_up(problem, extremes);
  }

  void advance(StepIndex step) override {
    add_sources(step);
    if (!own_.empty()) {
      lend_fields();
      for (const Box& shell : halo_.shells()) update(arrays_, shell);
    }
    start_halos(1 - now_);
    update_interior();
    const trace::Scope scope(log_, trace::Kind::exchange, step);
    halo_.finish();
    now_ = 1 - now_;
  }

  [[nodiscard]] output::FieldView view(bool wants_q, Index3 first) const override {
    const auto& field = fields_[wants_q && fields_.size() > 1 ? 1 : 0];
    return {.data = field[now_].data() + layout_.at(first),
            .type = h5::element_type_of<Real>(),
            .box = {},
            .stride_y = layout_.stride_y,
            .stride_z = layout_.stride_z};
  }

  [[nodiscard]] std::int64_t memory_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& field : fields_)
      for (const auto& level : field) bytes += level.size() * sizeof(Real);
    return static_cast<std::int64_t>(bytes) + medium_.memory_bytes();
  }

  void state(checkpoint::StateArchive& archive) override {
    archive.component("waves", 1, [&](int) {
      double dt_s = dt_s_;
      archive.value("dt_s", dt_s);
      if (dt_s != dt_s_)
        throw Error(ErrorInfo{
            .kind = ErrorKind::input,
            .message = fmt::format("the checkpoint is of a run with time.dt_s = {:g}, not {:g}", dt_s, dt_s_),
            .path = {},
            .hint = "resume with the case that wrote it"});
      for (std::size_t f = 0; f < fields_.size(); ++f) {
        const std::string name = f == 0 ? "p" : "q";
        archive.field(name, level_state(fields_[f][now_]));
        archive.field(name + "_before", level_state(fields_[f][1 - now_]));
      }
    });
  }

  void get_halos() override {
    start_halos(now_);
    halo_.finish();
  }

 private:
  void start_halos(std::size_t level) {
    if (own_.empty()) return;
    for (std::size_t f = 0; f < fields_.size(); ++f)
      halo_.start(fields_[f][level].data() + layout_.origin, static_cast<int>(f));
  }
  [[nodiscard]] checkpoint::FieldState level_state(AlignedVector<Real>& level) const {
    return {.data = own_.empty() ? nullptr : level.data() + layout_.origin,
            .type = h5::element_type_of<Real>(),
            .domain = grid_,
            .box = own_,
            .stride_y = layout_.stride_y,
            .stride_z = layout_.stride_z};
  }
  /// A source belongs to its point wherever that is stored, halos included.
  void locate_sources(std::int64_t width) {
    for (const Source& source : sources_) {
      const Index3 at{source.cell.x + width - own_.lo.x, source.cell.y + width - own_.lo.y,
                      source.cell.z + width - own_.lo.z};
      const Index3 n = own_.extents();
      const Box stored{{-reach, -reach, -reach}, {n.x + reach, n.y + reach, n.z + reach}};
      if (stored.contains(at)) local_sources_.push_back({layout_.at(at), &source});
    }
  }

  void set_up(const Problem& problem, const Extremes& extremes) {
    arrays_.equations = problem.properties.equations;
    arrays_.stride_y = layout_.stride_y;
    arrays_.stride_z = layout_.stride_z;
    medium_.lend(arrays_);
    for (std::size_t axis = 0; axis < arrays_.weights.size(); ++axis)
      arrays_.weights[axis] = Weights<Real>::of_spacing(problem.spacing_m[axis]);
    if (problem.boundary.kind != Boundary::Kind::sponge) return;
    const std::array ranges{own_.x(), own_.y(), own_.z()};
    const Index3 grid = problem.grid();
    const std::array points{grid.x, grid.y, grid.z};
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
      const Sponge sponge{.points = points[axis],
                          .width = problem.boundary.width,
                          .spacing_m = problem.spacing_m[axis],
                          .speed_m_s = extremes.speed_m_s,
                          .dt_s = problem.dt_s};
      damping_[axis] = damping_along<Real>(sponge, ranges[axis]);
      arrays_.damping[axis] = damping_[axis].data();
    }
  }

  void add_sources(StepIndex step) {
    for (const auto& [at, source] : local_sources_) {
      if (step > static_cast<StepIndex>(source->values.size())) continue;
      for (auto& field : fields_)
        field[now_][static_cast<std::size_t>(at)] +=
            static_cast<Real>(source->values[static_cast<std::size_t>(step - 1)]);
    }
  }

  /// Points the step at the two levels as they are.
  void lend_fields() noexcept {
    const std::int64_t origin = layout_.origin;
    arrays_.p = fields_.front()[now_].data() + origin;
    arrays_.q = fields_.back()[now_].data() + origin;
    arrays_.p_other = fields_.front()[1 - now_].data() + origin;
    arrays_.q_other = fields_.back()[1 - now_].data() + origin;
  }

  /// In batches where there are messages, which resume in between.
  void update_interior() {
    constexpr std::int64_t batches = 4, thinnest = 16;
    const Box& interior = halo_.interior();
    if (own_.empty() || interior.empty()) return;
    const std::int64_t planes = interior.z().size();
    const std::int64_t count =
        halo_.shells().empty() ? 1 : std::clamp<std::int64_t>(planes / thinnest, 1, batches);
    for (std::int64_t i = 0; i < count; ++i) {
      Box batch = interior;
      batch.lo.z = interior.lo.z + planes * i / count;
      batch.hi.z = interior.lo.z + planes * (i + 1) / count;
      update(arrays_, batch);
      halo_.progress();
    }
  }

  Box own_;
  ArrayLayout layout_;
  trace::Log& log_;
  Index3 grid_;
  double dt_s_;
  std::vector<Source> sources_;
  Medium<Real> medium_;
  std::vector<std::array<AlignedVector<Real>, 2>> fields_;  ///< p, and q if it differs; two levels each
  std::size_t now_ = 0;
  std::array<AlignedVector<Real>, 3> damping_;
  std::vector<LocalSource> local_sources_;
  StepArrays<Real> arrays_;
  layout::Halo halo_;  ///< after the fields, whose memory its messages use
};

Solver::Solver(mpi::CommView comm, const Problem& problem, const Extremes& extremes, trace::Log& log,
               const layout::RankBricks* bricks) {
  const auto decomposition = bricks != nullptr ? layout::Decomposition::bricks(problem.grid(), *bricks)
                                               : decomposition_of(problem, comm.size());
  const Box own = decomposition.box(comm.rank());
  own_cells_ = part_of(own, problem, problem.margin);
  const Index3 in_grid = plus(own_cells_.lo, problem.boundary.width - problem.margin);
  first_ = {in_grid.x - own.lo.x, in_grid.y - own.lo.y, in_grid.z - own.lo.z};
  if (problem.precision == h5::ElementType::float32)
    state_ = std::make_unique<StateOf<float>>(comm, problem, extremes, decomposition, log);
  else
    state_ = std::make_unique<StateOf<double>>(comm, problem, extremes, decomposition, log);
}
Solver::~Solver() = default;

void Solver::advance(StepIndex step) {
  state_->advance(step);
}

output::FieldView Solver::field(const std::string& quantity) const {
  if (own_cells_.empty()) return {};
  auto view = state_->view(quantity == "q", first_);
  view.box = own_cells_;
  return view;
}

void Solver::state(checkpoint::StateArchive& archive) {
  state_->state(archive);
}
void Solver::restored(StepIndex) {
  state_->get_halos();
}

double Solver::needed_bytes(const Problem& problem, int ranks, int rank) {
  const Box own = decomposition_of(problem, ranks).box(rank);
  return problem.precision == h5::ElementType::float32 ? bytes_of<float>(problem, own)
                                                       : bytes_of<double>(problem, own);
}

std::int64_t Solver::memory_bytes() const noexcept {
  return state_->memory_bytes();
}

}  // namespace tailrace::seismic
