// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/consultation.hpp"

#include "base/check.hpp"
#include "mpi/native.hpp"

namespace tailrace::mpi {

Consultation::~Consultation() {
  // Only while an error ends the program: the ranks that are late make MPI read and write the values later.
  if (request_ != Request::none) [[maybe_unused]]
    const auto* lost = values_.release();
}

void Consultation::ask(std::vector<double> mine) {
  TAILRACE_CHECK(request_ == Request::none, "one question or answer at a time");
  values_->mine = std::move(mine);
  values_->largest.resize(values_->mine.size());
  check(MPI_Ireduce(values_->mine.data(), values_->largest.data(), static_cast<int>(values_->mine.size()),
                    MPI_DOUBLE, MPI_MAX, 0, comm_.get(), Lent(request_)),
        "MPI_Ireduce");
}

void Consultation::answer(const std::string& text) {
  TAILRACE_CHECK(request_ == Request::none, "one question or answer at a time");
  TAILRACE_CHECK(text.size() <= longest_answer, "an answer has room for its text");
  values_->text.fill('\0');
  if (comm_.is_root()) text.copy(values_->text.data(), text.size());
  check(MPI_Ibcast(values_->text.data(), static_cast<int>(values_->text.size()), MPI_CHAR, 0, comm_.get(),
                   Lent(request_)),
        "MPI_Ibcast");
}

bool Consultation::complete() {
  return test_all({&request_, 1});
}

}  // namespace tailrace::mpi
