// What the driver is to get in the place of an image that a program loads: the patched PTX of that image.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "protocol/wanted_value.h"
#include "rewriter/flow/stores.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {

/// A patched loop, with copies of all that it needs after the load.
struct LoadedSite {
  std::string function;  ///< symbol of the kernel, or of the function that a kernel calls
  std::string name;      ///< LoopVerdict::name
  Pause pause = Pause::none;
  bool watches = false;     ///< other threads can wait for its word in its place (Site::watches())
  bool knows_word = false;  ///< its records have the word's address and value
  bool ends_known = false;  ///< its sample has rounds and times (Site::records())
  WantedValue wanted;
};

struct Replacement {
  std::string text;               ///< PTX; empty: the image stays as it is
  bool has_machine_code = false;  ///< the image does, for this architecture
  bool counts = true;             ///< its waits are counted
  std::string unpatched;          ///< the same PTX without the patch
  std::string table;              ///< as Patch::table
  std::vector<LoadedSite> sites;
  std::vector<std::string> kernels;       ///< symbols of all kernels of the text
  std::set<std::string> patched_kernels;  ///< those with a patched loop of their own, and all if a function has one
  std::set<std::string> small_kernels;    ///< patched ones that have few values
  std::set<std::string> calling_kernels;  ///< patched ones that look by calling a function
  std::vector<KernelStores> stores;       ///< of the kernels of the PTX, also where there is no text
  bool ended_early = false;               ///< the time for the analysis was over: another load may get further
  std::string left_alone;                 ///< why there is no text, if there is a reason worth a line
  std::vector<std::string> machine_code_only;  ///< symbols of the kernels that the image has no PTX for
  std::map<std::string, std::string>
      kernels_left_alone;  ///< by symbol, those whose waits are not patched, with a reason
};

/// PTX beyond this is left alone, since the program waits while it is read and compiled (chosen).
inline constexpr std::size_t kLargestPtx = std::size_t{2} << 20;  // bytes

/// The program waits for its load while the PTX is judged: at most this long (chosen, as a user notices more).
inline constexpr std::chrono::seconds kLongestAnalysis{2};

/// True for that long from now on.
GoesOn within(std::chrono::nanoseconds time);

/// `image`: PTX text, a cubin or a fat binary, complete. `architecture`: of the device, 90 for sm_90. The image stays
/// as it is where its PTX is not understood, has no wait, waits through wic, is older than its machine code, or was
/// compiled with options that the driver would not see, or where `goes_on` ended the analysis. `counts`: as patch().
Replacement replacement_of(std::string_view image, int architecture, const GoesOn& goes_on = within(kLongestAnalysis),
                           bool counts = true);

/// Why PTX stays as it is, whatever its loops do; empty: they decide.
std::string why_untouched(const std::string& text);

/// Whether an image that a program loads holds PTX. False only where its headers say that there is none.
bool may_have_ptx(std::string_view image);

/// The same image, patched but for `kernels` (by symbol, with the reason each). No text where that leaves no wait, or
/// where the wait of one of them is in a function that kernels call.
Replacement without_kernels(const Replacement& replacement, const std::map<std::string, std::string>& kernels);

}  // namespace wicprof::rewriter
