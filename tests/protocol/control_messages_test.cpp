// The control socket: requests, answers, and missing peers.
#include "protocol/control_messages.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "protocol/control_socket.h"
#include "tests/protocol/runtime_folder.h"

namespace wicprof {
namespace {

ControlHandler handler() {
  ControlHandler h;
  h.status = [] {
    SessionStatus status;
    status.name = "one";
    status.app = "hot \"flag\"\n";
    status.output = "x.wicprof";
    status.app_pid = 12;
    status.tool_pid = 34;
    status.mode = Mode::park;
    status.strategy = StrategyId::backoff;
    status.events = 1'000'000'000'000;
    status.waits = 5;
    status.lost = 6;
    status.runtime_attached = true;
    status.sites = {"halo", "flag"};
    status.stopped = "full";
    status.dump_failed = "taken";
    status.dumps = 3;
    status.unrecorded = 7;
    status.unreached = 8;
    status.started = 123;
    status.started_utc = "2026-01-31T23:59:59Z";
    status.folder = "/home/u";
    status.terminal = "pts/3";
    status.user = 1000;
    return status;
  };
  h.toggle = [](const ToggleRequest& request) -> Result<ToggleReply> {
    if (request.site == "none") return bad_input("no such site 'none'");
    return ToggleReply{request.mode,
                       request.strategy,
                       request.site,
                       100,
                       200,
                       {{request.site, Mode::park, StrategyId::backoff}, {"flag", Mode::poll, StrategyId::poll}},
                       request.side,
                       9,
                       8,
                       50};
  };
  return h;
}

class ControlSocketTest : public testing::Test {
 protected:
  Result<ControlServer> serve() {
    return ControlServer::start(path_, [](const std::string& line) { return answer_request(handler(), line); });
  }
  RuntimeFolder folder_;
  std::string path_ = folder_.path() + "/s.sock";
};

TEST_F(ControlSocketTest, StatusArrivesComplete) {
  const Result<ControlServer> server = serve();
  ASSERT_TRUE(server) << server.error().message;
  const Result<SessionStatus> status = ask_status(path_);
  ASSERT_TRUE(status) << status.error().message;
  const SessionStatus expected = handler().status();
  EXPECT_EQ(status->name, expected.name);
  EXPECT_EQ(status->app, expected.app);
  EXPECT_EQ(status->output, expected.output);
  EXPECT_EQ(status->app_pid, expected.app_pid);
  EXPECT_EQ(status->tool_pid, expected.tool_pid);
  EXPECT_EQ(status->mode, expected.mode);
  EXPECT_EQ(status->strategy, expected.strategy);
  EXPECT_EQ(status->events, expected.events);
  EXPECT_EQ(status->waits, expected.waits);
  EXPECT_EQ(status->lost, expected.lost);
  EXPECT_EQ(status->runtime_attached, expected.runtime_attached);
  EXPECT_EQ(status->sites, expected.sites);
  EXPECT_EQ(status->stopped, expected.stopped);
  EXPECT_EQ(status->dump_failed, expected.dump_failed);
  EXPECT_EQ(status->dumps, expected.dumps);
  EXPECT_EQ(status->unrecorded, expected.unrecorded);
  EXPECT_EQ(status->unreached, expected.unreached);
  EXPECT_EQ(status->started, expected.started);
  EXPECT_EQ(status->started_utc, expected.started_utc);
  EXPECT_EQ(status->folder, expected.folder);
  EXPECT_EQ(status->terminal, expected.terminal);
  EXPECT_EQ(status->user, expected.user);
}

TEST_F(ControlSocketTest, AnOlderSessionLeavesTheNewFieldsOut) {
  const Result<ControlServer> server = ControlServer::start(path_, [](const std::string& line) {
    return line.find("status") == line.npos
               ? R"({"ok":true,"toggle":{"mode":"park","strategy":"auto","site":"","requested_ns":1,"effective_ns":2}})"
               : R"({"ok":true,"status":{"name":"n","app":"a","output":"o","app_pid":1,"tool_pid":2,"mode":"poll",)"
                 R"("strategy":"poll","events":0,"waits":0,"lost":0,"runtime_attached":true,"sites":[],"stopped":"",)"
                 R"("ab":"","ab_running":false}})";
  });
  ASSERT_TRUE(server);
  const Result<SessionStatus> status = ask_status(path_);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->folder, "");
  EXPECT_EQ(status->started, 0);
  EXPECT_FALSE(status->user);
  const Result<ToggleReply> reply = ask_toggle(path_, {});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_TRUE(reply->before.empty());
  EXPECT_EQ(reply->processes, 1u);
}

TEST_F(ControlSocketTest, TogglesAndRefusals) {
  const Result<ControlServer> server = serve();
  ASSERT_TRUE(server);
  const Result<ToggleReply> reply = ask_toggle(path_, {Mode::park, StrategyId::leader_bar_sync, "halo"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->mode, Mode::park);
  EXPECT_EQ(reply->strategy, StrategyId::leader_bar_sync);
  EXPECT_EQ(reply->site, "halo");
  EXPECT_EQ(reply->requested, 100);
  EXPECT_EQ(reply->effective, 200);
  EXPECT_EQ(reply->unreached, 9u);
  EXPECT_EQ(reply->processes, 8u);
  EXPECT_EQ(reply->span, 50);
  ASSERT_EQ(reply->before.size(), 2u);
  EXPECT_EQ(reply->before[0].site, "halo");
  EXPECT_EQ(reply->before[0].mode, Mode::park);
  EXPECT_EQ(reply->before[0].strategy, StrategyId::backoff);
  EXPECT_EQ(reply->before[1].site, "flag");
  const Result<ToggleReply> refused = ask_toggle(path_, {Mode::park, StrategyId::poll, "none"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  EXPECT_NE(refused.error().message.find("'none'"), std::string::npos);
}

TEST_F(ControlSocketTest, AnswersMalformedRequestsAndKeepsRunning) {
  const Result<ControlServer> server = serve();
  ASSERT_TRUE(server);
  for (const char* line : {"", "{", "[]", "null", "{\"ask\":7}", "\xff\xfe", "{\"mode\":\"sideways\"}"}) {
    const Result<std::string> answer = ask(path_, line, 10 * kSecond);
    ASSERT_TRUE(answer) << line;
    EXPECT_NE(answer->find("\"ok\":false"), std::string::npos) << line << " -> " << *answer;
  }
  EXPECT_TRUE(ask_status(path_));
}

TEST(ControlAnswers, WithFieldsOfOtherTypesAreErrors) {
  for (const char* line : {R"({"ok":"yes"})", R"({"ok":false,"message":7})", R"({"ok":false,"kind":[]})",
                           R"({"ok":[]})", R"({"ok":true,"status":7,"toggle":7})"}) {
    const Result<SessionStatus> status = read_status_answer(line, "a.sock");
    const Result<ToggleReply> reply = read_toggle_answer(line, "a.sock");
    ASSERT_TRUE(!status && !reply) << line;
    EXPECT_NE(status.error().message.find("a.sock"), std::string::npos) << line;
    EXPECT_NE(reply.error().message.find("a.sock"), std::string::npos) << line;
  }
  for (const char* line : {R"({"ok":"yes"})", R"({"ok":false,"message":7})", R"({"ok":7})"}) {
    EXPECT_FALSE(read_ab_answer(line, "a.sock")) << line;
  }
}

TEST(ControlRequests, ADumpsNameArrivesAsItIs) {
  ControlHandler with_dump = handler();
  for (const char* name : {"/a folder/t.0001.wicprof", "/not\xff utf-8/t.0001.wicprof"}) {
    with_dump.dump = [&] { return Result<DumpReply>({name, 3}); };
    const Result<DumpReply> dump = read_dump_answer(answer_request(with_dump, R"({"request":"dump"})"), "a.sock");
    ASSERT_TRUE(dump) << dump.error().message;
    EXPECT_EQ(dump->trace, name);
    EXPECT_EQ(dump->number, 3u);
  }
  with_dump.dump = [] { return Result<DumpReply>(unavailable("no last minutes")); };
  const Result<DumpReply> refused = read_dump_answer(answer_request(with_dump, R"({"request":"dump"})"), "a.sock");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no last minutes");
  EXPECT_FALSE(read_dump_answer(R"({"ok":true})", "a.sock"));
}

TEST(ControlRequests, TheAutopilotBeginsAndEnds) {
  std::optional<AutoRequest> asked;
  ControlHandler with_autopilot = handler();
  with_autopilot.autopilot = [&](const AutoRequest& request) -> Result<> {
    asked = request;
    return request.off ? Result<>(unavailable("off already")) : ok();
  };
  const auto answer = [&](const std::string& line) {
    return read_ab_answer(answer_request(with_autopilot, line), "a.sock");
  };
  EXPECT_TRUE(answer(R"({"request":"auto","strategy":"block","side":"host"})"));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->strategy, StrategyId::block);
  EXPECT_EQ(asked->side, WaitSide::host);
  EXPECT_FALSE(asked->off);
  const Result<> off = answer(R"({"request":"auto","strategy":"auto","off":true})");
  ASSERT_FALSE(off);
  EXPECT_EQ(off.error().message, "off already");
  asked.reset();
  EXPECT_FALSE(answer(R"({"request":"auto"})"));
  EXPECT_FALSE(answer(R"({"request":"auto","strategy":"auto","off":7})"));
  EXPECT_FALSE(asked);
}

TEST(ControlRequests, NumbersThatNoIntegerHoldsAreRefused) {
  TimeNs asked = 0;
  ControlHandler with_ab = handler();
  with_ab.ab = [&](const AbRequest& request) -> Result<> {
    asked = request.time;
    return ok();
  };
  const auto answer = [&](const std::string& time) {
    return answer_request(with_ab, R"({"request":"ab","strategy":"auto","precision":0.01,"time_ns":)" + time + "}");
  };
  for (const char* time : {"1e30", "-1e30", "9223372036854775808.0", "1000055555555555555555555555555", "1.5"}) {
    EXPECT_NE(answer(time).find("\"ok\":false"), std::string::npos) << time;
  }
  EXPECT_EQ(asked, 0);
  EXPECT_NE(answer("5e9").find("\"ok\":true"), std::string::npos);
  EXPECT_EQ(asked, 5'000'000'000);
}

TEST_F(ControlSocketTest, MissingServerIsAnError) {
  const Result<SessionStatus> status = ask_status(path_);
  ASSERT_FALSE(status);
  EXPECT_FALSE(status.error().message.empty());
}

TEST_F(ControlSocketTest, ReplacesAStaleSocket) {
  { const Result<ControlServer> server = serve(); }
  const Result<ControlServer> server = serve();
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(ask_status(path_));
}

}  // namespace
}  // namespace wicprof
