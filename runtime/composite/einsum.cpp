// einsum: operands are brought to one order of labels, then contracted pair by pair with batched products.
#include <algorithm>
#include <vector>

#include "generated/kernels/linalg/products.h"
#include "generated/ops/factory/convert.h"
#include "generated/ops/linalg/products.h"
#include "generated/ops/pointwise/arith.h"
#include "generated/ops/reduce/sums.h"
#include "generated/ops/view/dims.h"
#include "generated/ops/view/parts.h"
#include "generated/ops/view/regroup.h"
#include "runtime/core/promote.h"

namespace vivace::composite {
namespace {

constexpr int kLetters = 52;
/// Dims that an ellipsis stands for are labels after the letters, aligned at the right.
constexpr int kLabels = kLetters + kMaxDims;

int letter(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= 'A' && c <= 'Z') return c - 'A';
  fail("einsum(): invalid subscript given at ", std::string_view(&c, 1),
       " in the equation string, subscripts must be in [a-zA-Z]");
}

struct Term {
  TensorRef tensor;
  std::vector<int> labels;
};

/// Labels of one subscript; `ellipsis_dims`: how many dims an ellipsis stands for here (-1: none is allowed).
std::vector<int> parse_labels(std::string_view text, int64_t ellipsis_dims) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] != '.') {
      labels.push_back(letter(text[i]));
      continue;
    }
    if (text.substr(i, 3) != "...") fail("einsum(): found '.' that is not part of any ellipsis in ", text);
    i += 2;
    for (int64_t d = 0; d < ellipsis_dims; ++d) labels.push_back(kLetters + kMaxDims - int(ellipsis_dims - d));
  }
  return labels;
}

int64_t count_letters(std::string_view text) {
  int64_t n = 0;
  for (char c : text) n += c != '.' && c != ' ';
  return n;
}

/// Takes the diagonal of dims with the same label.
void take_diagonals(Term& term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      if (term.tensor->size(int64_t(i)) != term.tensor->size(int64_t(j)))
        fail("einsum(): a subscript is repeated for dims of different sizes ", term.tensor->size(int64_t(i)), " and ",
             term.tensor->size(int64_t(j)));
      TensorRef diagonal = ops::diagonal(*term.tensor, 0, int64_t(i), int64_t(j));
      term.tensor = ops::movedim_int(*diagonal, -1, int64_t(i));
      term.labels.erase(term.labels.begin() + int64_t(j));
    }
}

bool has(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// t's dims in the order of `order`; labels that it lacks become dims of size 1.
TensorRef arrange(const Term& term, const std::vector<int>& order) {
  Dims dims;
  for (int label : order)
    for (size_t d = 0; d < term.labels.size(); ++d)
      if (term.labels[d] == label) dims.push(int64_t(d));
  TensorRef t = ops::permute(*term.tensor, dims);
  for (size_t d = 0; d < order.size(); ++d)
    if (!has(term.labels, order[d])) t = ops::unsqueeze(*t, int64_t(d));
  return t;
}

TensorRef sum_out(Term& term, const std::vector<int>& keep) {
  Dims dims;
  std::vector<int> left;
  for (size_t d = 0; d < term.labels.size(); ++d) {
    if (has(keep, term.labels[d]))
      left.push_back(term.labels[d]);
    else
      dims.push(int64_t(d));
  }
  if (dims.n == 0) return term.tensor;
  term.labels = left;
  return term.tensor = ops::sum_dim_IntList(*term.tensor, IntList(dims));
}

/// The product of two terms, summed over the labels that are not in `keep`.
Term contract(Term a, Term b, const std::vector<int>& keep) {
  std::vector<int> batch, rows, cols, inner;
  const auto size_in = [](const Term& t, int label) {
    for (size_t d = 0; d < t.labels.size(); ++d)
      if (t.labels[d] == label) return t.tensor->size(int64_t(d));
    return int64_t(-1);
  };
  // A dim of size 1 that meets a longer one is as good as absent: drop it.
  for (Term* t : {&a, &b}) {
    const Term& other = t == &a ? b : a;
    for (size_t d = 0; d < t->labels.size();) {
      if (t->tensor->size(int64_t(d)) == 1 && size_in(other, t->labels[d]) > 1) {
        t->tensor = ops::squeeze_dim(*t->tensor, int64_t(d));
        t->labels.erase(t->labels.begin() + int64_t(d));
      } else {
        ++d;
      }
    }
  }
  std::vector<int> keep_a = keep, keep_b = keep;
  keep_a.insert(keep_a.end(), b.labels.begin(), b.labels.end());
  keep_b.insert(keep_b.end(), a.labels.begin(), a.labels.end());
  const bool had_one_dtype = a.tensor->dtype() == b.tensor->dtype();
  sum_out(a, keep_a);
  sum_out(b, keep_b);
  if (had_one_dtype && a.tensor->dtype() != b.tensor->dtype())  // one is a sum of integers now
    for (Term* t : {&a, &b}) t->tensor = ops::to_dtype(*t->tensor, DType::Int64);
  for (int label : a.labels) (has(b.labels, label) ? (has(keep, label) ? batch : inner) : rows).push_back(label);
  for (int label : b.labels)
    if (!has(a.labels, label)) cols.push_back(label);
  const auto joined = [](std::initializer_list<const std::vector<int>*> parts) {
    std::vector<int> all;
    for (const auto* p : parts) all.insert(all.end(), p->begin(), p->end());
    return all;
  };
  const auto extent = [&](const Term& t, const std::vector<int>& labels) {
    int64_t n = 1;
    for (int label : labels) n *= size_in(t, label);
    return n;
  };
  for (int label : joined({&batch, &inner}))
    if (size_in(a, label) != size_in(b, label))
      fail("einsum(): operands do not broadcast with remapped shapes: sizes ", size_in(a, label), " and ",
           size_in(b, label), " of one subscript");
  if (inner.empty()) {
    TensorRef x = arrange(a, joined({&batch, &rows})), y = arrange(b, joined({&batch, &cols}));
    for (size_t d = 0; d < cols.size(); ++d) x = ops::unsqueeze(*x, -1);
    for (size_t d = 0; d < rows.size(); ++d) y = ops::unsqueeze(*y, int64_t(batch.size()));
    return {ops::mul_Tensor(*x, *y), joined({&batch, &rows, &cols})};
  }
  const int64_t n = extent(a, batch), m = extent(a, rows), k = extent(a, inner), p = extent(b, cols);
  const int64_t left[] = {n, m, k}, right[] = {n, k, p};
  Dims sizes;
  for (int label : joined({&batch, &rows})) sizes.push(size_in(a, label));
  for (int label : cols) sizes.push(size_in(b, label));
  TensorRef x = arrange(a, joined({&batch, &rows, &inner})), y = arrange(b, joined({&batch, &inner, &cols}));
  // Integers that were summed became int64.
  if (!is_differentiable(x->dtype()) && !is_differentiable(y->dtype())) {
    const DType common = promote_types(x->dtype(), y->dtype());
    x = ops::to_dtype(*x, common);
    y = ops::to_dtype(*y, common);
  }
  TensorRef flat_x = ops::reshape(*x, left), flat_y = ops::reshape(*y, right), product = ops::bmm(*flat_x, *flat_y);
  return {ops::reshape(*product, sizes), joined({&batch, &rows, &cols})};
}

}  // namespace

