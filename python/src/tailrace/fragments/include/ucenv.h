/* SPDX-License-Identifier: BSD-3-Clause */
/* What bodies of fragment programs see: data fragments with the interface of LuNA's ucenv.h, over Tailrace's
 * body.h. */
#pragma once

#include <tailrace/fragments/body.h>

#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace luna {
namespace ucenv {

/** A parameter of the body that is at work: of type value, value & or name. */
class DF {
 public:
  DF(const tailrace_body_interface* tailrace, tailrace_call* call, int parameter, bool changeable)
      : tailrace_(tailrace), call_(call), parameter_(parameter), changeable_(changeable) {}
  DF(const DF&) = delete;

  /** What it holds; an output holds nothing until it is set. */
  tailrace_type get_type() const { return tailrace_->type(call_, parameter_); }
  bool is_set() const { return get_type() != tailrace_unset; }
  /** The name with its indices. */
  std::string getName() const { return tailrace_->name(call_, parameter_); }

  int get_int() const { return tailrace_->get_int(call_, parameter_); }
  double get_real() const { return tailrace_->get_real(call_, parameter_); }
  std::string get_string() const {
    unsigned long long size = 0;
    const char* text = tailrace_->get_string(call_, parameter_, &size);
    return std::string(text, size);
  }
  template <class T>
  T getValue() const {
    if constexpr (std::is_floating_point<T>::value)
      return static_cast<T>(get_real());
    else if constexpr (std::is_integral<T>::value)
      return static_cast<T>(get_int());
    else
      return T(get_string());
  }

  /** Its bytes; of a number 4 or 8, of a string with the 0 behind it. */
  std::size_t get_size() const {
    unsigned long long size = 0;
    tailrace_->get_bytes(call_, parameter_, &size);
    return size;
  }
  std::size_t getSize() const { return get_size(); }
  const void* get_data() const { return tailrace_->get_bytes(call_, parameter_, nullptr); }
  /** Of an input of type value & memory that may be changed. */
  void* get_data() {
    return changeable_ ? tailrace_->change_bytes(call_, parameter_, nullptr)
                       : const_cast<void*>(tailrace_->get_bytes(call_, parameter_, nullptr));
  }
  template <class T>
  const T* getData() const {
    check_size(sizeof(T));
    return static_cast<const T*>(get_data());
  }
  template <class T>
  T* getData() {
    check_size(sizeof(T));
    return static_cast<T*>(get_data());
  }

  /** The value as text: numbers as %d and %f, of blocks the size. */
  std::string to_string() const {
    switch (get_type()) {
      case tailrace_int:
        return std::to_string(get_int());
      case tailrace_real:
        return std::to_string(get_real());
      case tailrace_string:
        return get_string();
      case tailrace_block:
        return "block of " + std::to_string(get_size()) + " bytes";
      default:
        return "not set";
    }
  }

 protected:
  friend class OutputDF;
  [[noreturn]] void fail(const std::string& text) const {
    tailrace_->fail(call_, (getName() + ": " + text).c_str());
    std::abort();
  }
  void check_size(std::size_t element) const {
    if (get_size() % element != 0)
      fail("its " + std::to_string(get_size()) + " bytes are no multiple of " + std::to_string(element));
  }

  const tailrace_body_interface* tailrace_;
  tailrace_call* call_;
  int parameter_;
  bool changeable_;
};

/** An input: the parameter types value and value &. */
class InputDF : public DF {
 public:
  using DF::DF;
};

/** An output: the parameter type name. The last value that it is given counts. */
class OutputDF : public DF {
 public:
  using DF::DF;

  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  OutputDF& operator=(T value) {
    if constexpr (std::is_floating_point<T>::value) {
      tailrace_->set_real(call_, parameter_, static_cast<double>(value));
    } else {
      const int number = static_cast<int>(value);
      if (static_cast<T>(number) != value || (number < 0) != (value < T()))
        fail("the number does not fit an int");
      tailrace_->set_int(call_, parameter_, number);
    }
    return *this;
  }
  OutputDF& operator=(const std::string& text) {
    tailrace_->set_string(call_, parameter_, text.data(), text.size());
    return *this;
  }
  OutputDF& operator=(const char* text) { return *this = std::string(text); }
  OutputDF& operator=(const DF& from) {
    tailrace_->share(call_, parameter_, from.parameter_);
    return *this;
  }
  OutputDF& operator=(const OutputDF& from) { return *this = static_cast<const DF&>(from); }

  template <class T>
  void setValue(const T& value) {
    *this = value;
  }
  void copy(const DF& from) { *this = from; }

  /** A new block of zeros, to be filled before the body returns; a second one replaces the first. */
  void* create(std::size_t bytes) { return tailrace_->create_block(call_, parameter_, bytes); }
  template <class T>
  T* create(std::size_t count) {
    const auto most = std::numeric_limits<long long>::max() / static_cast<long long>(sizeof(T));
    if (static_cast<long long>(count) < 0 || static_cast<long long>(count) > most)
      fail("there is no block of " + std::to_string(static_cast<long long>(count)) + " elements");
    return static_cast<T*>(create(count * sizeof(T)));
  }
  template <class T>
  T* create(std::size_t count, const T& init) {
    T* block = create<T>(count);
    for (std::size_t i = 0; i < count; ++i) block[i] = init;
    return block;
  }
};

}  // namespace ucenv
}  // namespace luna

using luna::ucenv::DF;
using luna::ucenv::InputDF;
using luna::ucenv::OutputDF;
