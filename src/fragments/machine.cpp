// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

/// The bodies of all external subroutines, by number.
static std::vector<Body> bind_bodies(const Image& image, const Bodies& bodies) {
  std::vector<Body> bound(image.subroutines.size());
  Problems problems(image.name);
  for (const auto& [name, subroutine] : image.subroutines) {
    if (!subroutine.external) continue;
    if (const auto found = bodies.find(subroutine.code); found != bodies.end())
      bound[subroutine.number] = found->second;
    else
      problems.add(fmt::format("the body '{}' of {} is not there", subroutine.code, name));
  }
  problems.throw_if_any();
  return bound;
}

Machine::Machine(std::shared_ptr<const Image> image, const Bodies& bodies, const MachineOptions& options)
    : image_(std::move(image)), bodies_(bind_bodies(*image_, bodies)), options_(options) {}

namespace {

const char* type_word(ParameterType type) {
  return type == ParameterType::integer ? "int" : type == ParameterType::real ? "real" : "string";
}

/// What a word for a parameter of main may be.
const char* fix_of(ParameterType type) {
  return type == ParameterType::integer ? "a whole number from -2147483648 to 2147483647"
                                        : "a number such as 1.5 or 1e-3";
}

std::vector<Slot> parse_words(const Subroutine& main, const std::vector<std::string>& words) {
  if (words.size() != main.parameters.size()) {
    std::vector<std::string> wanted;
    for (const auto& parameter : main.parameters)
      wanted.push_back(fmt::format("{} {}", type_word(parameter.type), parameter.id));
    throw Error(
        ErrorKind::usage,
        fmt::format("{} takes {} argument{}{}, got {}", main.name, wanted.size(),
                    wanted.size() == 1 ? "" : "s",
                    wanted.empty() ? "" : fmt::format(" ({})", fmt::join(wanted, ", ")), words.size()));
  }
  Problems problems(main.name);
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto value = parse_word(words[i], main.parameters[i].type);
    if (!value)
      problems.add(fmt::format("{}: '{}' is no {}. Fix: {}", main.parameters[i].id, words[i],
                               type_word(main.parameters[i].type), fix_of(main.parameters[i].type)));
    slots.emplace_back(value.value_or(Value()));
  }
  problems.throw_if_any(ErrorKind::usage);
  return slots;
}

}  // namespace

Fragment Machine::start(const std::vector<std::string>& words) {
  for (const auto& parameter : image_->main->parameters)
    if (parameter.type >= ParameterType::value)
      throw Error(ErrorKind::input, fmt::format("the parameter {} of {} is no int, real or string",
                                                parameter.id, image_->main->name));
  auto slots = parse_words(*image_->main, words);
  auto frame = Frame::make(0, static_cast<std::uint32_t>(slots.size()), {}, {});
  std::ranges::move(slots, frame->slots().begin());
  Fragment fragment;
  fragment.statement = &image_->main_call;
  fragment.frame = std::move(frame);
  return fragment;
}

namespace {

ArgumentForm form_of(const Code& code) {
  if (!code.is_single()) return ArgumentForm::formula;
  return code.is_name() ? ArgumentForm::data : ArgumentForm::parameter;
}

/// Evaluates the expressions of a fragment one after the other, and keeps their results.
class Resolver {
 public:
  Resolver(const Image& image, const Fragment& fragment, Resolution& resolution)
      : fragment_(fragment),
        statement_(*fragment.statement),
        resolution_(resolution),
        evaluation_(image, *fragment.frame, fragment.inputs) {
    if (statement_.kind == Kind::repeat) evaluation_.mark_used(resolution.used);
    evaluation_.missing().swap(resolution.missing);  // for its memory
  }

  void run() {
    switch (statement_.kind) {
      case Kind::execute:
        call();
        break;
      case Kind::loop:
        if (!fragment_.started) bounds();
        break;
      case Kind::repeat:
        repeat();
        break;
      case Kind::condition:
        resolution_.holds = truth(statement_.condition);
        break;
    }
    rules(evaluation_, statement_.rules);
    if (statement_.callee != nullptr && !statement_.callee->external && evaluation_.missing().empty())
      callee();
    evaluation_.missing().swap(resolution_.missing);
    if (evaluation_.faulty()) resolution_.fault = evaluation_.fault();
  }

