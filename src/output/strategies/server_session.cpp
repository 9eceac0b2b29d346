// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/server_session.hpp"

#include <algorithm>

namespace tailrace::output {

namespace {

/// As much of a plan as a sink needs that joins a file.
Plan plan_of(const std::vector<PlannedStream>& streams) {
  Plan plan;
  plan.streams = streams;
  return plan;
}

}  // namespace

Member::Member(wire::OpenRequest&& request)
    : shares_(std::move(request.shares)), slots_(wire::slots, request.staging_bytes, request.source) {
  for (const auto& share : shares_) numbers_.push_back(&share);
}

Lease Member::take_slot() {
  auto slot = slots_.try_acquire();
  TAILRACE_CHECK(slot.has_value(), "ranks send no more jobs than there is room for");
  return std::move(*slot);
}

ServedSession::ServedSession(mpi::CommView self, const wire::OpenRequest& request, int process,
                             SinkFactory create_sink)
    : self_(self),
      id_(request.session),
      path_(request.path),
      options_(request.options),
      plan_(plan_of(request.streams)),
      sink_(create_sink({.comm = self,
                         .path = path_,
                         .plan = plan_,
                         .head = {},
                         .options = options_,
                         .sources = request.sources,
                         .joins = true,
                         .process = process})) {}

ServedSession::~ServedSession() {
  if (failure) return;
  try {
    sink_->close(self_, {}, {});
  } catch (...) {  // the ranks had all that they gave put onto the device, or do not care for it
    return;
  }
}

bool ServedSession::is_complete() const noexcept {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& member) { return member.second.ready > 0; });
}

}  // namespace tailrace::output
