// The main function of each program of samples/field; the build names the program.
#include "field/apps.h"

int main(int argc, char** argv) { return sample::run_app(sample::FIELD_APP(), argc, argv); }
