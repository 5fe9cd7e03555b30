// SPDX-License-Identifier: BSD-3-Clause
//
// Just enough SVG for the figures of the report: text in a coordinate system 400 wide, colours by CSS class, so
// that light, dark and print are the style sheet's business.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kloom::report {

// For HTML and SVG text and attributes.
[[nodiscard]] std::string escaped(std::string_view text);
// At most `most` characters, with "…" where something was cut off.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most);
// The same with the sign in the middle, for names that differ at both ends.
[[nodiscard]] std::string shortened_inside(const std::string& text, std::size_t most);
// With a capital letter at the beginning.
[[nodiscard]] std::string capitalised(std::string text);
// "0.00123", "1.2", "350": about three digits, for axes and tables.
[[nodiscard]] std::string short_number(double value);

// Round numbers between two others, about `count` of them.
[[nodiscard]] std::vector<double> ticks(double low, double high, int count);

// From data to a coordinate of the figure.
struct Axis {
  double low = 0.0, high = 1.0;   // data
  double start = 0.0, end = 1.0;  // figure
  bool logarithmic = false;
  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] std::vector<double> marks(int count) const;
};

class Svg {
 public:
  static constexpr double kWidth = 400.0;
  static constexpr double kRight = kWidth - 8.0;  // where plots end
  explicit Svg(double height) : height_(height) {}

  Svg& line(double x1, double y1, double x2, double y2, std::string_view classes);
  Svg& rect(double x, double y, double width, double height, std::string_view classes, double opacity = 1.0);
  // With a tooltip.
  Svg& circle(double x, double y, double radius, std::string_view classes, std::string_view title = "");
  Svg& path(const std::vector<std::pair<double, double>>& points, std::string_view classes);
  // `anchor`: "start", "middle" or "end".
  Svg& text(double x, double y, std::string_view words, std::string_view anchor = "start",
            std::string_view classes = "");
  // Lines with numbers under or beside the plot.
  Svg& x_axis(const Axis& axis, double top, double bottom, std::string_view title);
  Svg& y_axis(const Axis& axis, double left, double right, std::string_view title);

  // The whole element, with a title and a description for those who cannot see it.
  [[nodiscard]] std::string str(const std::string& id, const std::string& title,
                                const std::string& description) const;

 private:
  double height_;
  std::string body_;
};

}  // namespace kloom::report
