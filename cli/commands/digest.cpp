// wic-prof digest: writes what of a rank's trace shows who waited for whom, to be analyzed with those of other ranks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "analyzer/ranks/digest.h"
#include "analyzer/ranks/join.h"
#include "analyzer/words/format.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/input_trace.h"
#include "cli/files/output_name.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "store/write/pack.h"

namespace wicprof::cli {

namespace {

/// Of a digest, per rank and begun hour.
constexpr std::size_t kMostBytes = 1'000'000;
/// Calls differ in how well they pack.
constexpr double kMargin = 0.9;

struct DigestOptions {
  std::vector<std::string> files;
  Output output{"", false, false};
};

/// The digest of one trace.
struct DigestPart {
  std::int32_t rank = std::numeric_limits<std::int32_t>::max();  ///< the lowest
  std::string name, bytes;
  std::uint64_t kept = 0, calls = 0;
};

Result<DigestPart> digest_part(const analyzer::TraceModel& model) {
  if (model.mpi_communicators.empty())
    return bad_input(
        fmt::format("{} has no calls of MPI, which a digest is made of; record with --trace "
                    "cuda,nvtx,host,mpi, or keep the trace itself",
                    model.name));
  const std::uint64_t most = analyzer::most_calls(model);
  for (std::uint64_t calls = most;;) {
    const analyzer::TraceModel digest = analyzer::digest(model, calls);
    Result<std::string> bytes = store::pack({digest, digest.meta, digest.stats, digest.digest_sums});
    if (!bytes) return bytes.error();
    const std::size_t limit = kMostBytes * analyzer::mpi_processes(digest) * analyzer::begun_hours(digest);
    // What is not calls has limits of its own, and is kept.
    if (bytes->size() > limit && calls > 0 && !model.is_digest()) {
      calls = static_cast<std::uint64_t>(kMargin * static_cast<double>(calls) * static_cast<double>(limit) /
                                         static_cast<double>(bytes->size()));
      continue;
    }
    DigestPart part;
    for (const store::MpiCommunicatorRow& row : digest.mpi_communicators)
      part.rank = std::min(part.rank, row.world_rank);
    part.name = digest.name;
    part.kept = digest.mpi_calls.size();
    part.calls = analyzer::count_mpi_calls(digest);
    part.bytes = *std::move(bytes);
    return part;
  }
}

Result<std::vector<DigestPart>> digest_parts(const std::vector<std::string>& files) {
  std::vector<DigestPart> parts;
  std::vector<analyzer::TraceModel> heads;  // what says which job a trace is of
  for (const std::string& file : files) {
    const Result<std::vector<analyzer::TraceModel>> models = load_traces(file);
    if (!models) return models.error();
    for (const analyzer::TraceModel& model : *models) {
      Result<DigestPart> part = digest_part(model);
      if (!part) return part.error();
      parts.push_back(*std::move(part));
      analyzer::TraceModel& head = heads.emplace_back();
      head.name = model.name;
      head.read_from = model.read_from;
      head.meta = model.meta;
      head.mpi_communicators = model.mpi_communicators;
    }
  }
  if (const std::optional<Error> error = analyzer::why_not_one_job(heads)) return *error;
  // One digest, whatever the order.
  std::sort(parts.begin(), parts.end(), [](const DigestPart& a, const DigestPart& b) {
    return std::tie(a.rank, a.name, a.bytes) < std::tie(b.rank, b.name, b.bytes);
  });
  return parts;
}

Result<Output> digest_output(const DigestOptions& options) {
  Output wanted = options.output;
  if (wanted.name.empty() && options.files.size() > 1)
    return bad_input("the digest of several files has no name; name it with -o");
  if (wanted.name.empty()) {
    std::string name = base_name(options.files.front());
    for (const std::string_view end : {".gz", ".wicprof"}) {
      if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
    }
    wanted.name = literal_name(name + ".digest");
  }
  return prepare_output(wanted);
}

int make_digest(const DigestOptions& options) {
  const Result<Output> output = digest_output(options);
  if (!output) return fail(output.error());
  const Result<std::vector<DigestPart>> parts = digest_parts(options.files);
  if (!parts) return fail(parts.error());
  std::string bytes;
  std::uint64_t kept = 0, calls = 0;
  for (const DigestPart& part : *parts) {
    bytes += part.bytes;
    kept += part.kept;
    calls += part.calls;
  }
  if (const Result<> written = write_bytes_to(*output, bytes); !written) return fail(written.error());
  if (output->name == "-") return kDone;
  note(fmt::format("{} written to {}: {}, {}", analyzer::count_of(parts->size(), "trace"), output->name,
                   analyzer::format_bytes(bytes.size()),
                   kept == calls ? fmt::format("all {} of MPI", analyzer::count_of(calls, "call"))
                                 : fmt::format("{} of {} of MPI, and sums of all", analyzer::format_count(kept),
                                               analyzer::count_of(calls, "call"))));
  return kDone;
}

}  // namespace

template <>
VerbBody declare<struct DigestVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<DigestOptions>();
  verb.add_option("FILE", options->files,
                  "a trace with calls of MPI; or several of one job, or digests, of which one digest is made")
      ->required();
  verb.add_option(
          "-o,--output", options->output.name,
          "the digest; by default in this folder, named after the trace; - is stdout; %p is the pid, %h the host, "
          "%q{VAR} an environment variable, %% a percent sign")
      ->type_name("FILE");
  verb.add_flag("-f,--force-overwrite", options->output.overwrite, "overwrite the digest if it exists");
  add_example(verb, "wic-prof digest trace.7.wicprof -o trace.7.digest");
  return [options] { return make_digest(*options); };
}

}  // namespace wicprof::cli
