// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>
#include <memory>

#include "base/check.hpp"
#include "base/error_bytes.hpp"
#include "base/system.hpp"
#include "mpi/native.hpp"

namespace tailrace::mpi {

namespace {

/// After an expired verdict: every rank that is still there reports to rank 0, which names the others.
std::string missing_ranks(CommView comm) {
  constexpr int tag = 7701;
  constexpr double patience_s = 2;
  if (!comm.is_root()) {
    Request request = Request::none;
    MPI_Isend(nullptr, 0, MPI_BYTE, 0, tag, comm.get(), Lent(request));
    wait_all_for(std::span(&request, 1), patience_s);
    return "another rank";
  }
  std::vector<bool> here(static_cast<std::size_t>(comm.size()), false);
  here[0] = true;
  for (const double end = monotonic_s() + patience_s; monotonic_s() < end; sleep_s(1e-3)) {
    int found = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &found, &status);
    if (found == 0) continue;
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag, comm.get(), MPI_STATUS_IGNORE);
    here[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
  }
  std::vector<int> missing;
  for (std::size_t r = 0; r < here.size(); ++r)
    if (!here[r]) missing.push_back(static_cast<int>(r));
  return missing.empty() ? "a rank that was late" : fmt::format("rank {}", fmt::join(missing, ", "));
}

struct FailingRanks {
  int here = INT_MAX, lowest = INT_MAX;
};

[[noreturn]] void throw_expired(CommView comm, double limit_s) {
  throw Error(ErrorKind::internal,
              fmt::format("no common verdict after {} s: waiting for {}", limit_s, missing_ranks(comm)));
}

}  // namespace

void agree(CommView comm, const std::optional<ErrorInfo>& mine, double limit_s) {
  auto ranks = std::make_unique<FailingRanks>();
  ranks->here = mine ? comm.rank() : INT_MAX;
  Request request = Request::none;
  check(MPI_Iallreduce(&ranks->here, &ranks->lowest, 1, MPI_INT, MPI_MIN, comm.get(), Lent(request)),
        "MPI_Iallreduce");
  if (!wait_all_for(std::span(&request, 1), limit_s)) {
    [[maybe_unused]] const auto* lost = ranks.release();  // MPI may still read and write it
    throw_expired(comm, limit_s);
  }
  if (ranks->lowest == INT_MAX) return;
  Packer packer;
  ErrorInfo info;
  if (comm.rank() == ranks->lowest) {
    info = *mine;
    if (info.rank < 0) info.rank = comm.rank();
    fields(packer, info);
  }
  auto message = packer.take();
  broadcast(comm, message, ranks->lowest);
  Unpacker unpacker(message);
  fields(unpacker, info);
  throw Error(std::move(info));
}

void collectively(CommView comm, const std::function<void()>& action, double limit_s) {
  std::optional<ErrorInfo> mine;
  try {
    action();
  } catch (...) {
    mine = describe_current_exception();
  }
  agree(comm, mine, limit_s);
}

void collectively_on_root(CommView comm, const std::function<void()>& action) {
  collectively(comm, [&] {
    if (comm.is_root()) action();
  });
}

StepVerdict::~StepVerdict() {
  // Only while an error ends the program: the ranks that are late make MPI read and write the values later.
  if (request_ != Request::none) [[maybe_unused]]
    const auto* lost = values_.release();
}

void StepVerdict::start(const Report& report) {
  TAILRACE_CHECK(request_ == Request::none, "a step's verdict is finished before the next starts");
  // The smallest of each: a 0 of any rank is what all get.
  values_->mine = {report.failed ? comm_.rank() : INT_MAX, report.stop ? 0 : 1, report.number,
                   report.wish ? 0 : 1, report.waiting ? 0 : 1};
  check(MPI_Iallreduce(values_->mine.data(), values_->all.data(), static_cast<int>(values_->mine.size()),
                       MPI_INT64_T, MPI_MIN, comm_.get(), Lent(request_)),
        "MPI_Iallreduce");
}

StepVerdict::Outcome StepVerdict::finish() {
  if (request_ == Request::none) return {};
  if (!wait_all_for(std::span(&request_, 1), verdict_limit_s)) throw_expired(comm_, verdict_limit_s);
  const auto& all = values_->all;
  return {.failing_rank = all[0] == INT_MAX ? -1 : static_cast<int>(all[0]),
          .stop = all[1] == 0,
          .least = all[2],
          .wish = all[3] == 0,
          .waiting = all[4] == 0};
}

}  // namespace tailrace::mpi
