// Catch2 2.13 wants one file that makes its main function.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
