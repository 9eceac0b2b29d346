#include "output/sinks/hdf5_chunked/post.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "mpi/message.hpp"

namespace tailrace::output {

namespace {

constexpr int file_rank = 0;
constexpr std::size_t most_flights = 16;
constexpr int end_tag = 0;  // of the empty message behind a rank's last parcel
constexpr std::int64_t no_more_parts = std::numeric_limits<std::int64_t>::max();

/// Parts that are under way at the same time have different tags.
int tag_of(std::int64_t part) noexcept {
  constexpr std::int64_t tags = 32'000;  // MPI has at least 32767
  return static_cast<int>(1 + part % tags);
}

bool is_complete(ParcelFlight& flight) {
  return mpi::test_all(std::span(&flight.request, 1));
}

/// Leaves messages that are under way, while an error ends the program, and their memory to MPI.
void leave(std::deque<ParcelFlight>& flights) {
  if (!flights.empty())
    static_cast<void>(new std::deque<ParcelFlight>(std::move(flights)));  // NOLINT: lost on purpose
}

}  // namespace

ParcelSender::~ParcelSender() {
  leave(flights_);
}

void ParcelSender::progress() {
  std::erase_if(flights_, [this](ParcelFlight& flight) {
    if (!is_complete(flight)) return false;
    outbox_.release(flight.parcel.bytes());
    return true;
  });
  while (flights_.size() < most_flights) {
    auto parcel = outbox_.try_take();
    if (!parcel) break;
    ParcelFlight& flight = flights_.emplace_back(ParcelFlight{std::move(*parcel)});
    flight.request =
        mpi::start_patient_send(comm_, flight.parcel.message, file_rank, tag_of(flight.parcel.part));
    if (flight.parcel.head().kind == ParcelKind::record) ++sent_parts_;
  }
  if (!ending_ || told_ || !flights_.empty()) return;
  told_ = true;
  ParcelFlight& flight = flights_.emplace_back();
  flight.request = mpi::start_patient_send(comm_, {}, file_rank, end_tag);
}

ParcelReceiver::ParcelReceiver(mpi::CommView comm, ParcelQueue& inbox)
    : comm_(comm), inbox_(inbox), parts_(static_cast<std::size_t>(comm.size()), 0) {
  parts_[file_rank] = no_more_parts;
}

ParcelReceiver::~ParcelReceiver() {
  leave(flights_);
}

void ParcelReceiver::progress(std::int64_t last_part) {
  if (all_ended()) return;
  match(end_tag);
  if (taking_part_ <= last_part) match(tag_of(taking_part_));
  deliver();
}

void ParcelReceiver::match(int tag) {
  while (flights_.size() < most_flights) {
    const auto arrival = mpi::find_arrival(comm_, tag);
    if (!arrival) return;
    ParcelFlight& flight = flights_.emplace_back();
    flight.parcel.message.resize(static_cast<std::size_t>(arrival->bytes));
    flight.parcel.source = arrival->source;
    flight.request = mpi::start_receive(*arrival, flight.parcel.message);
  }
}

void ParcelReceiver::deliver() {
  while (!flights_.empty() && is_complete(flights_.front())) {
    Parcel& parcel = flights_.front().parcel;
    if (!inbox_.reserve(parcel.bytes())) return;
    note(parcel);
    inbox_.put(std::move(parcel));
    flights_.pop_front();
  }
}

void ParcelReceiver::note(const Parcel& parcel) {
  std::int64_t& parts = parts_[static_cast<std::size_t>(parcel.source)];
  if (parcel.message.empty()) {
    parts = no_more_parts;
    ++ended_;
  } else if (parcel.head().kind == ParcelKind::record) {
    ++parts;
  }
  while (!all_ended() && *std::min_element(parts_.begin(), parts_.end()) >= taking_part_) ++taking_part_;
}

}  // namespace tailrace::output
