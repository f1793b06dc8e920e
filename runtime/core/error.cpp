// How the parts of an error's text are written, and what throws it.
#include "runtime/core/error.h"

#include <charconv>

#include "runtime/core/object.h"

namespace vivace {
namespace detail {

void append(std::string& s, std::string_view x) { s.append(x); }

void append(std::string& s, double x) {
  char text[32];
  s.append(text, std::to_chars(text, text + sizeof text, x).ptr);
}

void append(std::string& s, IntList x) {
  s += '[';
  for (size_t i = 0; i < x.size(); ++i) {
    if (i) s += ", ";
    s += std::to_string(x[i]);
  }
  s += ']';
}

}  // namespace detail

void warn(const char* text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) < 0) throw PythonError{};
}

void raise(ErrorKind kind, std::string text) { throw Error{kind, std::move(text)}; }

}  // namespace vivace
