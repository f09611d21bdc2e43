#include "collector/mpi/implementation.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <numeric>
#include <string>
#include <string_view>

namespace wicprof::collector {

namespace {

bool is_own(void* function) {
  Dl_info of_function{}, of_us{};
  return dladdr(function, &of_function) != 0 && dladdr(reinterpret_cast<void*>(&is_own), &of_us) != 0 &&
         of_function.dli_fbase == of_us.dli_fbase;
}

/// The function in a library that is loaded, or in what the library is linked with.
void* function_in(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  return found == nullptr || is_own(found) ? nullptr : found;
}

template <class Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(mpi_function(name, nullptr));
}

}  // namespace

void* mpi_function(const char* name, const void* caller) {
  if (void* const found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
  // A module of an interpreter brings its MPI along with RTLD_LOCAL.
  Dl_info of_caller{};
  if (caller != nullptr && dladdr(caller, &of_caller) != 0) {
    if (void* const found = function_in(of_caller.dli_fname, name); found != nullptr) return found;
  }
  std::vector<std::string> libraries;
  const auto add = [](dl_phdr_info* object, std::size_t, void* to) {
    if (std::strstr(object->dlpi_name, "mpi") != nullptr) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(object->dlpi_name);
    }
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
  for (const std::string& library : libraries) {
    if (void* const found = function_in(library.c_str(), name); found != nullptr) return found;
  }
  return nullptr;
}

std::optional<MpiImplementation> MpiImplementation::find() {
  MpiImplementation mpi;
  if (mpi_function("ompi_mpi_comm_world", nullptr) != nullptr) {
    // The library's own object need not be the one in use: a program's file may hold a copy.
    constexpr int kWorldOfFortran = 0, kNullOfFortran = 2;
    MpiWord (*handle_of)(int) = nullptr;
    look_up(handle_of, "PMPI_Comm_f2c");
    if (handle_of == nullptr) return std::nullopt;
    mpi.world = handle_of(kWorldOfFortran);
    mpi.no_communicator = handle_of(kNullOfFortran);
    mpi.handle_bytes = 8;
    mpi.status_bytes = 24;
    mpi.source_offset = 0;
    mpi.any_source = -1;
    mpi.proc_null = -2;
    mpi.status_ignore = 0;
  } else {
    // MPICH and what shares its binary interface.
    char text[8192] = {};  // as long as MPI_MAX_LIBRARY_VERSION_STRING of any of them
    int length = 0;
    int (*version)(char*, int*) = nullptr;
    look_up(version, "PMPI_Get_library_version");
    if (version == nullptr || version(text, &length) != 0) return std::nullopt;
    const std::string_view said(text);
    const auto is = [&](const char* name) { return said.find(name) != std::string_view::npos; };
    if (!is("MPICH") && !is("MVAPICH") && !is("Intel(R) MPI")) return std::nullopt;
    mpi.world = 0x44000000;
    mpi.no_communicator = 0x04000000;
    mpi.handle_bytes = 4;
    mpi.status_bytes = 20;
    mpi.source_offset = 8;
    mpi.any_source = -2;
    mpi.proc_null = -1;
    mpi.status_ignore = 1;
  }
  look_up(mpi.comm_rank_, "PMPI_Comm_rank");
  look_up(mpi.test_inter_, "PMPI_Comm_test_inter");
  look_up(mpi.type_size_, "PMPI_Type_size");
  look_up(mpi.test_cancelled_, "PMPI_Test_cancelled");
  look_up(mpi.group_size_, "PMPI_Group_size");
  look_up(mpi.group_, "PMPI_Comm_group");
  look_up(mpi.remote_group_, "PMPI_Comm_remote_group");
  look_up(mpi.translate_, "PMPI_Group_translate_ranks");
  look_up(mpi.free_group_, "PMPI_Group_free");
  for (const void* const function :
       {reinterpret_cast<void*>(mpi.comm_rank_), reinterpret_cast<void*>(mpi.test_inter_),
        reinterpret_cast<void*>(mpi.type_size_), reinterpret_cast<void*>(mpi.test_cancelled_),
        reinterpret_cast<void*>(mpi.group_size_), reinterpret_cast<void*>(mpi.group_),
        reinterpret_cast<void*>(mpi.remote_group_), reinterpret_cast<void*>(mpi.translate_),
        reinterpret_cast<void*>(mpi.free_group_)}) {
    if (function == nullptr) return std::nullopt;
  }
  if (mpi.handle_bytes == 8) mpi.find_own_types();
  return mpi;
}

void MpiImplementation::find_own_types() {
  for (const char* const name :
       {"ompi_mpi_char",    "ompi_mpi_signed_char",    "ompi_mpi_unsigned_char", "ompi_mpi_byte",
        "ompi_mpi_short",   "ompi_mpi_unsigned_short", "ompi_mpi_int",           "ompi_mpi_unsigned",
        "ompi_mpi_long",    "ompi_mpi_unsigned_long",  "ompi_mpi_long_long_int", "ompi_mpi_unsigned_long_long",
        "ompi_mpi_float",   "ompi_mpi_double",         "ompi_mpi_int8_t",        "ompi_mpi_uint8_t",
        "ompi_mpi_int16_t", "ompi_mpi_uint16_t",       "ompi_mpi_int32_t",       "ompi_mpi_uint32_t",
        "ompi_mpi_int64_t", "ompi_mpi_uint64_t",       "ompi_mpi_cxx_bool",      "ompi_mpi_c_bool"}) {
    void* place = dlsym(RTLD_DEFAULT, name);  // a program's file may hold a copy
    if (place == nullptr) place = mpi_function(name, nullptr);
    int size = 0;
    const auto type = reinterpret_cast<MpiWord>(place);
    if (place != nullptr && type_size_(type, &size) == 0) own_types_.emplace_back(type, size);
  }
}

std::int64_t MpiImplementation::bytes_of_own_type(std::int64_t count, MpiWord datatype) const {
  if (count < 0) return -1;
  if (handle_bytes == 4) {  // MPICH's handle of such a type holds its size
    const MpiWord type = handle(datatype);
    return type >> 24 == 0x4c ? count * static_cast<std::int64_t>((type >> 8) & 0xff) : -1;
  }
  for (const auto& [type, size] : own_types_) {
    if (type == datatype) return count * size;
  }
  return -1;
}

MpiWord MpiImplementation::handle_at(MpiWord address, std::size_t index) const {
  MpiWord value = 0;
  if (address == 0) return value;  // an error of the program, which MPI reports
  std::memcpy(&value, reinterpret_cast<const char*>(address) + index * handle_bytes, handle_bytes);
  return value;
}

MpiSource MpiImplementation::source_in(MpiWord statuses, std::size_t index) const {
  MpiSource found;
  std::memcpy(&found, reinterpret_cast<const char*>(statuses) + index * status_bytes + source_offset, sizeof found);
  return found;
}

bool MpiImplementation::was_cancelled(MpiWord statuses, std::size_t index) const {
  int cancelled = 0;
  return test_cancelled_(statuses + index * status_bytes, &cancelled) == 0 && cancelled != 0;
}

std::int64_t MpiImplementation::bytes(std::int64_t count, MpiWord datatype) const {
  if (count <= 0) return 0;
  int size = 0;
  return type_size_(datatype, &size) == 0 && size >= 0 ? count * size : -1;
}

int MpiImplementation::rank(MpiWord communicator) const {
  int rank = -1;
  return comm_rank_(communicator, &rank) == 0 ? rank : -1;
}

bool MpiImplementation::is_intercommunicator(MpiWord communicator) const {
  int inter = 0;
  return test_inter_(communicator, &inter) == 0 && inter != 0;
}

std::vector<int> MpiImplementation::world_ranks(MpiWord communicator, bool remote) const {
  MpiWord all = 0, group = 0;
  int size = 0;
  std::vector<int> ranks;
  if (group_(world, &all) != 0) return ranks;
  if ((remote ? remote_group_ : group_)(communicator, &group) == 0) {
    if (group_size_(group, &size) == 0 && size > 0) {
      std::vector<int> own(static_cast<std::size_t>(size));
      std::iota(own.begin(), own.end(), 0);
      ranks.resize(own.size());
      if (translate_(group, size, own.data(), all, ranks.data()) != 0) ranks.clear();
    }
    free_group_(&group);
  }
  free_group_(&all);
  return ranks;
}

}  // namespace wicprof::collector
