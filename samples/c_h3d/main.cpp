#include "c_h3d/app.h"
#include "common/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::c_h3d_info(), argc, argv); }
