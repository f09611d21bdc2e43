#include "c_srs/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::c_srs_info(), argc, argv); }