TensorRef einsum(std::string_view equation, TensorList operands) {
  if (operands.empty()) fail("einsum(): must provide at least one operand");
  const size_t arrow = equation.find("->");
  std::string_view inputs = equation.substr(0, arrow);
  std::vector<std::string_view> texts;
  for (size_t start = 0;;) {
    const size_t comma = inputs.find(',', start);
    texts.push_back(inputs.substr(start, comma == inputs.npos ? comma : comma - start));
    if (comma == inputs.npos) break;
    start = comma + 1;
  }
  if (texts.size() != operands.size())
    fail("einsum(): ", texts.size() > operands.size() ? "fewer" : "more",
         " operands were provided than specified in the equation");
  std::vector<Term> terms;
  int64_t widest = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool dots = texts[i].find('.') != texts[i].npos;
    const int64_t letters = count_letters(texts[i]), rest = operands[i]->dim() - letters;
    if (rest < 0 || (rest > 0 && !dots))
      fail("einsum(): the number of subscripts in the equation (", letters,
           ") does not match the number of dimensions (", operands[i]->dim(), ") for operand ", int64_t(i));
    widest = std::max(widest, rest);
    terms.push_back({TensorRef::share(operands[i]), parse_labels(texts[i], rest)});
    take_diagonals(terms.back());
  }
  std::vector<int> output;
  if (arrow != equation.npos) {
    output = parse_labels(equation.substr(arrow + 2), widest);
  } else {
    int seen[kLabels] = {};
    for (size_t i = 0; i < texts.size(); ++i)
      for (int label : parse_labels(texts[i], operands[i]->dim() - count_letters(texts[i]))) ++seen[label];
    for (int label = kLetters; label < kLabels; ++label)
      if (seen[label]) output.push_back(label);
    for (int label = 0; label < kLetters; ++label)
      if (seen[label] == 1) output.push_back(label);
  }
  for (size_t i = 0; i < output.size(); ++i) {
    if (std::count(output.begin(), output.end(), output[i]) > 1)
      fail("einsum(): output subscript appears more than once in the output");
    bool found = output[i] >= kLetters;
    for (const Term& t : terms) found = found || has(t.labels, output[i]);
    if (!found) fail("einsum(): output subscript does not appear in the equation for any input operand");
  }
  Term result = std::move(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    std::vector<int> keep = output;
    for (size_t j = i + 1; j < terms.size(); ++j)
      keep.insert(keep.end(), terms[j].labels.begin(), terms[j].labels.end());
    result = contract(std::move(result), std::move(terms[i]), keep);
  }
  sum_out(result, output);
  return arrange(result, output);
}

}  // namespace vivace::composite
