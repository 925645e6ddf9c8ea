// Has the precompiled headers of all tests made: the main function cannot take them.
#include "tests/unit/catch.h"
