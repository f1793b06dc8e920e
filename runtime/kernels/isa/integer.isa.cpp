// The loops of integer.h for one instruction set.
#include "runtime/kernels/isa/integer.h"

#include "runtime/kernels/isa/product_tiles.h"

namespace vivace {
namespace VIVACE_ISA {
extern const dense::IntegerLoops<int32_t> integer_int32_t;
extern const dense::IntegerLoops<int64_t> integer_int64_t;
const dense::IntegerLoops<int32_t> integer_int32_t = {gemm<int32_t>};
const dense::IntegerLoops<int64_t> integer_int64_t = {gemm<int64_t>};
}  // namespace VIVACE_ISA
}  // namespace vivace
