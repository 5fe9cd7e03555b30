// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <memory>
#include <string>

#include "data/mat_child.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

// matio's log function takes no user data. The first serious message is kept; this runs in a process of its
// own with one thread.
std::string first_message;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void kloom_keep_matio_message(int level, char* message) {
  constexpr int serious = MATIO_LOG_LEVEL_ERROR | (MATIO_LOG_LEVEL_CRITICAL) | (MATIO_LOG_LEVEL_WARNING);
  if ((level & serious) != 0 && first_message.empty())
    first_message = message == nullptr ? "unknown trouble" : message;
}

void refuse_messages() {
  if (first_message.empty()) return;
  std::string line = first_message.substr(0, first_message.find('\n'));
  while (!line.empty() && (line.back() == '.' || line.back() == ' ')) line.pop_back();
  throw FileError(fmt::format("matio says \"{}\"", line));
}

struct CloseFile {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeArray {
  void operator()(matvar_t* array) const { Mat_VarFree(array); }
};

template <typename T>
void widen(const void* data, Vector& out) {
  const T* values = static_cast<const T*>(data);
  std::transform(values, values + out.size(), out.begin(), [](T v) { return static_cast<double>(v); });
}

bool convert(matio_classes array_class, const void* data, Vector& out) {
  switch (array_class) {
    case MAT_C_DOUBLE:
      widen<double>(data, out);
      return true;
    case MAT_C_SINGLE:
      widen<float>(data, out);
      return true;
    case MAT_C_INT8:
      widen<std::int8_t>(data, out);
      return true;
    case MAT_C_UINT8:
      widen<std::uint8_t>(data, out);
      return true;
    case MAT_C_INT16:
      widen<std::int16_t>(data, out);
      return true;
    case MAT_C_UINT16:
      widen<std::uint16_t>(data, out);
      return true;
    case MAT_C_INT32:
      widen<std::int32_t>(data, out);
      return true;
    case MAT_C_UINT32:
      widen<std::uint32_t>(data, out);
      return true;
    case MAT_C_INT64:
      widen<std::int64_t>(data, out);
      return true;
    case MAT_C_UINT64:
      widen<std::uint64_t>(data, out);
      return true;
    default:
      return false;
  }
}

std::size_t class_bytes(matio_classes array_class) {
  switch (array_class) {
    case MAT_C_DOUBLE:
    case MAT_C_INT64:
    case MAT_C_UINT64:
      return 8;
    case MAT_C_SINGLE:
    case MAT_C_INT32:
    case MAT_C_UINT32:
      return 4;
    case MAT_C_INT16:
    case MAT_C_UINT16:
      return 2;
    case MAT_C_INT8:
    case MAT_C_UINT8:
      return 1;
    default:
      return 0;
  }
}

// Fills in name and shape; false if read_mat does not return such an array.
bool wanted(const matvar_t& array, MatArray& out, std::size_t& count) {
  if (array.name == nullptr || array.name[0] == '\0' || array.isComplex != 0 ||
      class_bytes(array.class_type) == 0 || array.rank < 1 || array.rank > 3 || array.dims == nullptr)
    return false;
  out.name = array.name;
  count = 1;
  for (int d = 0; d < array.rank; ++d) {
    out.shape.push_back(static_cast<Index>(array.dims[d]));
    if (__builtin_mul_overflow(count, array.dims[d], &count))
      throw FileError("an array has an impossible shape");
  }
  return count > 0;
}

}  // namespace

void read_with_matio(const std::string& path, const std::vector<MatEntry>& expected, const ArraySink& sink) {
  Mat_LogInitFunc("kloom", kloom_keep_matio_message);
  const std::unique_ptr<mat_t, CloseFile> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  refuse_messages();
  if (file == nullptr) throw FileError("matio cannot open it");
  std::vector<MatEntry> pending = expected;
  for (;;) {
    const std::unique_ptr<matvar_t, FreeArray> array(Mat_VarReadNextInfo(file.get()));
    refuse_messages();
    if (array == nullptr) break;
    MatArray out;
    std::size_t count = 0;
    if (!wanted(*array, out, count)) continue;
    const auto promised = std::find(pending.begin(), pending.end(), MatEntry{out.name, out.shape});
    if (promised == pending.end())
      throw FileError(fmt::format("array '{}' is not what the file's structure says", out.name));
    pending.erase(promised);
    const int status = Mat_VarReadDataAll(file.get(), array.get());
    refuse_messages();
    if (status != 0 || array->data == nullptr ||
        static_cast<std::size_t>(array->data_size) != class_bytes(array->class_type) ||
        array->nbytes != count * class_bytes(array->class_type))
      throw FileError(fmt::format("the numbers of array '{}' cannot be read", out.name));
    out.values.resize(count);
    if (!convert(array->class_type, array->data, out.values)) throw FileError("an array has an unknown class");
    sink(out);
  }
  if (!pending.empty()) throw FileError(fmt::format("matio does not find array '{}'", pending.front().name));
}

}  // namespace kloom::data
