// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/system.hpp"
#include "fragments/body_watch.hpp"
#include "fragments/machine.hpp"

/// What fragments do once they have all that they need.
namespace tailrace::fragments {

Effects Machine::execute(Fragment fragment, Resolution& resolution) {
  if (fragment.runs_body()) {
    fragment.release_inputs();
    return run_body(fragment, resolution);
  }
  Effects effects;
  effects.fault = std::move(resolution.fault);
  if (!effects.fault) unfold(std::move(fragment), resolution, effects);
  return effects;
}

Effects Machine::run_body(const Fragment& fragment, Resolution& resolution) const {
  Effects effects;
  if (resolution.fault) {
    effects.fault = std::move(resolution.fault);
    return effects;
  }
  const double began_s = options_.timed ? monotonic_s() : 0;
  effects = call_body(fragment, resolution);
  if (options_.timed) effects.body_s = monotonic_s() - began_s;
  return effects;
}

namespace {

/// The exception that is being handled, as the end of a body.
Fault fault_of_exception(const Fragment& fragment) {
  const auto& name = fragment.statement->callee->name;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {fragment.statement->at, fmt::format("{} failed: there is no memory left", name), "", {}};
  } catch (const std::exception& error) {
    return {fragment.statement->at, fmt::format("{} failed: {}", name, error.what()), "", {}};
  } catch (...) {
    return {fragment.statement->at, fmt::format("{} threw an exception of an unknown type", name), "", {}};
  }
}

/// The first data fragment that a body writes, or null.
const Name* first_output(const tailrace_call& call) {
  const auto found =
      std::ranges::find_if(call.parameters, [](const auto& parameter) { return parameter.is_output(); });
  return found == call.parameters.end() ? nullptr : found->data;
}

/// By what an execution of a body differs from others of the same statement, as in a loop: data fragments
/// with indices, first those that it writes, or else ints that were computed. Nothing if it has none.
std::string which(const Image& image, const Fragment& fragment, const tailrace_call& call) {
  const auto named = [&](bool output) {
    return std::ranges::find_if(call.parameters, [output](const auto& parameter) {
      const bool indexed = parameter.data != nullptr && !parameter.data->id.indices().empty();
      return indexed && parameter.is_output() == output;
    });
  };
  for (const bool output : {true, false}) {
    const auto found = named(output);
    if (found == call.parameters.end()) continue;
    return fmt::format("{} {}{}", output ? "was to write" : "with", text_of(image, *found->data),
                       name_here(image, fragment, *found->data));
  }
  const auto& arguments = fragment.statement->arguments;
  for (std::size_t i = 0; i < arguments.size() && i < call.parameters.size(); ++i)
    if (call.parameters[i].value.type() == Type::integer && arguments[i].is_computed())
      return "with " + text_of(call.parameters[i].value);
  return {};
}

}  // namespace

Effects Machine::call_body(const Fragment& fragment, Resolution& resolution) const {
  const auto& callee = *fragment.statement->callee;
  tailrace_call call{image_.get(), &callee, {}};
  call.parameters.resize(callee.parameters.size());
  for (std::size_t i = 0; i < call.parameters.size(); ++i) {
    auto& parameter = call.parameters[i];
    parameter.type = callee.parameters[i].type;
    parameter.data = std::get_if<Name>(&resolution.arguments[i]);
    if (resolution.sources[i] != nullptr) parameter.data = resolution.sources[i];
    if (auto* const value = std::get_if<Value>(&resolution.arguments[i])) parameter.value = std::move(*value);
  }
  Effects effects;
  try {
    const BodyAtWork at_work(*image_, fragment, first_output(call));
    bodies_[callee.number](call);
    set_outputs(fragment, resolution, call, effects);
  } catch (const std::bad_alloc&) {
    effects.posts.clear();
    effects.no_memory = true;
    effects.fault = fault_of_exception(fragment);
    effects.fault->note = which(*image_, fragment, call);
  } catch (...) {
    effects.posts.clear();
    effects.fault = fault_of_exception(fragment);
    effects.fault->note = which(*image_, fragment, call);
  }
  if (!effects.fault) conclude(resolution.after, fragment.group, effects);
  return effects;
}

