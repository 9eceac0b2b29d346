// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/body_call.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "fragments/evaluation.hpp"
#include "tailrace/error.hpp"

namespace tailrace::fragments {

namespace {

const std::string& name_of(tailrace_call& call, int number) {
  auto& parameter = parameter_of(call, number);
  if (parameter.name.empty())
    parameter.name = parameter.data != nullptr
                         ? text_of(*call.image, *parameter.data)
                         : call.subroutine->parameters[static_cast<std::size_t>(number)].id;
  return parameter.name;
}

template <class Number>
void put_size(Number* size_bytes, std::size_t size) {
  if (size_bytes != nullptr) *size_bytes = size;
}

tailrace_type type(tailrace_call* call, int number) {
  return static_cast<tailrace_type>(parameter_of(*call, number).value.type());
}
const char* name(tailrace_call* call, int number) {
  return name_of(*call, number).c_str();
}
int get_int(tailrace_call* call, int number) {
  return value_of(*call, number, Type::integer).integer();
}
double get_real(tailrace_call* call, int number) {
  return value_of(*call, number, Type::real).real();
}
const char* get_string(tailrace_call* call, int number, unsigned long long* size_bytes) {
  const auto text = value_of(*call, number, Type::string).text();
  put_size(size_bytes, text.size());
  return text.data();
}
const void* get_bytes(tailrace_call* call, int number, unsigned long long* size_bytes) {
  const auto bytes = value_of(*call, number, Type::unset).bytes();
  put_size(size_bytes, bytes.size());
  return bytes.data();
}
void* change_bytes(tailrace_call* call, int number, unsigned long long* size_bytes) {
  auto& value = parameter_of(*call, number).value;
  if (value.type() != Type::block || !value.buffer().sole())
    value = Value::from_bytes(value.type(), value.bytes());
  put_size(size_bytes, value.bytes().size());
  return const_cast<std::byte*>(value.bytes().data());
}
void set_int(tailrace_call* call, int number, int value) {
  set_output(*call, number, Value(std::int32_t{value}));
}
void set_real(tailrace_call* call, int number, double value) {
  set_output(*call, number, Value(value));
}
void set_string(tailrace_call* call, int number, const char* text, unsigned long long size_bytes) {
  set_output(*call, number, Value(std::string_view(text, size_bytes)));
}
void* create_block(tailrace_call* call, int number, unsigned long long size_bytes) {
  const Buffer buffer(size_bytes);
  set_output(*call, number, Value(buffer));
  return buffer.data();
}
void share(tailrace_call* call, int number, int from) {
  set_output(*call, number, value_of(*call, from, Type::unset));
}
[[noreturn]] void fail(tailrace_call* /*call*/, const char* text) {
  throw std::runtime_error(text);
}
const char* subroutine(tailrace_call* call) {
  return call->subroutine->name.c_str();
}
void* keep(tailrace_call* call, int number) {
  return std::make_unique<Buffer>(value_of(*call, number, Type::unset).buffer()).release();
}
void drop(void* kept) {
  const std::unique_ptr<Buffer> buffer(static_cast<Buffer*>(kept));
}

}  // namespace

const tailrace_body_interface& body_interface() noexcept {
  static const tailrace_body_interface table{sizeof(tailrace_body_interface),
                                             type,
                                             name,
                                             get_int,
                                             get_real,
                                             get_string,
                                             get_bytes,
                                             change_bytes,
                                             set_int,
                                             set_real,
                                             set_string,
                                             create_block,
                                             share,
                                             fail,
                                             subroutine,
                                             keep,
                                             drop};
  return table;
}

tailrace_call::Parameter& parameter_of(tailrace_call& call, int number) {
  if (number < 0 || static_cast<std::size_t>(number) >= call.parameters.size())
    throw std::runtime_error(fmt::format("{} has {} parameters, parameter {} was asked for",
                                         call.subroutine->name, call.parameters.size(), number));
  return call.parameters[static_cast<std::size_t>(number)];
}

void set_output(tailrace_call& call, int number, Value value) {
  auto& parameter = parameter_of(call, number);
  if (!parameter.is_output())
    throw std::runtime_error(fmt::format("{} is an input and cannot be set", name_of(call, number)));
  parameter.value = std::move(value);
}

const Value& value_of(tailrace_call& call, int number, Type type) {
  const auto& value = parameter_of(call, number).value;
  if (!value.is_set())
    throw std::runtime_error(fmt::format("{} is read before it is set", name_of(call, number)));
  if (type != Type::unset && value.type() != type)
    throw std::runtime_error(fmt::format("{} has type {}, wanted is {}", name_of(call, number),
                                         to_string(value.type()), to_string(type)));
  return value;
}

}  // namespace tailrace::fragments