 private:
  /// The value of an expression as a type wants it, or nothing.
  template <class What>
  std::optional<Value> value(const Code& code, ParameterType type, What what) {
    auto result = evaluation_.evaluate(code);
    if (!evaluation_.accept(result)) return {};
    if (fits(result.value, type)) return std::move(result.value);
    auto outcome = convert_argument(result.value, type, form_of(code));
    if (outcome.problem.empty()) return std::move(outcome.value);
    const auto* const source = code.is_name() ? evaluation_.source() : nullptr;
    const auto subject = source == nullptr ? what() : named(*source);
    evaluation_.set_fault({statement_.at, subject + " " + outcome.problem, outcome.code, outcome.fix,
                           source == nullptr ? std::optional<Name>() : *source});
    return {};
  }
  [[nodiscard]] std::string named(const Name& name) const {
    return text_of(evaluation_.image(), name) + name_here(evaluation_.image(), fragment_, name);
  }
  std::optional<std::int32_t> integer(const Code& code, const char* what) {
    const auto number = value(code, ParameterType::integer, [what] { return std::string(what); });
    return number ? std::optional(number->integer()) : std::nullopt;
  }

  void call() {
    const auto& parameters = statement_.callee->parameters;
    resolution_.arguments.resize(parameters.size());
    resolution_.sources.resize(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].type == ParameterType::name) {
        argument_name(i);
      } else if (auto argument =
                     value(statement_.arguments[i], parameters[i].type, [&] { return argument_text(i); })) {
        resolution_.arguments[i] = std::move(*argument);
        if (statement_.callee->external && statement_.arguments[i].is_name())
          resolution_.sources[i] = evaluation_.source();
      }
    }
    if (!statement_.label.empty()) label();
    for (const auto& code : statement_.nfarguments)
      resolution_.nfarguments.push_back(Value(integer(code, "a parameter for recommendations").value_or(0)));
  }
  void label() {
    auto name = evaluation_.name(statement_.label);
    if (name && (statement_.placed_by_label || statement_.awaits)) resolution_.label = std::move(*name);
  }
  [[nodiscard]] std::string argument_text(std::size_t i) const {
    return fmt::format("argument {} of {}", i + 1, statement_.callee->name);
  }
  void argument_name(std::size_t i) {
    if (auto name = evaluation_.name(statement_.arguments[i])) resolution_.arguments[i] = std::move(*name);
  }

  /// The frame of the subroutine that is called, and the recommendations of its block, which see it.
  void callee() {
    if (evaluation_.faulty()) return;
    auto call = Shared<CallRecord>::make();
    call->statement = statement_.number, call->arguments = resolution_.arguments;
    call->caller = fragment_.frame->call;
    call->depth = call->caller ? call->caller->depth + 1 : 0;
    const bool is_main = statement_.number == main_call_number;
    auto frame = Frame::make(0, statement_.callee->block.slots, {},
                             is_main ? Shared<const CallRecord>() : Shared<const CallRecord>(call));
    const auto next = std::ranges::copy(resolution_.arguments, frame->slots().begin()).out;
    std::ranges::copy(resolution_.nfarguments, next);
    resolution_.callee_frame = frame;
    Evaluation inner(evaluation_.image(), *frame, fragment_.inputs);
    rules(inner, statement_.callee->rules);
    for (auto& name : inner.missing()) evaluation_.missing().push_back(std::move(name));
    if (inner.faulty()) evaluation_.set_fault(inner.fault());
  }

  void bounds() {
    if (const auto first = integer(statement_.first, "the first bound")) resolution_.first = *first;
    if (const auto last = integer(statement_.last, "the last bound")) resolution_.last = *last;
  }
  void repeat() {
    std::optional<std::int32_t> k = fragment_.next;
    if (!fragment_.started) k = integer(statement_.start, "the start");
    resolution_.out = evaluation_.name(statement_.out);
    if (!k) return;
    resolution_.first = *k;
    evaluation_.bind(statement_.variable, *k);
    resolution_.holds = truth(statement_.condition);
  }
  bool truth(const Code& code) {
    const auto result = evaluation_.evaluate(code);
    if (!evaluation_.accept(result)) return false;
    if (result.value.type() == Type::integer) return result.value.integer() != 0;
    if (result.value.type() == Type::real) return result.value.real() != 0;
    const auto* const source = code.is_name() ? evaluation_.source() : nullptr;
    evaluation_.set_fault({statement_.at,
                           fmt::format("a condition is an int or a real, {} is a {}",
                                       source == nullptr ? text_of(result.value) : named(*source),
                                       to_string(result.value.type())),
                           "SEM1", condition_fix, source == nullptr ? std::optional<Name>() : *source});
    return false;
  }

  void rules(Evaluation& evaluation, const Rules& rules) {
    for (const auto& code : rules.requests)
      if (const auto name = evaluation.name(code)) evaluation.need(*name);
    for (const auto& code : rules.waits)
      if (auto name = evaluation.name(code); name && evaluation.need(*name) == nullptr)
        resolution_.awaited.push_back(std::move(*name));
    for (const auto& code : rules.deletes)
      if (auto name = evaluation.name(code))
        resolution_.after.deletes.push_back({std::move(*name), origin()});
    for (const auto& code : rules.sets)
      if (auto name = evaluation.name(code))
        resolution_.after.sets.push_back({std::move(*name), Value(std::int32_t{1}), -1, -1, origin()});
    for (const auto& push : rules.pushes) {
      auto name = evaluation.name(push.name), to = evaluation.name(push.to);
      if (name && to && evaluation.image().declarations[to->declaration].awaits)
        resolution_.after.pushes.emplace_back(std::move(*name), std::move(*to));
    }
    if (!rules.rank.empty()) rank(evaluation, rules.rank);
    if (rules.counts_are_plain) return;
    for (const auto& argument : resolution_.arguments)
      if (const auto* const own = std::get_if<Name>(&argument)) evaluation.exempt(own->id);
    for (const auto& count : rules.counts) {
      evaluation.name(count.name);
      evaluation.evaluate(count.count);  // finds what they need; the outputs are counted when they are known
    }
  }
  void rank(Evaluation& evaluation, const Code& code) {
    const auto result = evaluation.evaluate(code);
    if (evaluation.accept(result) && result.value.type() == Type::integer && !resolution_.rank)
      resolution_.rank = result.value.integer();
  }
  [[nodiscard]] Origin origin() const { return {&statement_, fragment_.frame->call}; }

  const Fragment& fragment_;
  const Statement& statement_;
  Resolution& resolution_;
  Evaluation evaluation_;
};

}  // namespace

