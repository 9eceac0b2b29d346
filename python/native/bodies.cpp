// SPDX-License-Identifier: BSD-3-Clause
// Bodies of fragment programs that are functions in Python: an interpreter inside of the native program,
// which loads this as a shared object of bodies (tailrace/fragments/body.h).
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tailrace/fragments/body.h"

namespace nb = nanobind;

namespace {

using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;
/// Lets memory go that an array kept.
void (*drop)(void* kept) = nullptr;

/// One execution of a body, as Python sees it. What Python keeps of it after the body has returned is over.
class Call {
 public:
  Call(const tailrace_body_interface* interface, tailrace_call* call) : interface_(interface), call_(call) {}
  void end() noexcept { call_ = nullptr; }

  /// A number or a string; None for a block.
  nb::object get(int number) {
    switch (interface_->type(call(), number)) {
      case tailrace_int:
        return nb::int_(interface_->get_int(call(), number));
      case tailrace_real:
        return nb::float_(interface_->get_real(call(), number));
      case tailrace_string: {
        unsigned long long size = 0;
        const char* const text = interface_->get_string(call(), number, &size);
        return nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "surrogateescape"));
      }
      default:
        return nb::none();
    }
  }
  /// The bytes of a block, in its memory, which stays as long as the array.
  Bytes bytes(int number, bool changes) {
    unsigned long long size = 0;
    void* const data = changes ? interface_->change_bytes(call(), number, &size)
                               : const_cast<void*>(interface_->get_bytes(call(), number, &size));
    return kept(number, data, size);
  }
  Bytes create(int number, unsigned long long size) {
    return kept(number, interface_->create_block(call(), number, size), size);
  }
  void set_int(int number, int value) { interface_->set_int(call(), number, value); }
  void set_real(int number, double value) { interface_->set_real(call(), number, value); }
  void set_string(int number, const nb::object& text) {
    const auto bytes =
        nb::steal<nb::bytes>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
    if (!bytes.is_valid()) throw nb::python_error();
    if (std::string_view(bytes.c_str(), bytes.size()).find('\0') != std::string_view::npos)
      throw nb::value_error("a string of the language has no 0 in it");
    interface_->set_string(call(), number, bytes.c_str(), bytes.size());
  }
  void share(int number, int from) { interface_->share(call(), number, from); }
  std::string name(int number) { return interface_->name(call(), number); }

 private:
  tailrace_call* call() const {
    if (call_ == nullptr) throw std::runtime_error("the body has returned: its outputs are set");
    return call_;
  }
  Bytes kept(int number, void* data, unsigned long long size) {
    drop = interface_->drop;
    const nb::capsule owner(interface_->keep(call(), number), [](void* kept) noexcept { drop(kept); });
    return Bytes(data, {static_cast<std::size_t>(size)}, owner);
  }

  const tailrace_body_interface* interface_;
  tailrace_call* call_;
};

/// What Python prints goes where that of C++ bodies goes.
void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// What stays as long as the interpreter.
struct Interpreter {
  PyObject* run = nullptr;         ///< the function that runs a body
  PyThreadState* waits = nullptr;  ///< of the thread that made the interpreter, while no body is at work
  std::string wrong;
};
Interpreter interpreter;

void finish() {
  PyEval_RestoreThread(interpreter.waits);
  Py_CLEAR(interpreter.run);
  Py_FinalizeEx();
}

/// The words of an argument, each in a line of its own.
std::string take_line(std::string& text) {
  const auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

/// Extension modules find the functions of Python among those that all libraries see.
void show_python_to_all() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(&Py_IsInitialized), &info) != 0 && info.dli_fname != nullptr)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

std::string start(const std::string& executable) {
  show_python_to_all();
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  PyConfig_SetBytesString(&config, &config.program_name, executable.c_str());
  PyConfig_SetBytesString(&config, &config.executable, executable.c_str());
  const auto status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0)
    return "Python " PY_VERSION " cannot start: " +
           std::string(status.err_msg == nullptr ? "" : status.err_msg);
  return {};
}

std::string load(const std::string& path, const std::string& name) {
  try {
    const nb::object print_text = nb::module_::import_("_tailrace_bodies").attr("print");
    nb::object run = nb::module_::import_("tailrace.fragments.bodies").attr("load")(path, name, print_text);
    interpreter.run = run.release().ptr();
  } catch (nb::python_error& error) {
    return name + " cannot be loaded: " + nb::str(error.type().attr("__name__")).c_str() + ": " +
           nb::str(error.value()).c_str();
  }
  return {};
}

}  // namespace

NB_MODULE(_tailrace_bodies, m) {
  nb::set_leak_warnings(false);  // the last values of a program may be in modules that end after this one
  nb::class_<Call>(m, "Call")
      .def("get", &Call::get)
      .def("bytes", &Call::bytes)
      .def("create", &Call::create)
      .def("set_int", &Call::set_int)
      .def("set_real", &Call::set_real)
      .def("set_string", &Call::set_string)
      .def("share", &Call::share)
      .def("name", &Call::name);
  m.def("print", print);
}

/// Starts the interpreter. The lines of the argument: the Python that a virtual environment has, the file
/// with the program's text, and what messages call it.
extern "C" NB_EXPORT const char* tailrace_bodies_begin(const char* argument) {
  std::string rest = argument;
  const auto executable = take_line(rest), path = take_line(rest);
  PyImport_AppendInittab("_tailrace_bodies", PyInit__tailrace_bodies);
  interpreter.wrong = start(executable);
  if (interpreter.wrong.empty()) interpreter.wrong = load(path, rest);
  if (!interpreter.wrong.empty()) return interpreter.wrong.c_str();
  interpreter.waits = PyEval_SaveThread();
  std::atexit(finish);
  return nullptr;
}

/// All bodies of the program: which one, the call says.
extern "C" NB_EXPORT void tailrace_python_body(const tailrace_body_interface* tailrace, tailrace_call* call) {
  std::string wrong;
  {
    const nb::gil_scoped_acquire acquire;
    try {
      auto ours = std::make_unique<Call>(tailrace, call);
      Call* const seen = ours.get();
      const nb::object given = nb::cast(std::move(ours));
      const nb::object said = nb::borrow(interpreter.run)(given, tailrace->subroutine(call));
      seen->end();
      if (!said.is_none()) wrong = nb::cast<std::string>(said);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
  }
  if (!wrong.empty()) tailrace->fail(call, wrong.c_str());
}
