// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kloom::report {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string shortened(const std::string& text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;  // inside a UTF-8 character
    if (++characters > most) {
      std::size_t cut = i;  // the character before this one makes room for the sign
      do --cut;
      while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80);
      return text.substr(0, cut) + "…";
    }
  }
  return text;
}

std::string shortened_inside(const std::string& text, std::size_t most) {
  std::vector<std::size_t> starts;  // of UTF-8 characters
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  if (starts.size() <= most) return text;
  const std::size_t tail = (most - 1) / 2;
  return text.substr(0, starts[most - 1 - tail]) + "…" + text.substr(starts[starts.size() - tail]);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 32);
  return text;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  if (size != 0.0 && (size < 1e-3 || size >= 1e5)) return fmt::format("{:.2g}", value);
  std::string text = fmt::format("{:.{}f}", value, size >= 100 ? 0 : (size >= 10 ? 1 : (size >= 1 ? 2 : 3)));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::vector<double> ticks(double low, double high, int count) {
  const double raw = (high - low) / std::max(1, count);
  if (!(raw > 0.0) || !std::isfinite(raw)) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10.0 * power;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * power >= raw * (1.0 - 1e-9)) {
      step = nice * power;
      break;
    }
  }
  std::vector<double> marks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0)
    marks.push_back(k * step);
  return marks;
}

double Axis::operator()(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log(std::max(v, 1e-300)) : v; };
  const double span = place(high) - place(low);
  const double share = span != 0.0 ? (place(value) - place(low)) / span : 0.5;
  return start + share * (end - start);
}

std::vector<double> Axis::marks(int count) const {
  if (!logarithmic) return ticks(low, high, count);
  std::vector<double> marks;
  for (double k = std::ceil(std::log10(low) - 1e-9); std::pow(10.0, k) <= high * (1.0 + 1e-9); k += 1.0)
    marks.push_back(std::pow(10.0, k));
  return marks.size() >= 2 ? marks : std::vector<double>{low, high};
}

Svg& Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  body_ += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' class='{}'/>", x1, y1, x2, y2,
                       classes);
  return *this;
}

Svg& Svg::rect(double x, double y, double width, double height, std::string_view classes, double opacity) {
  body_ += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' class='{}'", x, y,
                       std::max(0.0, width), height, classes);
  if (opacity < 1.0) body_ += fmt::format(" opacity='{:.3f}'", opacity);
  body_ += "/>";
  return *this;
}

Svg& Svg::circle(double x, double y, double radius, std::string_view classes, std::string_view title) {
  body_ += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{:.1f}' class='{}'", x, y, radius, classes);
  body_ += title.empty() ? "/>" : fmt::format("><title>{}</title></circle>", escaped(title));
  return *this;
}

Svg& Svg::path(const std::vector<std::pair<double, double>>& points, std::string_view classes) {
  std::string text;
  for (const auto& [x, y] : points) text += fmt::format("{}{:.1f} {:.1f}", text.empty() ? "M" : "L", x, y);
  body_ += fmt::format("<path d='{}' class='{}'/>", text, classes);
  return *this;
}

Svg& Svg::text(double x, double y, std::string_view words, std::string_view anchor, std::string_view classes) {
  body_ += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'", x, y, anchor);
  if (!classes.empty()) body_ += fmt::format(" class='{}'", classes);
  body_ += fmt::format(">{}</text>", escaped(words));
  return *this;
}

Svg& Svg::x_axis(const Axis& axis, double top, double bottom, std::string_view title) {
  constexpr double room = 35.0;  // of a number and the space beside it
  const int most = static_cast<int>(std::clamp((axis.end - axis.start) / room, 2.0, 5.0));
  for (const double mark : axis.marks(most)) {
    line(axis(mark), top, axis(mark), bottom, "grid");
    text(axis(mark), bottom + 15.0, short_number(mark), "middle", "mark");
  }
  return text(0.5 * (axis.start + axis.end), bottom + 33.0, title, "middle", "axis");
}

Svg& Svg::y_axis(const Axis& axis, double left, double right, std::string_view title) {
  for (const double mark : axis.marks(5)) {
    line(left, axis(mark), right, axis(mark), "grid");
    text(left - 5.0, axis(mark) + 4.0, short_number(mark), "end", "mark");
  }
  return text(4.0, 11.0, title, "start", "axis");
}

std::string Svg::str(const std::string& id, const std::string& title, const std::string& description) const {
  return fmt::format(
      "<svg viewBox='0 0 {:.0f} {:.0f}' role='img' aria-labelledby='{}-t {}-d'><title id='{}-t'>{}</title>"
      "<desc id='{}-d'>{}</desc>{}</svg>",
      kWidth, height_, id, id, id, escaped(title), id, escaped(description), body_);
}

}  // namespace kloom::report
