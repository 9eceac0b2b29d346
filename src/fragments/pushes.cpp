// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/pushes.hpp"

#include <algorithm>

namespace tailrace::fragments {

Pushes::Pushes(Mail& mail, const Placement& placement, const Store& store, Take take, Request request,
               std::function<void(const Name&, const Origin&)> used)
    : mail_(&mail),
      placement_(&placement),
      store_(&store),
      take_(std::move(take)),
      request_(std::move(request)),
      used_(std::move(used)) {
  mail.handle(push_message, [this](MessageReader& in) {
    const auto name = Mail::read<Name>(in);
    push_here(name, Mail::read<Name>(in));
  });
  mail.handle(pushed_message, [this](MessageReader& in) {
    auto label = Mail::read<Id>(in);
    const auto name = Mail::read<Name>(in);
    auto value = Mail::read<Value>(in);
    arrive({std::move(label), name.id}, name, {std::move(value), Mail::read<bool>(in)});
  });
  mail.handle(use_message, [this](MessageReader& in) {
    const auto name = Mail::read<Name>(in);
    used_(name, Mail::read<Origin>(in));
  });
}

void Pushes::join(Effects& effects) {
  std::erase_if(effects.pushes, [&](const std::pair<Name, Name>& push) {
    const auto is_pushed = [&](const auto& of) { return of.name.id == push.first.id; };
    const auto post = std::ranges::find_if(effects.posts, is_pushed);
    if (post == effects.posts.end() || std::ranges::any_of(effects.deletes, is_pushed)) return false;
    post->pushes.push_back(push.second);
    return true;
  });
}

void Pushes::push(const Name& name, const Name& label) {
  if (const int home = placement_->home_of(name); home != mail_->rank())
    mail_->send(home, push_message, name, label);
  else
    push_here(name, label);
}

/// What is no longer there is sent to nobody: who waits for it asks, and has the verdict of all who do.
void Pushes::push_here(const Name& name, const Name& label) {
  const auto* const stored = store_->find(name.id);
  if (stored == nullptr || stored->state == Stored::State::expected) return early_[name.id].push_back(label);
  if (stored->state != Stored::State::live) return;
  const bool counted = stored->uses >= 0;
  if (const int rank = placement_->home_of(label); rank != mail_->rank())
    mail_->send(rank, pushed_message, label.id, name, stored->value, counted);
  else
    arrive({label.id, name.id}, name, {stored->value, counted});
}

void Pushes::written(const Name& name, const std::vector<Name>& labels) {
  for (const auto& label : labels) push_here(name, label);
  if (early_.empty()) return;
  if (const auto early = early_.extract(name.id))
    for (const auto& label : early.mapped()) push_here(name, label);
}

Pushes::Expected Pushes::expected_by(const Task& task) const {
  const auto& resolution = *task.resolution;
  const bool here = task.fragment.statement->awaits && resolution.label &&
                    placement_->home_of(*resolution.label) == mail_->rank();
  return here ? Expected{resolution.label->id, resolution.awaited} : Expected();
}

bool Pushes::await(const Expected& expected, const Name& name, const Task& task) {
  if (std::ranges::none_of(expected.names, [&](const Name& one) { return one.id == name.id; })) return false;
  const Origin reader{task.fragment.statement, task.fragment.frame->call};
  const Key key{expected.label, name.id};
  if (auto kept = kept_.extract(key)) {
    auto& pushed = kept.mapped();
    live_bytes_ -= static_cast<std::int64_t>(pushed.value.bytes().size());
    if (pushed.counted) use(name, reader);
    take_(task.number, name.id, std::move(pushed.value));
    return true;
  }
  awaiting_[key].push_back({name, task.number, reader});
  ++awaited_count_;
  return true;
}

void Pushes::arrive(const Key& key, const Name& name, Pushed pushed) {
  if (const auto awaiting = awaiting_.extract(key)) {
    awaited_count_ -= awaiting.mapped().size();
    for (const auto& fragment : awaiting.mapped()) {
      if (pushed.counted) use(name, fragment.reader);
      take_(fragment.token, name.id, pushed.value);
    }
    return;
  }
  auto& kept = kept_[key];
  live_bytes_ += static_cast<std::int64_t>(pushed.value.bytes().size()) -
                 static_cast<std::int64_t>(kept.value.bytes().size());
  kept = std::move(pushed);
}

void Pushes::use(const Name& name, const Origin& reader) {
  if (const int home = placement_->home_of(name); home != mail_->rank())
    mail_->send(home, use_message, name, reader);
  else
    used_(name, reader);
}

void Pushes::give_up() {
  const auto all = std::exchange(awaiting_, {});
  awaited_count_ = 0;
  for (const auto& [key, fragments] : all)
    for (const auto& fragment : fragments) request_(fragment.name, {mail_->rank(), fragment.token});
}

}  // namespace tailrace::fragments
