// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/system.hpp"
#include "fragments/mail.hpp"

namespace tailrace::fragments {

/// What a rank has to do and has done.
struct Work {
  std::int64_t queued = 0;    ///< fragments that are ready, at work or not looked at
  std::int64_t executed = 0;  ///< in all
};

/// Moves fragments from ranks that have much to do to neighbours that have less (`--balance diffuse`). Load
/// is the time that a rank needs for the fragments that it has, by the wall time that it took for each of the
/// last ones, which has the runtime's own work in it. Ranks report their load to neighbours of a torus when
/// it has changed, so that an idle job sends nothing.
class Diffusion {
 public:
  using Give = std::function<std::vector<Fragment>(std::size_t most)>;
  using Take = std::function<void(std::vector<Fragment>)>;

  /// Sets handlers. `give` returns at most so many fragments that this rank can spare. @local
  Diffusion(Mail& mail, Give give, Take take) : mail_(&mail), give_(std::move(give)), last_s_(monotonic_s()) {
    for (const int rank : neighbours_of(mail.rank(), mail.size())) neighbours_[rank];
    mail.handle(load_message, [this](MessageReader& in) {
      auto& neighbour = neighbours_[Mail::read<std::int32_t>(in)];
      in >> neighbour.load_s >> neighbour.each_s;
      spread();
    });
    mail.handle(given_message,
                [take = std::move(take)](MessageReader& in) { take(Mail::read<std::vector<Fragment>>(in)); });
  }
  Diffusion(const Diffusion&) = delete;
  Diffusion& operator=(const Diffusion&) = delete;

  /// The neighbours of a rank on a torus that is as square as the number of ranks allows.
  static std::vector<int> neighbours_of(int rank, int size) {
    int width = 1;
    for (int divisor = 1; divisor * divisor <= size; ++divisor)
      if (size % divisor == 0) width = divisor;
    const int height = size / width, x = rank % width, y = rank / width;
    std::vector<int> ranks{(x + 1) % width + y * width, (x + width - 1) % width + y * width,
                           x + (y + 1) % height * width, x + (y + height - 1) % height * width};
    std::ranges::sort(ranks);
    ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
    std::erase(ranks, rank);
    return ranks;
  }

  /// Looks at what this rank has to do, after each step and whenever there was none. @local, does not wait
  void look(bool worked, const Work& work) {
    constexpr std::uint64_t steps_between = 16;
    if (worked && ++steps_ % steps_between != 0) return;
    measure(worked, work);
    report();
    spread();
  }

 private:
  struct Neighbour {
    double load_s = 0, each_s = 0;  ///< as it said, with what it was given since
    double said_s = 0;              ///< the load that was said to it
  };

  void measure(bool worked, const Work& work) {
    constexpr double weight = 0.25;  // of the last fragments in the mean
    const double now_s = monotonic_s();
    const auto done = work.executed - executed_;
    if (done > 0) {
      const double each_s = (now_s - last_s_) / static_cast<double>(done);
      each_s_ = each_s_ > 0 ? (1 - weight) * each_s_ + weight * each_s : each_s;
    }
    if (done > 0 || !worked) last_s_ = now_s, executed_ = work.executed;
    queued_ = work.queued;
  }
  [[nodiscard]] double load_s() const { return static_cast<double>(queued_) * each_s_; }
  void report() {
    constexpr double change = 0.25, min_between_s = 2e-4;
    const double load = load_s();
    const bool early = last_s_ - said_at_s_ < min_between_s;
    for (auto& [rank, neighbour] : neighbours_) {
      const double differs = std::abs(load - neighbour.said_s);
      const bool emptied = load == 0 && neighbour.said_s > 0;
      if (!emptied && (early || differs <= change * std::max(load, neighbour.said_s) || differs <= each_s_))
        continue;
      neighbour.said_s = load, said_at_s_ = last_s_;
      mail_->send(rank, load_message, std::int32_t{mail_->rank()}, load, each_s_);
    }
  }
  /// Gives each neighbour with less to do its part of the difference.
  void spread() {
    const double share = 2.0 / (static_cast<double>(neighbours_.size()) + 1);
    for (auto& [rank, neighbour] : neighbours_) {
      const double theirs_s = neighbour.each_s > 0 ? neighbour.each_s : each_s_;
      const double count = share * (load_s() - neighbour.load_s) / (each_s_ + theirs_s);
      if (!(count >= 1)) continue;
      const auto fragments = give_(static_cast<std::size_t>(count));
      if (fragments.empty()) return;
      queued_ -= std::ssize(fragments);
      neighbour.load_s += static_cast<double>(fragments.size()) * theirs_s;
      mail_->send(rank, given_message, fragments);
    }
  }

  Mail* mail_;
  Give give_;
  std::map<int, Neighbour> neighbours_;
  std::uint64_t steps_ = 0;
  std::int64_t executed_ = 0, queued_ = 0;
  double last_s_, said_at_s_ = 0, each_s_ = 0;
};

}  // namespace tailrace::fragments
