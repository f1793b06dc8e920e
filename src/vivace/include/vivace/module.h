// PYBIND11_MODULE for modules of plain functions, in pybind11's names, so that an extension needs nothing but vivace
// and compiles in a second. A program that includes <pybind11/pybind11.h> before <torch/extension.h> gets pybind11
// itself.
#pragma once
#include <functional>

#include "vivace/convert.h"

namespace pybind11 {

using object = vivace::Object;
using handle = vivace::Object;
struct none : object {
  none() : object(object::share(Py_None)) {}
};

/// Names an argument; `py::arg("x") = 1` gives it a default.
struct arg {
  explicit arg(const char* name) : name(name) {}
  template <class T>
  arg operator=(const T& value) const {
    arg with_default = *this;
    with_default.fallback = vivace::Object::steal(vivace::to_python(value));
    return with_default;
  }
  arg operator=(std::nullopt_t) const {
    arg with_default = *this;
    with_default.fallback = vivace::Object::share(Py_None);
    return with_default;
  }
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }

  std::string name;
  vivace::Object fallback;
};
struct kw_only {};
namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

/// Scopes in which the C++ function runs: `py::call_guard<py::gil_scoped_release>()`.
template <class... Guards>
struct call_guard {};

template <class...>
struct class_ {
  template <class... A>
  explicit class_(A&&...) {
    static_assert(
        sizeof...(A) > 100,
        "py::class_ is pybind11's: install it (pip install pybind11) and include <pybind11/pybind11.h> before "
        "<torch/extension.h>");
  }
};

}  // namespace pybind11

namespace vivace {

/// A function of a module, one of several of a name.
struct Function {
  std::string name, doc, signature;
  std::vector<pybind11::arg> parameters;
  size_t positional = SIZE_MAX;  // parameters behind these are keyword-only
  /// Null without an exception if argument `*wrong` is of another type.
  std::function<PyObject*(PyObject* const* args, size_t* wrong)> call;
};

struct Overloads {
  std::vector<Function> functions;
  std::string doc;
  PyMethodDef definition;
};

template <class... Guards>
struct Guarded {
  std::tuple<Guards...> guards;
};

template <class R, class... A>
class Binding {
 public:
  template <class Guard, class F>
  static std::function<PyObject*(PyObject* const*, size_t*)> make(F f) {
    return [f = std::move(f)](PyObject* const* args, size_t* wrong) mutable {
      return call<Guard>(f, args, wrong, std::index_sequence_for<A...>());
    };
  }
  static std::vector<std::string> types() { return {Convert<std::decay_t<A>>::name()...}; }
  static std::string result() {
    if constexpr (std::is_void_v<R>)
      return "None";
    else
      return Convert<std::decay_t<R>>::name();
  }

 private:
  template <class T>
  using HolderOf = typename Convert<std::decay_t<T>>::Holder;
  template <class T>
  static decltype(auto) pass(HolderOf<T>& holder) {
    if constexpr (std::is_same_v<HolderOf<T>, std::decay_t<T>>)
      return static_cast<T&&>(holder);
    else if constexpr (std::is_same_v<std::decay_t<T>, const char*>)
      return holder.c_str();
    else
      return std::decay_t<T>(holder);
  }
  template <class Guard, class F, size_t... i>
  static PyObject* call(F& f, [[maybe_unused]] PyObject* const* args, [[maybe_unused]] size_t* wrong,
                        std::index_sequence<i...>) {
    [[maybe_unused]] std::tuple<HolderOf<A>...> values;
    const bool fits = ((*wrong = i, Convert<std::decay_t<A>>::load(args[i], std::get<i>(values))) && ... && true);
    if (!fits) return nullptr;
    if constexpr (std::is_void_v<R>) {
      {
        [[maybe_unused]] Guard guard;
        f(pass<A>(std::get<i>(values))...);
      }
      return none();
    } else {
      auto run = [&]() -> R {
        [[maybe_unused]] Guard guard;
        return f(pass<A>(std::get<i>(values))...);
      };
      return checked(to_python(run()));
    }
  }
};

/// Puts arguments in the parameters' order; what is wrong with them, or nothing.
inline std::string sort_arguments(const Function& f, PyObject* const* args, size_t count, PyObject* kwnames,
                                  std::vector<PyObject*>& sorted) {
  const size_t n = f.parameters.size();
  sorted.assign(n, nullptr);
  if (count > std::min(n, f.positional))
    return c10::str("takes ", std::min(n, f.positional), " positional arguments, but ", count, " were given");
  std::copy(args, args + count, sorted.begin());
  const Py_ssize_t nkeywords = kwnames ? PyTuple_Size(kwnames) : 0;
  for (Py_ssize_t k = 0; k < nkeywords; ++k) {
    const std::string keyword = text_of(PyTuple_GetItem(kwnames, k));
    size_t i = 0;
    while (i < n && f.parameters[i].name != keyword) ++i;
    if (i == n) return c10::str("got an unexpected keyword argument '", keyword, "'");
    if (sorted[i]) return c10::str("got multiple values for argument '", keyword, "'");
    sorted[i] = args[count + size_t(k)];
  }
  for (size_t i = 0; i < n; ++i) {
    if (!sorted[i]) sorted[i] = f.parameters[i].fallback.get();
    if (!sorted[i]) return c10::str("argument '", f.parameters[i].name, "' is missing");
  }
  return {};
}

inline PyObject* call_overloads(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    auto& overloads = *static_cast<Overloads*>(PyCapsule_GetPointer(self, nullptr));
    std::string why;
    std::vector<PyObject*> sorted;
    for (Function& f : overloads.functions) {
      std::string problem = sort_arguments(f, args, size_t(count), kwnames, sorted);
      size_t wrong = 0;
      if (problem.empty()) {
        if (PyObject* result = f.call(sorted.data(), &wrong)) return result;
        if (PyErr_Occurred()) throw PythonError();
        const Object type = Object::share(reinterpret_cast<PyObject*>(Py_TYPE(sorted[wrong])));
        problem = c10::str("argument '", f.parameters[wrong].name, "' (position ", wrong + 1, ") is a ",
                           text_of(type.attribute("__name__").get()));
      }
      why += c10::str("\n    ", f.signature, ": ", problem);
    }
    throw c10::TypeError(c10::str(overloads.functions[0].name, "(): incompatible function arguments:", why));
  });
}

}  // namespace vivace

