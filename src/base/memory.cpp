// SPDX-License-Identifier: BSD-3-Clause
#include "base/memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "kloom/error.h"

namespace kloom {
namespace base {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

std::optional<std::size_t> to_number(std::string_view text) {
  std::size_t value = 0;
  const auto first = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(first);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// The number that a file consists of; nullopt for "max" or no such file.
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return to_number(line);
}

// The number after `key` at the start of a line.
std::optional<std::size_t> number_after(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (std::string_view(line).starts_with(key)) return to_number(std::string_view(line).substr(key.size()));
  }
  return std::nullopt;
}

// Without /proc (a bare chroot) the system call tells less: what is free without the page cache.
std::size_t meminfo(const MemorySources& sources, std::string_view key) {
  const auto kibibytes = number_after(sources.proc + "/meminfo", key);
  if (kibibytes) return *kibibytes * 1024;
  struct sysinfo told = {};
  if (sources.proc != "/proc" || sysinfo(&told) != 0) return 0;
  const std::size_t units = key == "MemTotal:" ? told.totalram : told.freeram + told.bufferram;
  return units * told.mem_unit;
}

struct Limit {
  std::size_t total = kUnlimited;
  std::size_t free = kUnlimited;
};

struct CgroupNames {
  const char* limit;
  const char* usage;
  const char* reclaimable;
};
constexpr CgroupNames kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file "};
constexpr CgroupNames kVersion2{"/memory.max", "/memory.current", "inactive_file "};

void tighten(Limit& limit, const std::string& folder, const CgroupNames& names) {
  const auto most = number_in(folder + names.limit);
  if (!most) return;
  const std::size_t used = number_in(folder + names.usage).value_or(0);
  // Page cache that the kernel would give back counts as used there, but not for us.
  const std::size_t cache = number_after(folder + "/memory.stat", names.reclaimable).value_or(0);
  const std::size_t held = used - std::min(used, cache);
  limit.total = std::min(limit.total, *most);
  limit.free = std::min(limit.free, *most - std::min(*most, held));
}

// A limit holds for everything below it, so every folder from the process's own up to the root counts. In a
// container the path may name folders that are outside its view; those are simply not there.
void tighten_upwards(Limit& limit, const std::string& root, std::string path, const CgroupNames& names) {
  while (!path.empty() && path != "/") {
    tighten(limit, root + path, names);
    path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
  tighten(limit, root, names);
}

Limit cgroup_limit(const MemorySources& sources) {
  Limit limit;
  std::ifstream file(sources.proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") tighten_upwards(limit, sources.cgroup, path, kVersion2);
    if (controllers.find(",memory,") != std::string::npos) {
      tighten_upwards(limit, sources.cgroup + "/memory", path, kVersion1);
    }
  }
  return limit;
}

std::size_t free_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return std::max<std::size_t>(1, limit.rlim_cur - std::min<std::size_t>(limit.rlim_cur, address_space()));
}

}  // namespace

std::size_t total_memory(const MemorySources& sources) {
  return std::min(meminfo(sources, "MemTotal:"), cgroup_limit(sources).total);
}

std::size_t address_space() {
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 64> text{};
  const ssize_t got = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  std::size_t pages = 0;
  for (ssize_t i = 0;
       i < got && text[static_cast<std::size_t>(i)] >= '0' && text[static_cast<std::size_t>(i)] <= '9'; ++i)
    pages = pages * 10 + static_cast<std::size_t>(text[static_cast<std::size_t>(i)] - '0');
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t free_memory(const MemorySources& sources) {
  return std::min({meminfo(sources, "MemAvailable:"), cgroup_limit(sources).free, free_address_space()});
}

void give_back_freed_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

Context without_memory(const Context& context, std::size_t bytes) {
  Context rest = context;
  if (context.memory_budget != 0)
    rest.memory_budget = context.memory_budget > bytes ? context.memory_budget - bytes : 1;
  return rest;
}

void require_memory(std::size_t needed, const Context& context, const std::string& what,
                    const std::string& remedy) {
  const std::size_t budget = memory_budget(context);
  if (needed <= budget) return;
  throw ResourceError(fmt::format("{} would take {} of memory, and {} may be used{}{}", what,
                                  format_bytes(needed), format_bytes(budget), remedy.empty() ? "" : "; ",
                                  remedy));
}

}  // namespace base

std::string format_bytes(std::size_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array kUnits{"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000.0;
  std::size_t unit = 0;
  // 999.5 and above would be written as 1000.
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000.0;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                      : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::size_t memory_budget(const Context& context) {
  if (context.memory_budget != 0) return context.memory_budget;
  const std::size_t available = base::free_memory();
  if (available == 0) return base::kUnlimited;  // a system that does not tell: let the allocator decide
  return available / 5 * 4;
}

}  // namespace kloom
