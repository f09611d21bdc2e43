// Only carries the precompiled header of the tests (tests/CMakeLists.txt): its options must be those of a program.
int main() { return 0; }
