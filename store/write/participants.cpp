#include "store/write/participants.h"

namespace wicprof::store {

void Participants::set_process(std::size_t ring, std::uint32_t pid) {
  if (ring >= processes_.size()) processes_.resize(ring + 1);
  processes_[ring] = pid;
}

void Participants::add_device(std::size_t ring, DeviceId id, const std::string& uuid) {
  devices_.add(process(ring), id, uuid);
}

void Participants::add_site(std::size_t ring, SiteId id, const std::string& name) {
  sites_.add(static_cast<std::uint32_t>(ring), id, name);
}

}  // namespace wicprof::store
