// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/interpreter.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "fragments/diagnosis.hpp"
#include "fragments/machine.hpp"
#include "fragments/use_counts.hpp"

namespace tailrace::fragments {

namespace {

class Interpreter {
 public:
  Interpreter(const std::shared_ptr<const Image>& image, const Bodies& bodies)
      : machine_(image, bodies, {}), store_(*image) {}

  Ending run(const std::vector<std::string>& words) {
    ready_.push_back(machine_.start(words));
    while (!ready_.empty() || !unfolding_.empty()) {
      auto& queue = ready_.empty() ? unfolding_ : ready_;  // what is there runs before loops create more
      auto fragment = std::move(queue.front());
      queue.pop_front();
      step(std::move(fragment));
    }
    return finish();
  }

 private:
  struct Waiting {
    Fragment fragment;
    std::size_t count = 0;  ///< of inputs that are not set
  };

  void step(Fragment fragment) {
    Resolution resolution;
    machine_.resolve(fragment, resolution);
    if (!resolution.ready()) return wait(std::move(fragment), std::move(resolution.missing));
    auto effects = machine_.execute(fragment, resolution);
    if (effects.fault) fail(fragment, *effects.fault);
    if (!effects.fault && !effects.again) ++ending_.executed;
    apply(std::move(effects));
  }

  void fail(const Fragment& fragment, const Fault& fault) {
    failures_.push_back(message_of(machine_.image(), fault, fragment.frame->call));
    failed_.push_back(describe(machine_.image(), fragment, {}));
    failed_.back().failed = true;
  }

  void wait(Fragment fragment, std::vector<Name> missing) {
    const auto token = ++tokens_;
    auto& waiting = waiting_[token];
    for (auto& name : missing) {
      auto value = store_.request(name, {0, token});
      if (!value) ++waiting.count;
      fragment.inputs.push_back({std::move(name), std::move(value).value_or(Value())});
    }
    waiting.fragment = std::move(fragment);
    if (waiting.count == 0) resume(token);
  }
  void resume(std::uint32_t token) {
    ready_.push_back(std::move(waiting_.at(token).fragment));
    waiting_.erase(token);
  }
  void deliver(const Id& id, const std::vector<Delivery>& deliveries) {
    for (const auto& delivery : deliveries) {
      auto& waiting = waiting_.at(delivery.to.token);
      waiting.fragment.set_input(id, delivery.value);
      if (--waiting.count == 0) resume(delivery.to.token);
    }
  }

  void apply(Effects effects) {
    apply_once(effects);
    auto finished = std::move(effects.finished);
    for (std::size_t i = 0; i < finished.size(); ++i) {
      auto next = machine_.child_finished(finished[i]);
      apply_once(next);
      finished.insert(finished.end(), next.finished.begin(), next.finished.end());
    }
  }
  void apply_once(Effects& effects) {
    for (auto& post : effects.posts) write(std::move(post));
    for (const auto& removal : effects.deletes) store_.remove(removal);
    for (const auto& name : effects.ended) store_.end_block(name);
    std::ranges::move(effects.created, std::back_inserter(ready_));
    if (effects.again) {
      auto& queue = effects.again->statement->kind == Kind::loop ? unfolding_ : ready_;
      queue.push_back(std::move(*effects.again));
    }
  }
  void write(Post post) {
    std::vector<Delivery> deliveries;
    if (const auto* const earlier = store_.post(post, deliveries))
      failures_.push_back(written_twice(machine_.image(), *earlier, post));
    deliver(post.name.id, deliveries);
  }

  Ending finish() {
    const auto& image = machine_.image();
    Situation situation;
    for (const auto& [token, waiting] : waiting_)
      situation.stuck.push_back(describe(image, waiting.fragment, waiting.fragment.missing()));
    add_groups(image, machine_.groups(), situation.stuck);
    situation.stuck.insert(situation.stuck.end(), failed_.begin(), failed_.end());
    add_knowledge(image, store_, missing_of(situation.stuck), situation);
    std::vector<Written> writers;
    add_writers(image, store_, about(failures_), writers);
    add_writers(image, writers, failures_);
    ending_.waiting = static_cast<std::int64_t>(waiting_.size());
    ending_.left_count = store_.live_count(), ending_.left_bytes = store_.live_bytes();
    ending_.errors = texts_of(image, verdict(image, situation), std::move(failures_));
    if (ending_.errors.empty()) ending_.notes = notes_of(image, unused_counts(image, store_));
    return std::move(ending_);
  }

  Machine machine_;
  Store store_;
  std::deque<Fragment> ready_, unfolding_;
  std::map<std::uint32_t, Waiting> waiting_;
  std::uint32_t tokens_ = 0;
  std::vector<Message> failures_;
  std::vector<Stuck> failed_;
  Ending ending_;
};

}  // namespace

Ending interpret(const std::shared_ptr<const Image>& image, const Bodies& bodies,
                 const std::vector<std::string>& words) {
  return Interpreter(image, bodies).run(words);
}

}  // namespace tailrace::fragments