void Machine::resolve(const Fragment& fragment, Resolution& resolution) const {
  resolution.clear();
  Resolver(*image_, fragment, resolution).run();
}

std::optional<std::int32_t> Machine::wanted_rank(const Fragment& fragment) const {
  const auto& code = fragment.statement->rules.rank;
  if (code.empty()) return {};
  const auto result = Evaluation(*image_, *fragment.frame, fragment.inputs).evaluate(code);
  if (!result.known() || result.value.type() != Type::integer) return {};
  return result.value.integer();
}

std::optional<Name> Machine::placing_label(const Fragment& fragment) const {
  if (!fragment.statement->placed_by_label) return {};
  return Evaluation(*image_, *fragment.frame, fragment.inputs).name(fragment.statement->label);
}

std::optional<std::int32_t> Machine::wanted_home(const Name& name) const {
  return name.home ? evaluate(name, image_->homes[name.home->rule].rank) : std::nullopt;
}

std::optional<std::int32_t> Machine::wanted_copies(const Name& name) const {
  return name.home ? evaluate(name, image_->homes[name.home->rule].copies) : std::nullopt;
}

/// The int that an expression gives for the indices of a name, or nothing.
std::optional<std::int32_t> Machine::evaluate(const Name& name, const IndexedCode& rule) const {
  const auto indices = name.id.indices();
  if (rule.code.empty() || indices.size() < rule.index_count) return {};
  const auto& captured = image_->homes[name.home->rule].captured;
  const auto frame = Frame::make(0, rule.first_index + rule.index_count, {}, {});
  for (std::size_t i = 0; i < captured.size(); ++i) frame->own(captured[i]) = name.home->captured[i];
  for (std::uint32_t i = 0; i < rule.index_count; ++i) frame->own(rule.first_index + i) = Value(indices[i]);
  const std::vector<Input> none;
  const auto result = Evaluation(*image_, *frame, none).evaluate(rule.code);
  if (!result.known() || result.value.type() != Type::integer) return {};
  return result.value.integer();
}

}  // namespace tailrace::fragments
