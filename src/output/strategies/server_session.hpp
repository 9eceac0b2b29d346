// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "output/core/sink.hpp"
#include "output/core/staging.hpp"
#include "output/strategies/wire.hpp"

namespace tailrace::output {

/// A rank whose samples a writer process takes in one session.
class Member {
 public:
  explicit Member(wire::OpenRequest&& request);

  /// Room for the next job; the rank sends none without.
  Lease take_slot();
  [[nodiscard]] std::span<const Share* const> shares() const noexcept { return numbers_; }

  int ready = 0;  ///< jobs that are here and not yet being written

 private:
  std::vector<Share> shares_;
  std::vector<const Share*> numbers_;
  StagingPool slots_;
};

/// One session as a writer process sees it: the file, and the ranks that it serves there.
class ServedSession {
 public:
  /// Joins the file. `process` is the number of this one. Errors (io).
  ServedSession(mpi::CommView self, const wire::OpenRequest& request, int process, SinkFactory create_sink);
  ServedSession(const ServedSession&) = delete;
  ServedSession& operator=(const ServedSession&) = delete;
  /// Leaves the file.
  ~ServedSession();

  [[nodiscard]] std::int64_t id() const noexcept { return id_; }
  [[nodiscard]] Sink& sink() noexcept { return *sink_; }
  /// By their ranks among those that compute and write.
  [[nodiscard]] std::map<int, Member>& members() noexcept { return members_; }
  /// Every member has a job here.
  [[nodiscard]] bool is_complete() const noexcept;

  std::optional<ErrorInfo> failure;  ///< the first of a write

 private:
  mpi::CommView self_;
  std::int64_t id_;
  std::string path_;
  WriteOptions options_;
  Plan plan_;
  std::unique_ptr<Sink> sink_;
  std::map<int, Member> members_;
};

}  // namespace tailrace::output
