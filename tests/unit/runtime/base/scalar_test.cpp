// Numbers by their bits.
#include "runtime/base/scalar.h"

#include <cmath>

#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("NaN and infinities are taken apart by their bits") {
  double nan = std::copysign(std::nan(""), -1.0);
  CHECK(scalar::Decode(nan).mantissa == -6755399441055744);
  CHECK(scalar::Decode(nan).exponent == 972);
  CHECK(scalar::TruncateToInt(nan) == 0);
  CHECK(scalar::RoundToInt(HUGE_VAL) == 0);
  CHECK(scalar::TruncateToInt(1e20) == 7766279631452241920);
  CHECK(scalar::FloorToInt(-9.3e18) == 9146744073709551616);
}
