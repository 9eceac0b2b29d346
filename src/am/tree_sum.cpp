// SPDX-License-Identifier: BSD-3-Clause
#include "am/tree_sum.hpp"

#include "am/endpoint.hpp"

namespace tailrace::am {

TreeSum::TreeSum(Endpoint& endpoint, int module) : endpoint_(&endpoint), module_(module) {
  endpoint.set_handler(module, Lane::control, [this](Message& message) { receive(message); });
}

int TreeSum::children() const noexcept {
  const int first = 2 * endpoint_->rank() + 1;
  return (first < endpoint_->size() ? 1 : 0) + (first + 1 < endpoint_->size() ? 1 : 0);
}

void TreeSum::start(const Values& mine) {
  started_ = true;
  for (std::size_t i = 0; i < count; ++i) sum_[i] += mine[i];
  ++contributions_;
  send_up_if_whole();
}

void TreeSum::receive(const Message& message) {
  const auto values = value_at<Values>(message.body());
  if (message.source() < endpoint_->rank()) return send_down(values);
  for (std::size_t i = 0; i < count; ++i) sum_[i] += values[i];
  has_contributed_[static_cast<std::size_t>(message.source() - 2 * endpoint_->rank() - 1)] = true;
  ++contributions_;
  send_up_if_whole();
}

std::vector<int> TreeSum::missing() const {
  if (complete()) return {};
  if (contributions_ == 0) return {(endpoint_->rank() - 1) / 2};  // it has been sent up
  std::vector<int> ranks;
  for (int child = 0; child < children(); ++child)
    if (!has_contributed_[static_cast<std::size_t>(child)])
      ranks.push_back(2 * endpoint_->rank() + 1 + child);
  return ranks;
}

void TreeSum::send_up_if_whole() {
  if (contributions_ < children() + 1) return;
  const Values whole = std::exchange(sum_, {});
  contributions_ = 0;
  has_contributed_ = {};
  if (endpoint_->rank() == 0)
    send_down(whole);
  else
    send((endpoint_->rank() - 1) / 2, whole);
}

void TreeSum::send_down(const Values& sum) {
  const int first = 2 * endpoint_->rank() + 1;
  for (int child = first; child < first + children(); ++child) send(child, sum);
  result_ = sum;
  started_ = false;
}

void TreeSum::send(int to, const Values& values) {
  endpoint_->send(to, module_, {.body = std::as_bytes(std::span(values))});
}

Termination::Termination(Endpoint& endpoint) : endpoint_(&endpoint) {}

void Termination::look_at_sum() {
  const TreeSum& sums = endpoint_->sums();
  if (!under_way_ || !sums.complete()) return;
  under_way_ = false;
  const auto [sent, handled, held, noted] = sums.result();
  reached_ = sent == handled && sent == last_;
  last_ = sent == handled ? sent : -1;
  held_ = held, noted_ = noted;
}

bool Termination::reached(bool passive, std::int64_t held, std::int64_t noted) {
  // A sum of one rank is complete at once: who waits for a message then would wait in vain. With several
  // ranks the caller has a turn between two sums, so that what it does without a message, such as to ask
  // others for work, is in the second.
  const int most = endpoint_->size() == 1 ? 2 : 1;
  for (int sums = 0;; ++sums) {
    look_at_sum();
    if (reached_ || !passive || under_way_ || sums == most) return reached_;
    under_way_ = true;
    ++waves_;
    endpoint_->sums().start({endpoint_->messages_sent(), endpoint_->messages_handled(), held, noted});
  }
}

}  // namespace tailrace::am
