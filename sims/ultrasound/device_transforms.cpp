// SPDX-License-Identifier: BSD-3-Clause
#include "device_transforms.hpp"

#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

template <class Real>
DeviceTransforms<Real>::DeviceTransforms(mpi::CommView comm, const Grid& grid,
                                         const device::ComputeQueue& device)
    : queue_(*device.queue), space_(comm, grid, device) {
  mpi::collectively(comm, [&] { fft_ = make_device_fft<Real>(device, space_.points(), space_.block()); });
}

template <class Real>
void DeviceTransforms<Real>::filter(Complex* in_place, const Real* table) {
  const std::array one{in_place};
  fft_->forward_in_place(in_place);
  to_columns(one);
  on_device::multiply<Real>(queue_, space_.block(), {.spectra = {in_place}, .tables = {table}});
  to_planes(one);
  fft_->inverse_in_place(in_place);
}

template class DeviceTransforms<float>;
template class DeviceTransforms<double>;

}  // namespace tailrace::ultrasound
