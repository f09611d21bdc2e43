// The configuration that `wic-prof ci --example` prints: docs/examples/ci/wic-prof.toml.
#pragma once

namespace wicprof::cli {

extern const char kExampleConfig[];

}  // namespace wicprof::cli
