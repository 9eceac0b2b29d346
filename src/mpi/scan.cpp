// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/scan.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "mpi/native.hpp"

namespace tailrace::mpi {

Scan::~Scan() {
  // Only while an error ends the program: the ranks that are late make MPI read and write the values later.
  if (pending()) [[maybe_unused]]
    const auto* lost = values_.release();
}

bool Scan::pending() const noexcept {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](Request request) { return request != Request::none; });
}

void Scan::start(std::vector<std::int64_t> mine) {
  TAILRACE_CHECK(!pending(), "one scan at a time");
  const auto count = static_cast<int>(mine.size());
  values_->before.assign(mine.size(), 0);
  values_->undefined.assign(mine.size(), 0);
  values_->total.assign(mine.size(), 0);
  values_->mine = std::move(mine);
  auto& before = comm_.is_root() ? values_->undefined : values_->before;  // as MPI says of the first rank
  check(MPI_Iexscan(values_->mine.data(), before.data(), count, MPI_INT64_T, MPI_SUM, comm_.get(),
                    Lent(requests_[0])),
        "MPI_Iexscan");
  check(MPI_Iallreduce(values_->mine.data(), values_->total.data(), count, MPI_INT64_T, MPI_SUM, comm_.get(),
                       Lent(requests_[1])),
        "MPI_Iallreduce");
}

bool Scan::complete() {
  return test_all(requests_);
}

void Scan::wait() {
  wait_all(requests_);
}

}  // namespace tailrace::mpi
