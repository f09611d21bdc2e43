// Only carries the precompiled header of the tests (tests/CMakeLists.txt).
