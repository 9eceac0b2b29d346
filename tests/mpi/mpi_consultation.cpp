// SPDX-License-Identifier: BSD-3-Clause
#include "base/system.hpp"
#include "mpi/consultation.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

namespace {

void wait_for(mpi::Consultation& consultation) {
  for (Backoff backoff; !consultation.complete();) backoff.pause();
}

}  // namespace

MPI_CASE("the root gets the largest numbers, and all get its answer", ranks{1, 2, 3, 4, 7}) {
  mpi::Consultation consultation(comm);
  for (int round = 0; round < 3; ++round) {
    const double rank = comm.rank();
    consultation.ask({rank, -rank, 5.0 + round});
    wait_for(consultation);
    if (comm.is_root())
      CHECK(consultation.largest() == std::vector<double>{comm.size() - 1.0, 0.0, 5.0 + round});
    consultation.answer(comm.is_root() ? "threads:" + std::to_string(round) : "what others say");
    wait_for(consultation);
    CHECK(consultation.text() == "threads:" + std::to_string(round));
  }
}

MPI_CASE("an answer may be empty or fill its room", ranks{1, 2, 3}) {
  mpi::Consultation consultation(comm);
  const std::string longest(mpi::Consultation::longest_answer, 'x');
  for (const auto& text : {longest, std::string()}) {
    consultation.answer(text);
    wait_for(consultation);
    CHECK(consultation.text() == text);
  }
  CHECK_THROWS_AS(consultation.answer(longest + "x"), Error);
}

MPI_CASE("nobody waits for ranks that are late", ranks{2, 3}) {
  const auto other = mpi::Comm::duplicate(comm);
  mpi::Consultation consultation(comm);
  if (comm.is_root()) {
    consultation.ask({1.0});
    CHECK(!consultation.complete());  // the others ask only after the message below
    mpi::broadcast(other, "continue", 0);
  } else {
    mpi::broadcast(other, std::string(), 0);
    consultation.ask({2.0});
  }
  wait_for(consultation);
  if (comm.is_root()) CHECK(consultation.largest() == std::vector<double>{2.0});
}
