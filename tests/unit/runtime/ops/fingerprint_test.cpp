// The fingerprint of the kernels is taken between runs, where nobody catches what an interrupt throws.
#include "runtime/ops/fingerprint.h"

#include "runtime/base/long_operation.h"
#include "tests/unit/catch.h"

namespace df {

TEST_CASE("a fingerprint is taken to its end though an interrupt has come") {
  const auto before = KernelFingerprint();
  AbortLongOperation(Stop::Interrupted);
  CHECK_NOTHROW(KernelFingerprint() == before);
  CHECK(KernelFingerprint() == before);
  ClearAbort();
}

}  // namespace df
