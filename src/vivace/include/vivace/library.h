// TORCH_LIBRARY, TORCH_LIBRARY_FRAGMENT and TORCH_LIBRARY_IMPL: operators and kernels that are registered when the
// extension is loaded, through vivace.library. A block that fails leaves its exception for the import to raise.
#pragma once
#include "vivace/kernel.h"
#include "vivace/modes.h"

namespace torch {

/// A kernel, or a word to the dispatcher.
class CppFunction {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, CppFunction>>>
  CppFunction(F&& f) : object_(vivace::make_kernel(std::forward<F>(f))), schema_(vivace::Kernel<TypeOf<F>>::schema) {}
  static CppFunction makeFallthrough() {
    return CppFunction(vivace::import("vivace.library").attribute("fallthrough_kernel"), nullptr);
  }
  const vivace::Object& object() const { return object_; }
  /// The schema that the C++ types say.
  std::string schema(const std::string& name) const {
    TORCH_CHECK(schema_, name, ": a fallthrough has no schema");
    return schema_(name);
  }

 private:
  template <class F>
  using TypeOf = typename vivace::FunctionType<std::decay_t<F>>::type;
  using Schema = std::string (*)(const std::string&);
  CppFunction(vivace::Object object, Schema schema) : object_(std::move(object)), schema_(schema) {}

  vivace::Object object_;
  Schema schema_;
};

class Library {
 public:
  Library(const char* kind, const char* ns, const char* key)
      : library_(vivace::import("vivace.library")
                     .attribute("Library")(vivace::to_python(ns), vivace::to_python(kind), vivace::to_python(key))) {}

  /// `name(Tensor x) -> Tensor`
  Library& def(const std::string& schema) & {
    library_.attribute("define")(vivace::to_python(schema));
    return *this;
  }
  /// With a kernel for all devices; the schema may be a name alone.
  Library& def(const std::string& schema, CppFunction f) & {
    const bool whole = schema.find('(') != std::string::npos;
    def(whole ? schema : f.schema(schema));
    return impl(schema.substr(0, schema.find('(')), std::move(f));
  }
  Library& impl(const std::string& name, CppFunction f) & {
    library_.attribute("impl")(vivace::to_python(name), vivace::to_python(f.object()));
    return *this;
  }
  /// Names the Python module with further registrations, which has to be imported.
  void set_python_module(const char*, const char* = "") {}

 private:
  vivace::Object library_;
};

}  // namespace torch

namespace vivace {

/// Registers something while the extension is loaded; f gets a library that lasts as long as the process.
template <class F>
void register_in(const char* kind, const char* ns, const char* key, F&& f) {
  const PyGILState_STATE state = PyGILState_Ensure();
  if (!PyErr_Occurred()) {  // else an earlier one failed
    try {
      f(*new torch::Library(kind, ns, key));
    } catch (...) {
      set_python_error();
    }
  }
  PyGILState_Release(state);
}

/// A block of registrations.
struct LibraryBlock {
  LibraryBlock(const char* kind, const char* ns, const char* key, void (*block)(torch::Library&)) {
    register_in(kind, ns, key, block);
  }
};

}  // namespace vivace

namespace torch {

/// The older form: `static auto registry = torch::RegisterOperators().op("mylib::f", &f);`.
class RegisterOperators {
 public:
  RegisterOperators() = default;
  template <class F>
  RegisterOperators(const std::string& schema, F&& f) {
    op(schema, std::forward<F>(f));
  }
  template <class F>
  RegisterOperators& op(const std::string& schema, F&& f) {
    const std::string ns = schema.substr(0, schema.find("::"));
    vivace::register_in("FRAGMENT", ns.c_str(), "", [&](Library& m) { m.def(schema, std::forward<F>(f)); });
    return *this;
  }
};

}  // namespace torch

#define VIVACE_JOIN_(a, b) a##b
#define VIVACE_JOIN(a, b) VIVACE_JOIN_(a, b)
#define VIVACE_TEXT_(a) #a
#define VIVACE_TEXT(a) VIVACE_TEXT_(a)
#define VIVACE_LIBRARY_BLOCK(kind, ns, key, m, function)                                       \
  static void function(::torch::Library&);                                                     \
  static const ::vivace::LibraryBlock VIVACE_JOIN(function, _block)(kind, ns, key, &function); \
  static void function(::torch::Library& m)
#define TORCH_LIBRARY(ns, m) \
  VIVACE_LIBRARY_BLOCK("DEF", VIVACE_TEXT(ns), "", m, VIVACE_JOIN(vivace_library_, __COUNTER__))
#define TORCH_LIBRARY_FRAGMENT(ns, m) \
  VIVACE_LIBRARY_BLOCK("FRAGMENT", VIVACE_TEXT(ns), "", m, VIVACE_JOIN(vivace_library_, __COUNTER__))
#define TORCH_LIBRARY_IMPL(ns, key, m) \
  VIVACE_LIBRARY_BLOCK("IMPL", VIVACE_TEXT(ns), #key, m, VIVACE_JOIN(vivace_library_, __COUNTER__))
#define TORCH_FN(f) (f)
