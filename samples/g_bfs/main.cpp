#include "g_bfs/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_bfs_info(), argc, argv); }
