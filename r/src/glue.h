// SPDX-License-Identifier: BSD-3-Clause
//
// What both files of the glue between R and libkloom need: values that cross, errors that become R conditions, and
// computations that R can interrupt. No algorithm is here; everything is asked of the library's public headers.
#pragma once

#include <Rcpp.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/error.h"
#include "kloom/matrix.h"
#include "kloom/model.h"

namespace rkloom {

// Texts cross in UTF-8; NA becomes "".
[[nodiscard]] std::string to_text(SEXP character);
[[nodiscard]] std::vector<std::string> to_texts(SEXP characters);
[[nodiscard]] Rcpp::CharacterVector to_r(const std::vector<std::string>& texts);
[[nodiscard]] Rcpp::NumericMatrix to_r(const kloom::Matrix& matrix);
[[nodiscard]] Rcpp::RawVector to_raw(const std::string& bytes);

// Samples as R describes them (R/inputs.R, `as_samples`). Kernel matrices stay where R has them: the data set must not
// outlive the call.
[[nodiscard]] kloom::Dataset dataset_of(const Rcpp::List& samples);

// Labels as a file would have them, "" where there is none: texts, or numbers in a matrix with a column per target.
[[nodiscard]] std::vector<std::string> labels_of(SEXP y);

// A value that R raises as a condition of class kloom_<kind>.
[[nodiscard]] SEXP failure(const char* kind, const char* sentence);

// The value of `body`, or what went wrong in it.
template <typename Body>
SEXP answer(Body body) {
  BEGIN_RCPP
  try {
    return body();
  } catch (const kloom::InvalidArgument& e) {
    return failure("invalid_argument", e.what());
  } catch (const kloom::FileError& e) {
    return failure("file_error", e.what());
  } catch (const kloom::ResourceError& e) {
    return failure("resource_error", e.what());
  } catch (const kloom::InternalError& e) {
    return failure("internal_error", e.what());
  } catch (const kloom::Error& e) {
    return failure("numerical_error", e.what());
  } catch (const std::bad_alloc&) {
    return failure("resource_error", "there is not enough memory");
  }
  END_RCPP
}

// A computation in a thread of its own. Only the main thread may call R, so it waits here: it looks for Ctrl-C and passes
// on what the computation says, whatever thread said it.
class Watch {
 public:
  // threads, seed, memory, and tell(level, sentence)
  explicit Watch(const Rcpp::List& settings);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  template <typename Work>
  auto run(Work work) {
    const kloom::Context context = make_context();
    auto result = std::async(std::launch::async, [&] { return work(context); });
    try {
      while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) look();
      tell();
    } catch (...) {
      stop_ = true;  // R left through an error of tell(): the computation ends before what it works on is gone
      result.wait();
      throw;
    }
    if (stop_) {
      result.wait();
      throw Rcpp::internal::InterruptedException();
    }
    return result.get();
  }

 private:
  [[nodiscard]] kloom::Context make_context();
  void look();
  void tell();

  kloom::Context base_;
  Rcpp::Function tell_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::deque<std::pair<kloom::LogLevel, std::string>> said_;
};

}  // namespace rkloom
