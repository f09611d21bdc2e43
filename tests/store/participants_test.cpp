// The trace's numbers for the devices and sites of several processes, each of which has its own numbering.
#include "store/write/participants.h"

#include "protocol/events/call.h"
#include "protocol/events/kernel.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

Participants two_processes() {
  Participants participants;
  participants.set_process(0, 100);
  participants.set_process(1, 200);
  return participants;
}

TEST(Participants, OneUuidIsOneDeviceWhateverItsNumbers) {
  Participants participants = two_processes();
  participants.add_device(0, 0, "GPU-a");
  participants.add_device(0, 1, "GPU-b");
  participants.add_device(1, 0, "GPU-b");  // by CUDA_VISIBLE_DEVICES=1
  EXPECT_EQ(participants.device(0, 0), 0);
  EXPECT_EQ(participants.device(0, 1), 1);
  EXPECT_EQ(participants.device(1, 0), 1);
}

TEST(Participants, TwoUuidsAreTwoDevicesDespiteEqualNumbers) {
  Participants participants = two_processes();
  participants.add_device(0, 0, "GPU-a");
  participants.add_device(1, 0, "GPU-b");
  EXPECT_EQ(participants.device(0, 0), 0);
  EXPECT_EQ(participants.device(1, 0), 1);
}

TEST(Participants, RingsOfAProcessShareItsDevices) {
  Participants participants = two_processes();
  participants.set_process(2, 200);  // the runtime's ring, beside the collector's
  participants.add_device(0, 0, "GPU-a");
  participants.add_device(1, 0, "GPU-b");
  EXPECT_EQ(participants.device(2, 0), 1);
  participants.add_device(2, 0, "GPU-b");
  EXPECT_EQ(participants.device(2, 0), 1);
  EXPECT_EQ(participants.device(1, 0), 1);
}

TEST(Participants, CpuDevicesOfTwoProcessesAreTwo) {
  Participants participants = two_processes();
  participants.add_device(0, kSimtDeviceBase, "CPU-100-0");
  participants.add_device(1, kSimtDeviceBase, "CPU-200-0");
  EXPECT_EQ(participants.device(0, kSimtDeviceBase), kSimtDeviceBase);
  EXPECT_EQ(participants.device(1, kSimtDeviceBase), kSimtDeviceBase + 1);
}

TEST(Participants, WithoutUuidsEqualNumbersAreOneDevice) {
  Participants participants = two_processes();
  participants.add_device(0, 0, "");
  participants.add_device(1, 0, "");
  EXPECT_EQ(participants.device(1, 0), 0);
  EXPECT_EQ(participants.device(1, kHostDevice), kHostDevice);
}

TEST(Participants, SitesOfOneNameAreOne) {
  Participants participants = two_processes();
  participants.add_site(0, 1, "halo west");
  participants.add_site(0, 2, "halo east");
  participants.add_site(1, 1, "halo east");
  participants.add_site(1, 2, "reduce");
  EXPECT_EQ(participants.site(0, 1), 1u);
  EXPECT_EQ(participants.site(0, 2), 2u);
  EXPECT_EQ(participants.site(1, 1), 2u);
  EXPECT_EQ(participants.site(1, 2), 3u);
}

TEST(Participants, EachRuntimeOfAProcessNumbersItsSites) {
  Participants participants;
  participants.set_process(0, 100);
  participants.set_process(1, 100);
  participants.add_site(0, 1, "halo west");
  participants.add_site(1, 1, "halo east");
  EXPECT_EQ(participants.site(0, 1), 1u);
  EXPECT_EQ(participants.site(1, 1), 2u);
  participants.forget_ring(1);
  EXPECT_EQ(participants.site(1, 1), 1u);  // the next producer has declared nothing yet
  participants.add_site(1, 5, "halo east");
  EXPECT_EQ(participants.site(1, 5), 2u);
}

// The same through the recorder: rows of two processes and the devices that they refer to.
TEST(Participants, RowsHaveTheTracesNumbers) {
  TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  const char* const uuids[] = {"GPU-a", "GPU-b"};
  for (std::size_t ring = 0; ring < 2; ++ring) {
    recorder->set_ring_process(ring, 100 * static_cast<std::uint32_t>(ring + 1));
    recorder->add(ring, Text(1, uuids[ring]).header());
    DeviceEvent device = make_event<DeviceEvent>();
    device.kind = DeviceKind::cuda;
    device.uuid = 1;
    recorder->add(ring, device.header);
    recorder->add(ring, make_event<KernelEvent>().header);
  }
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
  Database database;
  ASSERT_EQ(database.open(path, OpenMode::read_only), 0);
  int code = 0;
  Statement statement = database.prepare(
      "SELECT k.process_id, k.device_id, u.value = 'GPU-a', u.value = 'GPU-b' FROM kernel k JOIN device d ON d.id = "
      "k.device_id "
      "JOIN string u ON u.id = d.uuid_id ORDER BY k.id",
      code);
  ASSERT_TRUE(statement.next(code)) << database.message();
  EXPECT_EQ(statement.integer(0), 100);
  EXPECT_EQ(statement.integer(1), 0);
  EXPECT_EQ(statement.integer(2), 1);
  ASSERT_TRUE(statement.next(code)) << database.message();
  EXPECT_EQ(statement.integer(0), 200);
  EXPECT_EQ(statement.integer(1), 1);
  EXPECT_EQ(statement.integer(3), 1);
  EXPECT_FALSE(statement.next(code));
}

}  // namespace
}  // namespace wicprof::store
