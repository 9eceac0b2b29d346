// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include "device/box_transfer.hpp"
#include "device_step.hpp"
#include "layout/device_halo.hpp"
#include "mpi/verdict.hpp"
#include "solver_state.hpp"

namespace tailrace::seismic {

namespace {

/// Values of sources one behind the other, and where they are.
template <class Real>
struct SourceValues {
  std::vector<DeviceSource> sources;
  std::vector<Real> values;

  explicit SourceValues(const std::vector<LocalSource>& local) {
    for (const auto& [at, source] : local) {
      sources.push_back(
          {at, static_cast<std::int64_t>(values.size()), static_cast<std::int64_t>(source->values.size())});
      for (const double value : source->values) values.push_back(static_cast<Real>(value));
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sources.size() * sizeof(DeviceSource) + values.size() * sizeof(Real);
  }
};

/// The step of the computation is put into the queue; the host waits for messages, and for the step before
/// the last, so that it is never far ahead.
template <class Real>
class DeviceState final : public SolverState {
 public:
  DeviceState(const StateConfig& config, const device::ComputeQueue& device)
      : device_(*device.device),
        queue_(*device.queue),
        own_(config.own()),
        layout_(ArrayLayout::of<Real>(own_.extents(), reach)),
        log_(config.log),
        grid_(config.problem.grid()),
        dt_s_(config.problem.dt_s),
        memory_(device_memory<Real>(config.problem, config.decomposition, config.comm.rank())),
        halo_(config.comm, device_, queue_, halo_config<Real>(config.problem, config.decomposition, layout_),
              static_cast<int>(field_count(config.problem.properties.equations))) {
    const auto& problem = config.problem;
    const StepSettings<Real> settings(problem, config.extremes, own_, layout_);
    arrays_ = settings.arrays;
    fields_.resize(field_count(problem.properties.equations));
    const Medium<Real> medium(problem.properties, problem.boundary, config.extremes, problem.cells, own_,
                              problem.dt_s);
    mpi::collectively(config.comm, [&] {
      if (own_.empty()) return;
      make_fields();
      upload_medium(medium);
      upload_damping(settings);
      upload_sources(SourceValues<Real>(local_sources(problem.sources, problem, own_, layout_)));
      queue_.synchronize();  // what was uploaded goes
    });
  }
  ~DeviceState() override {
    try {
      queue_.synchronize();
    } catch (...) {  // a device that failed touches nothing any more; whoever waited for it has thrown
    }
  }
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  void advance(StepIndex step) override {
    auto& done = *done_[static_cast<std::size_t>(step) % done_.size()];
    done.wait();
    if (!own_.empty()) {
      lend_fields();
      spans_.begin(queue_, trace::Kind::compute, step);
      sources_.p = first(0, now_) - layout_.origin;
      sources_.q = fields_.size() > 1 ? first(1, now_) - layout_.origin : nullptr;
      add_sources_on_device(queue_, sources_, step);
      for (const Box& shell : halo_.shells()) update_on_device(queue_, arrays_, shell);
    }
    start_halos(1 - now_, step);
    if (!own_.empty()) update_on_device(queue_, arrays_, halo_.interior());
    spans_.end(queue_);
    const trace::Scope scope(log_, trace::Kind::exchange, step);
    halo_.finish();
    queue_.record(done);
    now_ = 1 - now_;
  }

  [[nodiscard]] output::FieldView view(bool wants_q, Index3 point) override {
    spans_.collect();
    halo_.collect_spans();
    return {.data = first(wants_q && fields_.size() > 1 ? 1 : 0, now_) + layout_.at(point) - layout_.origin,
            .type = h5::element_type_of<Real>(),
            .box = {},
            .stride_y = layout_.stride_y,
            .stride_z = layout_.stride_z,
            .memory = output::Memory::device};
  }

  [[nodiscard]] SolverMemory memory() const noexcept override { return memory_; }

  void state(checkpoint::StateArchive& archive) override {
    std::vector<std::array<checkpoint::FieldState, 2>> states;
    for (std::size_t f = 0; f < fields_.size(); ++f)
      states.push_back({level_state(f, now_), level_state(f, 1 - now_)});
    pass_levels(archive, dt_s_, states);
  }

  void get_halos() override {
    start_halos(now_, 0);
    halo_.finish();
  }

 private:
  using Level = device::Buffer;

