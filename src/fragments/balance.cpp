// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/balance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "tailrace/error.hpp"
#include "tailrace/fragments/options.hpp"

namespace tailrace::fragments {

std::vector<Fragment> ReadyFragments::spare(double share, std::size_t most, const MoveCosts& costs) {
  constexpr std::ptrdiff_t searched = 64;
  std::vector<Fragment> spared;
  const auto moves = [&](const Task* task) {
    return task->fragment.may_move() && costs.pays(task->fragment);
  };
  const auto end = bodies.end(), first = end - std::min(searched, std::ssize(bodies));
  const auto movable = std::count_if(first, end, moves);
  auto left = std::min(static_cast<std::size_t>(share * static_cast<double>(movable)), most);
  for (auto at = bodies.size(); at-- > 0 && left > 0;)
    if (moves(bodies[at])) move(spared, bodies, at), --left;
  if (spared.empty() && unfolding.size() > 1 && unfolding.back()->fragment.may_move())
    move(spared, unfolding, unfolding.size() - 1);
  return spared;
}

void ReadyFragments::move(std::vector<Fragment>& spared, std::deque<Task*>& queue, std::size_t at) {
  auto& task = *queue[at];
  foreign_bytes -= task.fragment.foreign_bytes;
  recording.forwarded(task.fragment, -1);
  spared.push_back(std::move(task.fragment));
  ++spared.back().moves;
  tasks.end(task);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
}

Balance::Balance(Mail& mail, const std::string& way, ReadyFragments ready, Take take)
    : ready_(ready), take_(std::move(take)) {
  if (std::ranges::find(balance_words, way) == balance_words.end())
    throw Error(ErrorKind::usage, fmt::format("balance '{}' is not known", way),
                fmt::format("give one of {}", fmt::join(balance_words, ", ")));
  if (mail.size() == 1) return;
  if (way == "steal" || way == "auto")
    stealing_.emplace(
        mail, [this] { return ready_.spare(0.5, std::numeric_limits<std::size_t>::max(), costs_); }, take_);
  if (way == "diffuse" || way == "auto")
    diffusion_.emplace(
        mail, [this](std::size_t most) { return ready_.spare(1, most, costs_); }, take_);
}

void Balance::look(bool worked, bool idle, const Work& work) {
  if (diffusion_) diffusion_->look(worked, work);
  if (!stealing_) return;
  if (worked)
    stealing_->worked();
  else if (idle)
    stealing_->ask();
}

}  // namespace tailrace::fragments
