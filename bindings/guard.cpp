// Turns C++ errors into Python exceptions.
#include "bindings/guard.h"

#include <stdexcept>

namespace vivace {

namespace {

/// torch.linalg.LinAlgError, which vivace.linalg defines; that module may not have run yet. The reference is kept:
/// classes of exceptions live as long as the process.
Object* linalg_error() {
  Object* const module = PyImport_ImportModule("vivace.linalg");
  Object* const found = module ? PyObject_GetAttrString(module, "LinAlgError") : nullptr;
  Py_XDECREF(module);
  if (found) return found;
  PyErr_Clear();
  return PyExc_RuntimeError;
}

Object* exception_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Runtime:
      break;
    case ErrorKind::Type:
      return PyExc_TypeError;
    case ErrorKind::Value:
      return PyExc_ValueError;
    case ErrorKind::Index:
      return PyExc_IndexError;
    case ErrorKind::NotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::Overflow:
      return PyExc_OverflowError;
    case ErrorKind::ZeroDivision:
      return PyExc_ZeroDivisionError;
    case ErrorKind::LinAlg:
      return linalg_error();
  }
  return PyExc_RuntimeError;
}

}  // namespace

void set_error(const Error& error) noexcept {
  Object* text = PyUnicode_DecodeUTF8(error.text.data(), Py_ssize_t(error.text.size()), "replace");
  if (!text) return;
  PyErr_SetObject(exception_class(error.kind), text);
  Py_DECREF(text);
}

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an error was raised without an exception");
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_RuntimeError, "not enough memory");
  } catch (const std::length_error&) {  // a vector of more elements than there can be
    PyErr_SetString(PyExc_RuntimeError, "not enough memory");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace vivace