  void make_fields() {
    for (auto& field : fields_)
      for (auto& level : field) {
        level = Level(device_, static_cast<std::size_t>(layout_.size) * sizeof(Real));
        queue_.clear(level.data(), level.bytes());
      }
    transfer_.emplace(device_, queue_);
  }
  /// A copy on the device, which is made when the queue is waited for; null of nothing.
  template <class T>
  const T* upload(std::span<const T> values) {
    if (values.empty()) return nullptr;
    constants_.emplace_back(device_, values.size_bytes());
    queue_.copy_to_device(constants_.back().data(), values.data(), values.size_bytes());
    return reinterpret_cast<const T*>(constants_.back().data());
  }
  void upload_medium(const Medium<Real>& medium) {
    std::array<const Real*, Medium<Real>::count> copies;
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = upload(medium.values(i));
    medium.lend(arrays_, copies);
  }
  void upload_damping(const StepSettings<Real>& settings) {
    for (std::size_t axis = 0; axis < settings.damping.size(); ++axis)
      arrays_.damping[axis] = upload(std::span<const Real>(settings.damping[axis]));
  }
  void upload_sources(const SourceValues<Real>& found) {
    sources_.count = static_cast<std::int64_t>(found.sources.size());
    sources_.sources = upload(std::span<const DeviceSource>(found.sources));
    sources_.values = upload(std::span<const Real>(found.values));
    queue_.synchronize();
  }

  /// The low corner of the rank's box.
  [[nodiscard]] const Real* first(std::size_t field, std::size_t level) const noexcept {
    auto* const data = fields_[field][level].data();
    return data == nullptr ? nullptr : reinterpret_cast<const Real*>(data) + layout_.origin;
  }
  [[nodiscard]] Real* first(std::size_t field, std::size_t level) noexcept {
    return const_cast<Real*>(std::as_const(*this).first(field, level));
  }
  void lend_fields() noexcept {
    const std::size_t last = fields_.size() - 1;
    arrays_.p = first(0, now_);
    arrays_.q = first(last, now_);
    arrays_.p_other = first(0, 1 - now_);
    arrays_.q_other = first(last, 1 - now_);
  }
  void start_halos(std::size_t level, StepIndex step) {
    if (own_.empty()) return;
    for (std::size_t f = 0; f < fields_.size(); ++f) halo_.start(first(f, level), step);
  }

  [[nodiscard]] device::Array array(std::size_t field, std::size_t level) noexcept {
    return {first(field, level), layout_.stride_y, layout_.stride_z, sizeof(Real)};
  }
  [[nodiscard]] checkpoint::FieldState level_state(std::size_t field, std::size_t level) {
    const auto values = array(field, level);
    return {
        .data = nullptr,
        .type = h5::element_type_of<Real>(),
        .domain = grid_,
        .box = own_,
        .stride_y = layout_.stride_y,
        .stride_z = layout_.stride_z,
        .read = [this, values](const Box& part,
                               std::span<std::byte> out) { transfer_->read(values, own_, part, out); },
        .write = [this, values](const Box& part,
                                std::span<const std::byte> in) { transfer_->write(values, own_, part, in); }};
  }

  device::Device& device_;
  device::Queue& queue_;
  Box own_;
  ArrayLayout layout_;
  trace::Log& log_;
  Index3 grid_;
  double dt_s_;
  SolverMemory memory_;
  std::vector<std::array<Level, 2>> fields_;  ///< p, and q if it differs; two levels each
  std::size_t now_ = 0;
  std::vector<device::Buffer> constants_;
  std::optional<device::BoxTransfer> transfer_;  ///< checkpoints read and write fields through it
  StepArrays<Real> arrays_;
  SourceArrays<Real> sources_;
  std::array<std::unique_ptr<device::Event>, 2> done_{device_.make_event(), device_.make_event()};
  device::SpanLog spans_{device_, "device"};
  layout::DeviceHalo halo_;
};

}  // namespace

std::unique_ptr<SolverState> make_device_state(const StateConfig& config,
                                               const device::ComputeQueue& device) {
  if (config.problem.precision == h5::ElementType::float32)
    return std::make_unique<DeviceState<float>>(config, device);
  return std::make_unique<DeviceState<double>>(config, device);
}

template <class Real>
SolverMemory device_memory(const Problem& problem, const layout::Decomposition& decomposition, int rank) {
  const Box own = decomposition.box(rank);
  if (own.empty()) return {};
  const auto layout = ArrayLayout::of<Real>(own.extents(), reach);
  const auto fields = field_count(problem.properties.equations);
  const double halos = layout::DeviceHalo::needed_bytes(halo_config<Real>(problem, decomposition, layout),
                                                        rank, static_cast<int>(fields)),
               medium = Medium<Real>::needed_bytes(problem.properties, problem.boundary, own);
  const SourceValues<Real> sources(local_sources(problem.sources, problem, own, layout));
  const auto levels = static_cast<double>(2 * fields) * static_cast<double>(layout.size) * sizeof(Real);
  // The medium is made on the host, and goes from there.
  return {.host_bytes = medium + halos + static_cast<double>(sources.bytes()),
          .device_bytes =
              levels + medium + halos + static_cast<double>(sources.bytes() + device::BoxTransfer::bytes)};
}

template SolverMemory device_memory<float>(const Problem&, const layout::Decomposition&, int);
template SolverMemory device_memory<double>(const Problem&, const layout::Decomposition&, int);

}  // namespace tailrace::seismic
