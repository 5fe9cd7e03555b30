// SPDX-License-Identifier: BSD-3-Clause
//
// Runs before the libraries begin. The system's own OpenBLAS, which comes along with the library of linear programming, takes
// a buffer for each processor when it is loaded, and where the address space is limited (`ulimit -v`) it asks for ever.
// So the program looks for room first: where there is none for all processors and for kloom's own buffers, it starts again
// with one thread in that library (kloom sets its own number later), and where there is none for that one it says so.
// Nothing of C++ or of libc's environment is there yet.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "exit_code.h"

namespace {

constexpr std::size_t kBufferBytes = std::size_t{128} << 20;
constexpr std::size_t kRestBytes = std::size_t{16} << 20;  // what else is taken until main
constexpr std::size_t kMostVariables = 4096;
constexpr char kOneThread[] = "OMP_NUM_THREADS=1";
constexpr std::string_view kSentence =
    "kloom: a limit on the address space (ulimit -v) leaves no room for the libraries that kloom is made of; "
    "raise it, and "
    "limit kloom by its memory budget (--memory) instead\n";

bool room_for(std::size_t buffers) {
  const std::size_t bytes = buffers * kBufferBytes + kRestBytes;
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

// As the program was started, but with one thread. Returns true if it has been started so, false if it cannot be.
bool with_one_thread(char** arguments, char** environment) {
  std::array<char*, kMostVariables> changed{};
  std::size_t count = 0;
  const std::string_view one(kOneThread);
  const std::string_view name = one.substr(0, one.find('=') + 1);
  for (char** variable = environment; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (text == one) return true;
    if (count + 2 >= changed.size()) return false;
    if (!text.starts_with(name)) changed[count++] = *variable;
  }
  changed[count] =
      const_cast<char*>(kOneThread);  // NOLINT(cppcoreguidelines-pro-type-const-cast): execve only reads it
  execve("/proc/self/exe", arguments, changed.data());
  return false;
}

void look_for_room(int /*count*/, char** arguments, char** environment) {
  const long processors = sysconf(_SC_NPROCESSORS_CONF);
  constexpr std::size_t own = 2;  // src/algebra/blas_buffers.h
  if (room_for(own + (processors > 1 ? static_cast<std::size_t>(processors) : 1))) return;
  if (room_for(1) && with_one_thread(arguments, environment)) return;
  // Nobody is left to be told that this failed too.
  (void)!write(STDERR_FILENO, kSentence.data(), kSentence.size());
  _exit(kloom::cli::kFailed);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_the_libraries)(int, char**,
                                                                                 char**) = look_for_room;

}  // namespace
