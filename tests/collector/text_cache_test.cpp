// Numbers of texts that a cache keeps stay numbers that wic-prof knows.
#include "collector/translate/text_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

std::string as_is(const char* text) { return text; }

TEST(TextCache, AsksOncePerText) {
  PlainRing ring;
  EventSink sink(ring.ring());
  EventBatch batch(sink);
  TextCache cache;
  const char* const name = "_Z4spinPi";
  const TextId id = cache.find(name, batch, as_is);
  EXPECT_NE(id, 0u);
  int asked = 0;
  EXPECT_EQ(cache.find(name, batch, [&](const char* text) { return ++asked, as_is(text); }), id);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(cache.find(nullptr, batch, as_is), 0u);
}

// wic-prof forgets a number some time after the sink has: an NVTX range per iteration must not cost kernels their
// names.
TEST(TextCache, AsksAgainOnceTheSinkHasForgottenItsTexts) {
  PlainRing ring;
  EventSink sink(ring.ring(), 10);
  EventBatch batch(sink);
  TextCache cache;
  const char* const name = "_Z4spinPi";
  const TextId before = cache.find(name, batch, as_is);
  for (int i = 0; i < 20; ++i) batch.text("iteration " + std::to_string(i));
  const TextId after = cache.find(name, batch, as_is);
  EXPECT_NE(after, before);
  EXPECT_EQ(sink.text(name), after);
  EXPECT_EQ(ring.read().text(after), name);
}

}  // namespace
}  // namespace wicprof::collector