namespace pybind11 {

class module_ {
 public:
  explicit module_(PyObject* module) : module_object_(module) {}

  /// Adds a function; further arguments are a text of documentation, names of arguments, a call_guard.
  template <class F, class... Extra>
  module_& def(const char* name, F&& f, const Extra&... extra) {
    using Signature = typename vivace::FunctionType<std::decay_t<F>>::type;
    add(name, std::forward<F>(f), static_cast<Signature*>(nullptr), extra...);
    return *this;
  }
  vivace::Object attr(const char* name) const { return vivace::Object::share(module_object_).attribute(name); }
  template <class T>
  void add_object(const char* name, const T& value) {
    vivace::checked(
        PyObject_SetAttrString(module_object_, name, vivace::Object::steal(vivace::to_python(value)).get()));
  }
  std::string& doc() { return doc_; }
  void finish() {
    if (!doc_.empty()) add_object("__doc__", doc_);
  }

 private:
  template <class F, class R, class... A, class... Extra>
  void add(const char* name, F&& f, R (*)(A...), const Extra&... extra) {
    using Binding = vivace::Binding<R, A...>;
    vivace::Function made;
    made.name = name;
    (note(made, extra), ...);
    using Guard = typename GuardOf<Extra...>::type;
    made.call = Binding::template make<Guard>(std::decay_t<F>(std::forward<F>(f)));
    const std::vector<std::string> types = Binding::types();
    TORCH_CHECK(made.parameters.empty() || made.parameters.size() == types.size(), name, "(): ", types.size(),
                " arguments, but ", made.parameters.size(), " names");
    for (size_t i = made.parameters.size(); i < types.size(); ++i)
      made.parameters.emplace_back(c10::str("arg", i).c_str());
    made.signature = std::string(name) + "(";
    for (size_t i = 0; i < types.size(); ++i)
      made.signature += (i ? ", " : "") + made.parameters[i].name + ": " + types[i];
    made.signature += ") -> " + Binding::result();
    put(std::move(made));
  }
  static void note(vivace::Function& f, const char* doc) { f.doc = doc; }
  static void note(vivace::Function& f, const arg& a) { f.parameters.push_back(a); }
  static void note(vivace::Function& f, kw_only) { f.positional = f.parameters.size(); }
  template <class... G>
  static void note(vivace::Function&, call_guard<G...>) {}

  template <class... Extra>
  struct GuardOf {
    using type = vivace::Guarded<>;
  };
  template <class... G, class... Rest>
  struct GuardOf<call_guard<G...>, Rest...> {
    using type = vivace::Guarded<G...>;
  };
  template <class First, class... Rest>
  struct GuardOf<First, Rest...> : GuardOf<Rest...> {};

  void put(vivace::Function made) {
    const std::string name = made.name;
    vivace::Overloads*& overloads = functions_[name];
    if (!overloads) overloads = new vivace::Overloads;  // lives as long as the module, for good
    overloads->doc +=
        (overloads->doc.empty() ? "" : "\n\n") + made.signature + (made.doc.empty() ? "" : "\n\n") + made.doc;
    overloads->functions.push_back(std::move(made));
    overloads->definition = {overloads->functions[0].name.c_str(),
                             reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(vivace::call_overloads)),
                             METH_FASTCALL | METH_KEYWORDS, overloads->doc.c_str()};
    const vivace::Object self = vivace::Object::steal(PyCapsule_New(overloads, nullptr, nullptr));
    const vivace::Object module_name = attr("__name__");
    const vivace::Object function =
        vivace::Object::steal(PyCFunction_NewEx(&overloads->definition, self.get(), module_name.get()));
    vivace::checked(PyObject_SetAttrString(module_object_, name.c_str(), function.get()));
  }

  PyObject* module_object_;
  std::string doc_;
  std::map<std::string, vivace::Overloads*> functions_;
};
using module = module_;

}  // namespace pybind11

namespace vivace {

/// Runs the body of PYBIND11_MODULE. A block of TORCH_LIBRARY may have failed before.
inline PyObject* make_module(PyModuleDef& definition, void (*body)(pybind11::module_&)) {
  if (PyErr_Occurred()) return nullptr;
  return guarded([&] {
    api();
    Object made = Object::steal(PyModule_Create(&definition));
    pybind11::module_ m(made.get());
    body(m);
    m.finish();
    return made.release();
  });
}

}  // namespace vivace

#define VIVACE_MODULE_2(name, m)                                                                       \
  static void vivace_module_body(::pybind11::module_&);                                                \
  static PyModuleDef vivace_module = {                                                                 \
      PyModuleDef_HEAD_INIT, #name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};         \
  PyMODINIT_FUNC PyInit_##name();                                                                      \
  PyMODINIT_FUNC PyInit_##name() { return ::vivace::make_module(vivace_module, &vivace_module_body); } \
  static void vivace_module_body(::pybind11::module_& m)
#define PYBIND11_MODULE(name, m, ...) VIVACE_MODULE_2(name, m)
