// Rewrites calls in an old order of arguments; warns as PyTorch does.
#include "bindings/old_order.h"

#include <string>

#include "bindings/convert.h"

namespace vivace {
namespace {

/// Parameters in the old order, a letter each; small ones are numbers, which are keywords now.
struct Order {
  std::string_view name, letters;
};
constexpr Order kOrders[] = {
    {"add", "IaO"},      {"sub", "IaO"},     {"addcmul", "IvST"},  {"addcdiv", "IvST"}, {"addmm", "bIaMN"},
    {"addmm", "bIMN"},   {"addmv", "bIaXY"}, {"addmv", "bIXY"},    {"addr", "bIaUV"},   {"addr", "bIUV"},
    {"addbmm", "bIaBC"}, {"addbmm", "bIBC"}, {"baddbmm", "bIaBC"}, {"baddbmm", "bIBC"},
};

const char* parameter(char letter) {
  switch (letter) {
    case 'I':
      return "input";
    case 'O':
      return "other";
    case 'S':
      return "tensor1";
    case 'T':
      return "tensor2";
    case 'M':
      return "mat1";
    case 'N':
      return "mat2";
    case 'X':
      return "mat";
    case 'Y':
      return "vec";
    case 'U':
      return "vec1";
    case 'V':
      return "vec2";
    case 'B':
      return "batch1";
    case 'C':
      return "batch2";
    case 'a':
      return "alpha";
    case 'b':
      return "beta";
    default:
      return "value";
  }
}
bool is_number(char letter) { return letter >= 'a'; }

bool fits(std::string_view letters, Object* const* given, Py_ssize_t n) {
  if (Py_ssize_t(letters.size()) != n) return false;
  for (size_t i = 0; i < letters.size(); ++i)
    if (is_number(letters[i]) && !PyLong_Check(given[i]) && !PyFloat_Check(given[i]) && !PyComplex_Check(given[i]))
      return false;
  return true;
}

std::string signature(const Packet& packet, std::string_view letters, bool with_out) {
  std::string before, behind;
  for (const char letter : letters) {
    std::string& text = is_number(letter) ? behind : before;
    text += str(text.empty() ? "" : ", ", is_number(letter) ? "Number " : "Tensor ", parameter(letter),
                is_number(letter) ? " = 1" : "");
  }
  return str(packet.name, "(", before, ", *, ", behind, with_out ? ", Tensor out = None)" : ")");
}

std::string old_signature(const Packet& packet, std::string_view letters, bool with_out) {
  std::string text;
  for (const char letter : letters)
    text += str(text.empty() ? "" : ", ", is_number(letter) ? "Number " : "Tensor ", parameter(letter));
  return str(packet.name, "(", text, with_out ? ", *, Tensor out = None)" : ")");
}

}  // namespace

bool OldOrder::rewrite(const Packet& packet, bool method, Object* const* given, Py_ssize_t n, Object* names) {
  std::string_view name = packet.name;
  if (name.ends_with("_")) name.remove_suffix(1);
  for (const Order& order : kOrders) {
    if (order.name != name) continue;
    std::string letters(order.letters);
    if (method) letters.erase(letters.find('I'), 1);
    if (!fits(letters, given, n)) continue;
    warn(str("This overload of ", packet.name, " is deprecated:\n\t", old_signature(packet, letters, !method),
             "\nConsider using one of the following signatures instead:\n\t", signature(packet, letters, !method))
             .c_str());
    std::vector<Object*> values;
    const Py_ssize_t had = names ? PyTuple_GET_SIZE(names) : 0;
    const auto keys = Ref<Object>::steal(checked(PyList_New(0)));
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!is_number(letters[size_t(i)])) {
        args.push_back(given[i]);
        continue;
      }
      values.push_back(given[i]);
      const auto key = Ref<Object>::steal(checked(PyUnicode_FromString(parameter(letters[size_t(i)]))));
      checked(PyList_Append(keys.object(), key.object()));
    }
    nargs = Py_ssize_t(args.size());
    args.insert(args.end(), values.begin(), values.end());
    for (Py_ssize_t k = 0; k < had; ++k) {
      args.push_back(given[n + k]);
      checked(PyList_Append(keys.object(), PyTuple_GET_ITEM(names, k)));
    }
    kwnames = Ref<Object>::steal(checked(PyList_AsTuple(keys.object())));
    return true;
  }
  return false;
}

}  // namespace vivace
