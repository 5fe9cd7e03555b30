// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>

#include <chrono>
#include <cstdlib>
#include <new>

#include "bindings.h"
#include "kloom/machine.h"

namespace kloom::python {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

alignas(std::mutex) unsigned char lock_memory[sizeof(std::mutex)];

// Also what a forked child does: the thread that held the parent's lock is not there.
void make_lock() {
  new (lock_memory) std::mutex;
}

py::dict machine(bool measure) {
  MachineInfo info;
  {
    const py::gil_scoped_release release;
    info = machine_info(measure);
  }
  py::dict result;
  result["processor"] = info.processor;
  result["instruction_set"] = info.instruction_set;
  result["cores"] = info.cores;
  result["threads"] = info.threads;
  result["memory_bytes"] = info.memory_bytes;
  result["memory_free_bytes"] = info.memory_free_bytes;
  result["blas"] = info.blas;
  result["blas_core"] = info.blas_core;
  result["blas_core_suits"] = info.blas_core_suits;
  if (!measure) return result;
  result["dgemm_gflops"] = info.dgemm_gflops;
  result["dgemm_gflops_1"] = info.dgemm_gflops_1;
  result["bandwidth_gbs"] = info.bandwidth_gbs;
  return result;
}

}  // namespace

std::mutex& computation_lock() {
  return *std::launder(reinterpret_cast<std::mutex*>(lock_memory));
}

Context Watch::context() {
  Context context;
  context.threads = settings_.threads;
  context.seed = settings_.seed;
  context.memory_budget = settings_.memory;
  context.progress = [this](const Progress& progress) { return look(progress); };
  if (!settings_.log.is_none()) {
    context.log = [this](LogLevel level, std::string_view message) { tell(level, message); };
  }
  return context;
}

// Taking the GIL at every step would make a busy interpreter slow the computation down.
Signal Watch::look(const Progress& progress) {
  constexpr double kInterval = 0.05;
  if (raised_) return Signal::abort;
  if (now() - last_look_ < kInterval) return Signal::go_on;
  last_look_ = now();
  const py::gil_scoped_acquire gil;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!settings_.progress.is_none()) {
      settings_.progress(std::string(progress.stage), progress.step, progress.steps, progress.objective,
                         progress.seconds);
    }
  } catch (const py::error_already_set&) {
    raised_ = std::current_exception();
    return Signal::abort;
  }
  return Signal::go_on;
}

void Watch::tell(LogLevel level, std::string_view message) {
  if (raised_) return;
  const py::gil_scoped_acquire gil;
  const char* name = level == LogLevel::warning ? "warning" : level == LogLevel::info ? "info" : "debug";
  try {
    settings_.log(name, std::string(message));
  } catch (const py::error_already_set&) {
    raised_ = std::current_exception();  // the next look ends the computation
  }
}

void bind_context(py::module_& m) {
  make_lock();
  pthread_atfork(nullptr, nullptr, make_lock);
  // From here on a forked child is known to be one (it uses one thread).
  static_cast<void>(machine_info(false));

  static py::exception<InternalError> internal(m, "InternalError", PyExc_RuntimeError);
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 asks for this signature
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const InvalidArgument& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const FileError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    } catch (const ResourceError& e) {
      PyErr_SetString(PyExc_MemoryError, e.what());
    } catch (const Interrupted& e) {
      PyErr_SetString(PyExc_KeyboardInterrupt, e.what());
    } catch (const InternalError& e) {
      PyErr_SetString(internal.ptr(), e.what());
    }
  });

  py::class_<Settings>(m, "Settings")
      .def(py::init(
               [](int threads, std::uint64_t seed, std::size_t memory, py::object log, py::object progress) {
                 return Settings{threads, seed, memory, std::move(log), std::move(progress)};
               }),
           py::arg("threads") = 0, py::arg("seed") = 1, py::arg("memory") = 0, py::arg("log") = py::none(),
           py::arg("progress") = py::none());

  m.def("cure_blas_core", &cure_blas_core);
  m.def("machine_info", &machine, py::arg("measure") = false);
  m.def("version", &version);
}

}  // namespace kloom::python
