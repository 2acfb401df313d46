#include <ebb/autograd/variable.h>
namespace ebb { EBB_API Variable any(const Variable& x); Variable any(const Variable& x) { return x; } }
