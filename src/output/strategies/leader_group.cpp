// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/leader_group.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <new>
#include <string>

#include "base/bytes.hpp"
#include "mpi/node.hpp"
#include "mpi/packets.hpp"
#include "output/strategies/wire.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Describes what a rank sends its leader, before its shares.
struct Offer {
  SharedRegion::Handle memory;
  SharedJobsShape shape;
  int source = 0;
  std::size_t shares = 0;
};

/// The way of one rank into its group; what is in it is kept as a text, so that all continue together.
class Joining {
 public:
  Joining(const WriterContext& context, mpi::CommView group)
      : context_(context),
        group_(group),
        shape_{.buffers = context.options.buffers,
               .staging_bytes = context.staging_bytes,
               .max_staged_extents = context.max_staged_extents} {}

  /// @collective{group}
  std::optional<LeaderGroup> join() {
    attempt([&] { create(); });
    const auto board = share_board();
    const auto offers = mpi::gather(group_, offer(), 0);
    attempt([&] { group_.is_root() ? open_others(offers) : open_board(board); });
    if (mpi::min(group_, std::int64_t{refusal_.empty()}) == 0) return {};
    own_.close();
    board_memory_.close();
    for (auto& other : others_) other.close();
    auto* const place = board_memory_.bytes().data();
    return LeaderGroup{.own = std::move(own_),
                       .board_memory = std::move(board_memory_),
                       .jobs = *jobs_,
                       .board = std::launder(reinterpret_cast<LeaderBoard*>(place)),
                       .others = std::move(others_),
                       .members = std::move(members_)};
  }

  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

 private:
  template <class Action>
  void attempt(const Action& action) {
    try {
      action();
    } catch (...) {
      if (refusal_.empty()) refusal_ = describe_current_exception().message;
    }
  }

  void create() {
    own_ = SharedRegion::create(SharedJobs::bytes_for(shape_));
    jobs_ = SharedJobs::create(own_.bytes(), shape_);
    if (!group_.is_root()) return;
    board_memory_ = SharedRegion::create(sizeof(LeaderBoard));
    new (board_memory_.bytes().data()) LeaderBoard(getpid());
  }

  SharedRegion::Handle share_board() {
    std::vector<SharedRegion::Handle> handle(1);
    if (group_.is_root()) attempt([&] { handle[0] = board_memory_.handle(); });
    mpi::broadcast(group_, handle, 0);
    return handle[0];
  }

  std::vector<std::byte> offer() {
    std::vector<std::byte> message;
    attempt([&] {
      Packer packer;
      packer.put(Offer{.memory = own_.handle(),
                       .shape = shape_,
                       .source = context_.comm.rank(),
                       .shares = context_.shares.size()});
      for (const auto* share : context_.shares) wire::put(packer, *share);
      message = packer.take();
      if (message.size() > static_cast<std::size_t>(INT_MAX / group_.size()))
        throw Error(ErrorKind::resource, "the lists of places in the file are too long to be passed on");
    });
    return refusal_.empty() ? message : std::vector<std::byte>();
  }

  void open_others(const std::vector<std::vector<std::byte>>& offers) {
    for (std::size_t rank = 0; rank < offers.size(); ++rank) {
      if (offers[rank].empty()) continue;  // it knows why
      Unpacker message(offers[rank]);
      const auto offer = message.get<Offer>();
      if (rank > 0) others_.push_back(SharedRegion::open(offer.memory));
      const auto memory = rank == 0 ? own_.bytes() : others_.back().bytes();
      std::vector<Share> shares(offer.shares);
      for (auto& share : shares) wire::get(message, share);
      members_.push_back({.source = offer.source,
                          .jobs = SharedJobs::attach(memory, offer.shape),
                          .shares = std::move(shares)});
    }
  }

  void open_board(const SharedRegion::Handle& handle) {
    if (handle.descriptor >= 0) board_memory_ = SharedRegion::open(handle);  // otherwise the leader knows why
  }

  const WriterContext& context_;
  mpi::CommView group_;
  SharedJobsShape shape_;
  std::string refusal_;
  SharedRegion own_, board_memory_;
  std::optional<SharedJobs> jobs_;
  std::vector<SharedRegion> others_;
  std::vector<GroupMember> members_;
};

/// Informs the root, which informs the user, who writes on threads of their own and why. @collective{comm}
void report_alone(const WriterContext& context, int largest_group, bool refused, const std::string& reason) {
  const auto ranks = mpi::sum(context.comm, std::int64_t{refused});
  const auto reasons = mpi::gather(context.comm, reason, 0);
  if (!context.comm.is_root()) return;
  const auto first = std::find_if(reasons.begin(), reasons.end(), [](const auto& r) { return !r.empty(); });
  if (ranks > 0)
    context.warning = fmt::format("--write leaders: {} of {} ranks write on threads of their own: {}", ranks,
                                  context.comm.size(), first != reasons.end() ? *first : "no shared memory");
  else if (largest_group == 1 && context.options.group != 1)
    context.warning =
        "--write leaders: no rank shares a node with another one, so each writes on a thread of its own";
}

}  // namespace

std::optional<LeaderGroup> join_leader_group(const WriterContext& context) {
  const mpi::Node node(context.comm);
  const mpi::CommView ranks = node.comm();
  const int most = context.options.group == 0 ? ranks.size() : context.options.group;
  const mpi::Comm group = mpi::Comm::split(ranks, ranks.rank() / most);
  const int size = group.view().size();
  Joining joining(context, group);
  std::optional<LeaderGroup> joined;
  if (size > 1) joined = joining.join();
  const auto largest = static_cast<int>(mpi::max(context.comm, std::int64_t{size}));
  report_alone(context, largest, size > 1 && !joined, joining.refusal());
  return joined;
}

}  // namespace tailrace::output