namespace {

/// The number of uses that recommendations give the outputs of a fragment. They may read these outputs.
void count_uses(const Image& image, const Fragment& fragment, std::vector<Post>& posts, Effects& effects) {
  const auto& rules = fragment.statement->rules;
  if (rules.counts.empty()) return;
  std::vector<Input> inputs;
  if (!rules.counts_are_plain) {
    inputs = fragment.inputs;
    for (const auto& post : posts) inputs.push_back({post.name, post.value});
  }
  Evaluation evaluation(image, *fragment.frame, inputs);
  for (std::size_t i = 0; i < rules.counts.size(); ++i) {
    const auto& rule = rules.counts[i];
    const auto name = rule.output < 0 ? evaluation.name(rule.name)
                                      : std::optional(posts[static_cast<std::size_t>(rule.output)].name);
    const auto count = evaluation.evaluate(rule.count);
    if (!name || !evaluation.accept(count)) continue;
    if (count.value.type() != Type::integer || count.value.integer() < 0)
      evaluation.set_fault({rule.at,
                            fmt::format("the use count of {} is {}, it must be an int from 0",
                                        text_of(image, *name), text_of(count.value)),
                            "", "say how many fragments read it, or req_unlimited"});
    for (auto& post : posts)
      if (post.name.id == name->id)
        post.uses = count.value.integer(), post.count_rule = static_cast<std::int32_t>(i);
  }
  if (evaluation.faulty()) effects.fault = evaluation.fault();
}

}  // namespace

void Machine::set_outputs(const Fragment& fragment, Resolution& resolution, tailrace_call& call,
                          Effects& effects) const {
  const Origin origin{fragment.statement, fragment.frame->call};
  effects.posts.reserve(call.parameters.size());
  for (auto& parameter : call.parameters) {
    if (!parameter.is_output()) continue;
    if (!parameter.value.is_set()) {
      effects.fault =
          Fault{fragment.statement->at,
                fmt::format("{} has not set its output {}{}", call.subroutine->name,
                            text_of(*image_, *parameter.data), name_here(*image_, fragment, *parameter.data)),
                "", "set it in the body, whatever the inputs are"};
      break;
    }
    effects.posts.push_back({*parameter.data, std::move(parameter.value), -1, -1, origin});
  }
  if (!effects.fault) {
    std::ranges::move(resolution.after.sets, std::back_inserter(effects.posts));
    resolution.after.sets.clear();
    count_uses(*image_, fragment, effects.posts, effects);
  }
  if (effects.fault) effects.posts.clear();
}

void Machine::conclude(AfterActions& after, const GroupToken& group, Effects& effects) {
  std::ranges::move(after.sets, std::back_inserter(effects.posts));
  std::ranges::move(after.deletes, std::back_inserter(effects.deletes));
  std::ranges::move(after.pushes, std::back_inserter(effects.pushes));
  std::ranges::move(after.ended, std::back_inserter(effects.ended));
  if (group.exists()) effects.finished.push_back(group);
}

Effects Machine::child_finished(const GroupToken& group) {
  Effects effects;
  if (auto closed = groups_.finished(group)) conclude(closed->after, closed->parent, effects);
  return effects;
}

/// The frame of a block that is created, without values.
static Shared<Frame> frame_within(const Statements& block, const Shared<const Frame>& outer) {
  return Frame::make(block.first_slot, block.slots, outer, outer->call);
}

static Shared<Frame> iteration(const Fragment& fragment) {
  auto frame = frame_within(fragment.statement->block, fragment.frame);
  frame->own(fragment.statement->variable) = Value(fragment.next);
  return frame;
}

void Machine::unfold(Fragment fragment, Resolution& resolution, Effects& effects) {
  const auto& statement = *fragment.statement;
  const bool follows = !resolution.after.empty() || fragment.group.exists();
  if (follows && !fragment.inner.exists()) {
    fragment.inner = groups_.open(options_.rank, {&statement, fragment.frame->call}, fragment.group,
                                  std::move(resolution.after));
    groups_.expect(fragment.inner, 1);  // the fragment itself
  }
  if (!fragment.started && (statement.kind == Kind::loop || statement.kind == Kind::repeat)) {
    fragment.started = true, fragment.next = resolution.first, fragment.last = resolution.last;
  }
  if (statement.kind == Kind::execute)
    unfold_call(fragment, resolution, effects);
  else if (statement.kind == Kind::loop)
    unfold_loop(fragment, effects);
  else if (statement.kind == Kind::repeat)
    unfold_repeat(fragment, resolution, effects);
  else if (resolution.holds)
    create(statement.block, frame_within(statement.block, fragment.frame), fragment, effects);
  if (!fragment.inner.exists()) return;
  if (!effects.again && !effects.fault) effects.finished.push_back(fragment.inner);
  if (effects.again) effects.again->inner = fragment.inner;
}

