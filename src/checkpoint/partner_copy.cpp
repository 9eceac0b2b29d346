// SPDX-License-Identifier: BSD-3-Clause
#include "partner_copy.hpp"

#include <algorithm>
#include <exception>

#include "base/files.hpp"
#include "manifest.hpp"
#include "mpi/message.hpp"
#include "output/core/raw_file.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr int tag_description = 1, tag_data = 2;

std::size_t batch_of(std::int64_t left) noexcept {
  return static_cast<std::size_t>(std::min(left, batch_bytes));
}

/// The ranks of a node in the table of all, ascending.
std::vector<int> ranks_of(const std::vector<std::int64_t>& node_of, std::int64_t node) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < node_of.size(); ++rank)
    if (node_of[rank] == node) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

}  // namespace

Partners find_partners(mpi::CommView comm, const mpi::Node& node) {
  const bool leads = node.comm().is_root();
  Partners partners{.nodes = mpi::sum(comm, std::int64_t{leads})};
  partners.node = mpi::exclusive_scan(comm, std::int64_t{leads});
  partners.node = mpi::max(node.comm(), leads ? partners.node : -1);
  std::vector<std::int64_t> node_of(static_cast<std::size_t>(comm.size()));
  node_of[static_cast<std::size_t>(comm.rank())] = partners.node;
  node_of = mpi::sum(comm, node_of);
  if (partners.nodes == 1) return partners;
  const auto next = ranks_of(node_of, (partners.node + 1) % partners.nodes),
             before = ranks_of(node_of, (partners.node + partners.nodes - 1) % partners.nodes);
  const auto mine = static_cast<std::size_t>(node.comm().rank()),
             here = static_cast<std::size_t>(node.comm().size());
  partners.to = next[mine % next.size()];
  for (std::size_t i = 0; i < before.size(); ++i) partners.copies_here += i % here == mine ? 1 : 0;
  return partners;
}

/// This rank's part: its description, then its data.
class PartnerCopy::Outgoing {
 public:
  Outgoing(mpi::CommView comm, int to, const PartFile& own, const Part& part)
      : comm_(comm), to_(to), text_(to_text(part)), file_(own.data, remedy), left_(part.bytes) {
    request_[0] = mpi::start_send(comm_, std::as_bytes(std::span(text_)), to_, tag_description);
  }
  ~Outgoing() { mpi::abandon({}, request_); }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  /// Returns whether anything could be done.
  bool advance() {
    if (done_ || !mpi::test_all(request_)) return false;
    if (left_ == 0) return done_ = true;
    batch_.resize(batch_of(left_));
    try {
      file_.read(file_.size_bytes() - left_, batch_);
    } catch (...) {  // the partner waits for the rest nevertheless
      if (!failure_) failure_ = std::current_exception();
    }
    left_ -= static_cast<std::int64_t>(batch_.size());
    request_[0] = mpi::start_send(comm_, batch_, to_, tag_data);
    return true;
  }
  [[nodiscard]] bool done() const noexcept { return done_; }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  mpi::CommView comm_;
  int to_;
  std::string text_;
  InputFile file_;
  std::int64_t left_;
  std::vector<std::byte> batch_;
  mpi::Request request_[1] = {mpi::Request::none};
  bool done_ = false;
  std::exception_ptr failure_;
};

/// The part of another rank. A failure to keep it does not end its messages.
class PartnerCopy::Incoming {
 public:
  Incoming(mpi::CommView comm, int from, std::string text, const std::string& node_directory)
      : comm_(comm), from_(from), text_(std::move(text)) {
    const auto part = part_of("the description of a partner's part", text_);
    place_ = part_file(node_directory, part.origin.step, part.rank);
    step_ = part.origin.step;
    left_ = part.bytes;
    keep([&] {
      begin_part(place_);
      file_ = std::make_unique<output::RawFile>(place_.data, output::make_plain_call());
    });
  }
  ~Incoming() { mpi::abandon(request_, {}); }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  bool advance() {
    if (done_ || !mpi::test_all(request_)) return false;
    if (!batch_.empty()) keep([&] { write_batch(); });
    if (left_ == 0) return done_ = true;
    batch_.resize(batch_of(left_));
    left_ -= static_cast<std::int64_t>(batch_.size());
    request_[0] = mpi::start_receive(comm_, batch_, from_, tag_data);
    return true;
  }
  [[nodiscard]] bool done() const noexcept { return done_; }
  void flush() {
    if (failure_) std::rethrow_exception(failure_);
    file_->flush();
    file_->close();
  }
  void describe() const { write_durably(place_.description, text_); }

 private:
  void write_batch() {
    iovec buffer{batch_.data(), batch_.size()};
    file_->write(std::span(&buffer, 1), written_, step_);
    written_ += static_cast<std::int64_t>(batch_.size());
  }
  template <class Action>
  void keep(const Action& action) {
    if (failure_) return;
    try {
      action();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  mpi::CommView comm_;
  int from_;
  std::string text_;
  PartFile place_;
  StepIndex step_ = 0;
  std::int64_t left_ = 0, written_ = 0;  ///< not asked for yet; in the file
  std::unique_ptr<output::RawFile> file_;
  std::vector<std::byte> batch_;
  mpi::Request request_[1] = {mpi::Request::none};
  bool done_ = false;
  std::exception_ptr failure_;
};

PartnerCopy::PartnerCopy(mpi::CommView comm, const Partners& partners, const std::string& node_directory,
                         const PartFile& own, const Part& part)
    : comm_(comm), node_directory_(node_directory), expected_(partners.copies_here) {
  if (partners.to >= 0) outgoing_ = std::make_unique<Outgoing>(comm_, partners.to, own, part);
}

PartnerCopy::~PartnerCopy() = default;

bool PartnerCopy::take_arrivals() {
  if (static_cast<int>(incoming_.size()) == expected_) return false;
  const auto arrival = mpi::find_arrival(comm_, tag_description);
  if (!arrival) return false;
  const auto bytes = mpi::receive(*arrival);
  std::string text(bytes.size(), ' ');
  std::transform(bytes.begin(), bytes.end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
  incoming_.push_back(std::make_unique<Incoming>(comm_, arrival->source, std::move(text), node_directory_));
  return true;
}

bool PartnerCopy::progress() {
  for (bool moved = true; moved;) {
    moved = take_arrivals();
    if (outgoing_) moved = outgoing_->advance() || moved;
    for (const auto& part : incoming_) moved = part->advance() || moved;
  }
  return (!outgoing_ || outgoing_->done()) && static_cast<int>(incoming_.size()) == expected_ &&
         std::all_of(incoming_.begin(), incoming_.end(), [](const auto& part) { return part->done(); });
}

void PartnerCopy::flush() {
  if (outgoing_) outgoing_->rethrow();
  for (const auto& part : incoming_) part->flush();
}

void PartnerCopy::describe() const {
  for (const auto& part : incoming_) part->describe();
}

}  // namespace tailrace::checkpoint
