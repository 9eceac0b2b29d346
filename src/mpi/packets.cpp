#include "mpi/packets.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <span>

#include "base/system.hpp"
#include "mpi/message.hpp"

namespace tailrace::mpi {

namespace {

constexpr int parcel_tag = 0x7061;
constexpr std::size_t piece_bytes = 1U << 30;  // MPI 3.1 counts are int

/// What has come so far, in pieces, by rank.
class Inbox {
 public:
  explicit Inbox(CommView comm) : comm_(comm) {}

  /// Starts to receive what has arrived; whether there was something. @local
  bool look() {
    const auto arrival = find_arrival(comm_, parcel_tag);
    if (!arrival) return false;
    auto& piece = pieces_[arrival->source].emplace_back(static_cast<std::size_t>(arrival->bytes));
    requests_.push_back(start_receive(*arrival, piece));
    return true;
  }

  /// The parcels, after all of them have arrived. @local, waits for the rest of their bytes.
  std::vector<Parcel<>> finish() {
    wait_all(requests_);
    std::vector<Parcel<>> parcels;
    for (auto& [rank, pieces] : pieces_) {
      Parcel<> parcel{rank, std::move(pieces.front())};
      for (auto piece = std::next(pieces.begin()); piece != pieces.end(); ++piece)
        parcel.values.insert(parcel.values.end(), piece->begin(), piece->end());
      parcels.push_back(std::move(parcel));
    }
    return parcels;
  }

 private:
  CommView comm_;
  std::map<int, std::list<std::vector<std::byte>>> pieces_;
  std::vector<MPI_Request> requests_;
};

/// Starts messages that are complete when the receivers have found them.
std::vector<MPI_Request> send_all(CommView comm, const std::vector<Parcel<>>& parcels) {
  std::vector<MPI_Request> requests;
  for (const Parcel<>& parcel : parcels)
    for (std::size_t done = 0; done < parcel.values.size(); done += piece_bytes) {
      const auto piece = std::span(parcel.values).subspan(done);
      requests.push_back(start_patient_send(comm, piece.first(std::min(piece.size(), piece_bytes)),
                                            parcel.rank, parcel_tag));
    }
  return requests;
}

/// Receives until all that anybody sent has been found. @collective
void receive_all(CommView comm, Inbox& inbox, std::vector<MPI_Request>& sends) {
  MPI_Request all_found = MPI_REQUEST_NULL;
  bool found_mine = false;
  Backoff backoff;
  for (;;) {
    if (inbox.look()) continue;
    if (!found_mine && test_all(sends)) {
      found_mine = true;
      check(MPI_Ibarrier(comm.get(), &all_found), "MPI_Ibarrier");
    }
    if (found_mine && test_all({&all_found, 1})) return;
    backoff.pause();
  }
}

}  // namespace

std::vector<Parcel<>> deliver(CommView comm, const std::vector<Parcel<>>& outgoing) {
  // Nobody sends before all have found what the call before this one sent.
  barrier(comm);
  Inbox inbox(comm);
  auto sends = send_all(comm, outgoing);
  receive_all(comm, inbox, sends);
  return inbox.finish();
}

}  // namespace tailrace::mpi