void Machine::unfold_call(const Fragment& fragment, const Resolution& resolution, Effects& effects) {
  const auto& frame = resolution.callee_frame;
  if (frame->call && frame->call->depth >= options_.depth) {
    effects.fault =
        Fault{fragment.statement->at, fmt::format("calls are nested more than {} deep", options_.depth),
              "SEM8", "end the recursion by a condition, or allow deeper calls: --depth"};
    return;
  }
  create(fragment.statement->callee->block, frame->copy(), fragment, effects);
}

void Machine::unfold_loop(Fragment& fragment, Effects& effects) {
  const auto& statement = *fragment.statement;
  const auto count = std::int64_t{fragment.last} - fragment.next + 1;
  std::int64_t left = statement.rules.at_once ? count : std::min<std::int64_t>(count, options_.batch);
  effects.created.reserve(static_cast<std::size_t>(std::max<std::int64_t>(left, 0)) *
                          statement.block.statements.size());
  for (; fragment.next <= fragment.last && left > 0; --left) {
    create(statement.block, iteration(fragment), fragment, effects);
    if (fragment.next == fragment.last) return;  // it may be the largest int
    ++fragment.next;
  }
  if (fragment.next <= fragment.last) effects.again = fragment;
}

void Machine::unfold_repeat(Fragment& fragment, const Resolution& resolution, Effects& effects) {
  const auto& statement = *fragment.statement;
  if (!resolution.holds) {
    effects.posts.push_back(
        {*resolution.out, Value(fragment.next), -1, -1, {&statement, fragment.frame->call}});
    count_uses(*image_, fragment, effects.posts, effects);
    if (effects.fault) effects.posts.clear();
    return;
  }
  create(statement.block, iteration(fragment), fragment, effects);
  if (__builtin_add_overflow(fragment.next, 1, &fragment.next)) {
    effects.fault = Fault{statement.at, "the variable of this loop is beyond the range of int", "",
                          "end the loop by its condition"};
    return;
  }
  effects.again = fragment;
  auto& inputs = effects.again->inputs;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (i < resolution.used.size() && resolution.used[i] && kept++ != i)
      inputs[kept - 1] = std::move(inputs[i]);
  inputs.resize(kept);
}

Shared<const Home> Machine::home_of(const Declaration& declaration, const Frame& frame) const {
  if (declaration.home < 0) return {};
  auto home = Shared<Home>::make();
  home->rule = static_cast<std::uint32_t>(declaration.home);
  for (const auto slot : image_->homes[home->rule].captured)
    home->captured.push_back(std::get<Value>(frame[slot]));
  return home;
}

/// The group that the fragments of a block belong to: that of the fragment that creates them, or one of the
/// block's own, so that its data fragments can go when all of them have run.
GroupToken Machine::group_of(const Statements& block, const Frame& frame, const Fragment& by) {
  const auto count = static_cast<std::int64_t>(block.statements.size());
  const bool own = !block.ended.empty() && count > 0;
  if (by.inner.exists()) groups_.expect(by.inner, own ? 1 : count);
  if (!own) return by.inner;
  AfterActions after;
  for (const auto number : block.ended)
    after.ended.push_back(std::get<Name>(frame[image_->declarations[number].slot]));
  const auto token = groups_.open(options_.rank, {by.statement, frame.call}, by.inner, std::move(after));
  groups_.expect(token, count);
  return token;
}

void Machine::create(const Statements& block, Shared<Frame> frame, const Fragment& by, Effects& effects) {
  for (const auto number : block.declarations) {
    const auto& declaration = image_->declarations[number];
    frame->own(declaration.slot) = Name{Id(options_.rank, ++names_), number, home_of(declaration, *frame)};
  }
  const auto group = group_of(block, *frame, by);
  for (const auto* statement : block.statements) {
    auto& fragment = effects.created.emplace_back();
    fragment.statement = statement;
    fragment.frame = frame;
    fragment.group = group;
  }
}

}  // namespace tailrace::fragments
