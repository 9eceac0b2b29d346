// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/aligned.hpp"
#include "solver_state.hpp"
#include "tailrace/halo.hpp"

namespace tailrace::seismic {

namespace {

template <class Real>
class HostState final : public SolverState {
 public:
  explicit HostState(const StateConfig& config)
      : own_(config.own()),
        layout_(ArrayLayout::of<Real>(own_.extents(), reach)),
        log_(config.log),
        grid_(config.problem.grid()),
        dt_s_(config.problem.dt_s),
        sources_(config.problem.sources),
        medium_(config.problem.properties, config.problem.boundary, config.extremes, config.problem.cells,
                own_, config.problem.dt_s),
        settings_(config.problem, config.extremes, own_, layout_),
        halo_(config.comm, halo_config<Real>(config.problem, config.decomposition, layout_)) {
    fields_.resize(field_count(config.problem.properties.equations));
    if (own_.empty()) return;
    for (auto& field : fields_)
      for (auto& level : field) level = zero_array<Real>(layout_.size, layout_.stride_z);
    local_sources_ = local_sources(sources_, config.problem, own_, layout_);
    medium_.lend(settings_.arrays);
    if (settings_.damping[0].empty()) return;
    for (std::size_t axis = 0; axis < 3; ++axis)
      settings_.arrays.damping[axis] = settings_.damping[axis].data();
  }

  void advance(StepIndex step) override {
    add_sources(step);
    if (!own_.empty()) {
      lend_fields();
      for (const Box& shell : halo_.shells()) update(settings_.arrays, shell);
    }
    start_halos(1 - now_);
    update_interior();
    const trace::Scope scope(log_, trace::Kind::exchange, step);
    halo_.finish();
    now_ = 1 - now_;
  }

  [[nodiscard]] output::FieldView view(bool wants_q, Index3 first) override {
    const auto& field = fields_[wants_q && fields_.size() > 1 ? 1 : 0];
    return {.data = field[now_].data() + layout_.at(first),
            .type = h5::element_type_of<Real>(),
            .box = {},
            .stride_y = layout_.stride_y,
            .stride_z = layout_.stride_z};
  }

  [[nodiscard]] SolverMemory memory() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& field : fields_)
      for (const auto& level : field) bytes += level.size() * sizeof(Real);
    return {.host_bytes = static_cast<double>(bytes) + static_cast<double>(medium_.memory_bytes())};
  }

  void state(checkpoint::StateArchive& archive) override {
    std::vector<std::array<checkpoint::FieldState, 2>> states;
    for (auto& field : fields_) states.push_back({level_state(field[now_]), level_state(field[1 - now_])});
    pass_levels(archive, dt_s_, states);
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
    auto& arrays = settings_.arrays;
    arrays.p = fields_.front()[now_].data() + origin;
    arrays.q = fields_.back()[now_].data() + origin;
    arrays.p_other = fields_.front()[1 - now_].data() + origin;
    arrays.q_other = fields_.back()[1 - now_].data() + origin;
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
      update(settings_.arrays, batch);
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
  std::vector<LocalSource> local_sources_;
  StepSettings<Real> settings_;
  layout::Halo halo_;  ///< after the fields, whose memory its messages use
};

}  // namespace

std::unique_ptr<SolverState> make_host_state(const StateConfig& config) {
  if (config.problem.precision == h5::ElementType::float32) return std::make_unique<HostState<float>>(config);
  return std::make_unique<HostState<double>>(config);
}

template <class Real>
SolverMemory host_memory(const Problem& problem, const Box& own) {
  if (own.empty()) return {};
  const auto levels = static_cast<double>(2 * field_count(problem.properties.equations));
  const auto layout = ArrayLayout::of<Real>(own.extents(), reach);
  return {.host_bytes = levels * static_cast<double>(layout.size) * sizeof(Real) +
                        Medium<Real>::needed_bytes(problem.properties, problem.boundary, own)};
}

template SolverMemory host_memory<float>(const Problem&, const Box&);
template SolverMemory host_memory<double>(const Problem&, const Box&);

}  // namespace tailrace::seismic
