// Finds and opens OpenBLAS.
#include "runtime/kernels/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "runtime/core/error.h"
#include "runtime/core/object.h"

namespace vivace::blas {
namespace {

constexpr const char* kPackage = "scipy_openblas32";

Ref<Object> attribute(Object* owner, const char* name) {
  Object* value = PyObject_GetAttrString(owner, name);
  if (!value) throw PythonError{};
  return Ref<Object>::steal(value);
}

/// The package's folder; empty if it is not installed. find_spec of a top-level name runs no code of the package.
std::string package_folder() {
  auto util = Ref<Object>::steal(PyImport_ImportModule("importlib.util"));
  if (!util) throw PythonError{};
  auto spec = Ref<Object>::steal(PyObject_CallMethod(util.get(), "find_spec", "s", kPackage));
  if (!spec) throw PythonError{};
  if (spec.get() == Py_None) return {};
  auto locations = attribute(spec.get(), "submodule_search_locations");
  auto first = Ref<Object>::steal(PySequence_GetItem(locations.get(), 0));
  if (!first) throw PythonError{};
  const char* text = PyUnicode_AsUTF8(first.get());
  if (!text) throw PythonError{};
  return text;
}

void* open_library() {
  const std::string folder = package_folder();
  if (folder.empty())
    fail(
        "OpenBLAS is missing: products of matrices need the package 'scipy-openblas32' (pip install scipy-openblas32)");
#ifdef __APPLE__
  const std::string path = folder + "/lib/libscipy_openblas.dylib";
#else
  const std::string path = folder + "/lib/libscipy_openblas.so";
#endif
  // The library starts its threads when it is opened; ours are the only ones that shall work.
  const char* before = std::getenv("OPENBLAS_NUM_THREADS");
  const std::string saved = before ? before : "";
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (before)
    setenv("OPENBLAS_NUM_THREADS", saved.c_str(), 1);
  else
    unsetenv("OPENBLAS_NUM_THREADS");
  if (!handle) fail("OpenBLAS could not be opened: ", std::string(dlerror()));
  return handle;
}

void* library() {
  static void* handle = nullptr;
  if (!handle) handle = open_library();
  return handle;
}

template <class F>
void find(F& function, const char* name) {
  function = reinterpret_cast<F>(symbol(name));
}

}  // namespace

void* symbol(const char* name) {
  const std::string full = std::string("scipy_") + name;
  void* found = dlsym(library(), full.c_str());
  if (!found) fail("OpenBLAS has no function '", full, "'");
  return found;
}

const Table& table() {
  static Table functions;
  static bool loaded = false;
  if (!loaded) [[unlikely]] {
    find(functions.sgemm, "cblas_sgemm");
    find(functions.dgemm, "cblas_dgemm");
    find(functions.cgemm, "cblas_cgemm");
    find(functions.zgemm, "cblas_zgemm");
    find(functions.sgemv, "cblas_sgemv");
    find(functions.dgemv, "cblas_dgemv");
    reinterpret_cast<void (*)(int)>(symbol("openblas_set_num_threads"))(1);
    loaded = true;
  }
  return functions;
}

}  // namespace vivace::blas
