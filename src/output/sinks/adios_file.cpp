// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/adios_file.hpp"

#include <adios2.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

struct AdiosFile::Library {
  explicit Library(MPI_Comm comm) : adios(comm), io(adios.DeclareIO("tailrace")) {}

  adios2::ADIOS adios;
  adios2::IO io;
  adios2::Engine engine;
};

namespace {

/// Returns what ADIOS2 says, without its name, the time and the place in its code: the text after the last ">
/// : ".
std::string reason_of(const std::exception& exception) {
  std::string text = exception.what();
  if (const auto place = text.rfind("> : "); place != std::string::npos) text.erase(0, place + 4);
  if (const auto colour = text.find('\033'); colour != std::string::npos) text.erase(colour);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

[[noreturn]] void fail(const std::string& path, const std::string& operation,
                       const std::exception& exception) {
  const auto reason = reason_of(exception);
  const bool refused = dynamic_cast<const std::invalid_argument*>(&exception) != nullptr;
  const bool full = reason.find(std::strerror(ENOSPC)) != std::string::npos;
  throw Error(ErrorInfo{
      .kind = refused ? ErrorKind::usage : ErrorKind::io,
      .message = fmt::format("{}: {} failed in ADIOS2: {}", path, operation, reason),
      .path = path,
      .hint = full      ? "free space on the file system, write fewer samples, or write to another directory"
              : refused ? "check the parameters behind --sink adios2, or write with another sink"
                        : "check the directory and its permissions, or write with another sink"});
}

/// Calls ADIOS2; its exceptions become our errors.
template <class Action>
auto through_adios(const std::string& path, const std::string& operation, const Action& action) {
  try {
    return action();
  } catch (const std::exception& exception) {
    fail(path, operation, exception);
  }
}

/// Calls `action` with a value of the type.
template <class Action>
void with_type(h5::ElementType type, const Action& action) {
  switch (type) {
    case h5::ElementType::float32:
      return action(float{});
    case h5::ElementType::float64:
      return action(double{});
    case h5::ElementType::int64:
      return action(std::int64_t{});
    case h5::ElementType::uint64:
      return action(std::uint64_t{});
    case h5::ElementType::uint8:
    case h5::ElementType::other:
      break;
  }
  TAILRACE_CHECK(false, "no type of ADIOS2 for this element type");
}

adios2::Dims dims_of(const h5::Shape& shape) {
  return {shape.begin(), shape.end()};
}

constexpr bool replaces = true;  // an attribute of the same name

}  // namespace

AdiosFile::AdiosFile(mpi::CommView comm, const std::string& path, const mpi::Hints& parameters)
    : path_(path) {
  auto library = through_adios(path, "starting", [&] { return std::make_unique<Library>(comm.get()); });
  library_ = library.release();
  const auto given = parameters.empty() ? "" : fmt::format(" with {}", mpi::to_string(parameters));
  through_adios(path, fmt::format("opening{}", given), [&] {
    library_->io.SetEngine("BP5");
    // The others let a rank whose write fails wait for ever, in windows that it gives back while it leaves.
    library_->io.SetParameter("AggregationType", "EveryoneWrites");
    for (const auto& [key, value] : parameters) library_->io.SetParameter(key, value);
    library_->engine = library_->io.Open(path, adios2::Mode::Write);
  });
}

void AdiosFile::define(const std::string& variable, const h5::Shape& shape, h5::ElementType type) {
  through_adios(path_, "defining a variable", [&] {
    with_type(type, [&](auto one) {
      const adios2::Dims none(shape.size(), 0);
      library_->io.DefineVariable<decltype(one)>(variable, dims_of(shape), none, none);
    });
  });
}

void AdiosFile::set(const std::string& name, const h5::Attribute& attribute) {
  through_adios(path_, "defining an attribute", [&] {
    const auto define = [&]<class Value>(const Value& value) {
      if constexpr (std::is_same_v<Value, std::vector<std::string>> ||
                    std::is_same_v<Value, std::vector<std::int64_t>>)
        library_->io.DefineAttribute(name, value.data(), value.size(), "", "/", replaces);
      else
        library_->io.DefineAttribute(name, value, "", "/", replaces);
    };
    std::visit(define, attribute.value);
  });
}

void AdiosFile::set(const std::string& name, const h5::Shape& numbers) {
  through_adios(path_, "defining an attribute", [&] {
    library_->io.DefineAttribute<std::uint64_t>(name, numbers.data(), numbers.size(), "", "/", replaces);
  });
}

void AdiosFile::put(const std::string& variable, const h5::Hyperslab& block, h5::ElementType type,
                    const std::byte* values, Taken taken) {
  through_adios(path_, "writing", [&] {
    with_type(type, [&](auto one) {
      using Value = decltype(one);
      auto array = library_->io.InquireVariable<Value>(variable);
      array.SetSelection({dims_of(block.start), dims_of(block.count)});
      library_->engine.Put(array, reinterpret_cast<const Value*>(values),  // NOLINT: of this type
                           taken == Taken::now ? adios2::Mode::Sync : adios2::Mode::Deferred);
    });
  });
}

void AdiosFile::put(const std::string& variable, std::uint64_t value) {
  through_adios(path_, "writing a number",
                [&] { library_->engine.Put(variable, value, adios2::Mode::Sync); });
}

void AdiosFile::begin_step() {
  through_adios(path_, "beginning a step", [&] { library_->engine.BeginStep(); });
  in_step_ = true;
}

void AdiosFile::write_now() {
  through_adios(path_, "writing", [&] { library_->engine.PerformDataWrite(); });
}

void AdiosFile::end_step() {
  through_adios(path_, "ending a step", [&] { library_->engine.EndStep(); });
  in_step_ = false;
}

void AdiosFile::close() {
  through_adios(path_, "closing", [&] { library_->engine.Close(); });
  delete std::exchange(library_, nullptr);  // NOLINT: see the class
}

}  // namespace tailrace::output
