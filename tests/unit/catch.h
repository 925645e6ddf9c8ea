// tests/unit/catch.h
//
// Catch2, whichever of the two versions the distribution has.
#pragma once

#ifdef DFC_CATCH2_V2
#include <catch2/catch.hpp>
#else
#include <catch2/catch_all.hpp>
#endif
