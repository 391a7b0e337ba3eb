// SVG as the tests read it: a strict reader of its elements, and where each of them lies.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "chart/text.h"

namespace deberta::chart::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text = {};  // of its own, unescaped
  double x = 0, y = 0;    // what the groups around it move it by
  bool is_upright = false;
  double font_size = 13;

  std::string of(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
  double number(const std::string& attribute) const { return std::stod(of(attribute)); }
  bool has_class(const std::string& name_of_class) const {
    return (" " + of("class") + " ").find(" " + name_of_class + " ") != std::string::npos;
  }
};

inline std::string unescaped(std::string text) {
  const std::pair<const char*, const char*> all[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [escaped, plain] : all) {
    for (size_t at = 0; (at = text.find(escaped, at)) != std::string::npos; at += 1)
      text.replace(at, std::string(escaped).size(), plain);
  }
  return text;
}

// Elements in the order of their beginnings. Throws where the text is not well-formed.
class SvgReader {
 public:
  explicit SvgReader(const std::string& svg) : svg_(svg) {
    while (at_ < svg_.size()) svg_[at_] == '<' ? read_tag() : read_text();
    if (!open_.empty()) throw std::runtime_error("not closed: " + elements[open_.back()].name);
  }

  std::vector<Element> elements;

 private:
  void read_text() {
    const size_t end = std::min(svg_.find('<', at_), svg_.size());
    const std::string text = svg_.substr(at_, end - at_);
    at_ = end;
    for (size_t i = 0; (i = text.find('&', i)) != std::string::npos; ++i) {
      if (text.find(';', i) == std::string::npos) throw std::runtime_error("not escaped: " + text);
    }
    if (!open_.empty()) elements[open_.back()].text += unescaped(text);
  }

  void read_tag() {
    const size_t end = svg_.find('>', at_);
    if (end == std::string::npos) throw std::runtime_error("a tag without an end");
    std::string tag = svg_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (tag.starts_with('/')) {
      if (open_.empty() || elements[open_.back()].name != tag.substr(1)) throw std::runtime_error("closes " + tag);
      open_.pop_back();
      return;
    }
    const bool is_closed = tag.ends_with('/');
    if (is_closed) tag.pop_back();
    add(tag);
    if (is_closed) open_.pop_back();
  }

  void add(const std::string& tag) {
    Element element{.name = tag.substr(0, tag.find(' ')), .attributes = {}};
    for (size_t at = element.name.size(); at < tag.size();) {
      if (tag[at] == ' ') {
        ++at;
        continue;
      }
      const size_t equals = tag.find("=\"", at);
      const size_t end = equals == std::string::npos ? equals : tag.find('"', equals + 2);
      if (end == std::string::npos) throw std::runtime_error("attributes of <" + tag + ">");
      if (!element.attributes.emplace(tag.substr(at, equals - at), unescaped(tag.substr(equals + 2, end - equals - 2)))
               .second)
        throw std::runtime_error("twice in <" + tag + ">");
      at = end + 1;
    }
    if (!open_.empty()) {
      const Element& around = elements[open_.back()];
      element.x = around.x, element.y = around.y, element.is_upright = around.is_upright;
    }
    const std::string moved = element.of("transform");
    if (moved.starts_with("translate(")) {
      size_t used = 0;
      element.x += std::stod(moved.substr(10), &used);
      element.y += std::stod(moved.substr(10 + used));
    }
    element.is_upright = element.is_upright || moved.find("rotate(-90)") != std::string::npos;
    if (element.has_class("title")) element.font_size = 15;
    open_.push_back(elements.size());
    elements.push_back(std::move(element));
  }

  const std::string& svg_;
  size_t at_ = 0;
  std::vector<size_t> open_;
};

inline std::vector<Element> elements_of(const std::string& svg) {
  return SvgReader(svg).elements;
}

inline std::vector<Element> with_class(const std::string& svg, const std::string& name) {
  std::vector<Element> found = elements_of(svg);
  std::erase_if(found, [&](const Element& element) { return !element.has_class(name); });
  return found;
}

struct Box {
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  void add(double x, double y) {
    left = std::min(left, x), right = std::max(right, x);
    top = std::min(top, y), bottom = std::max(bottom, y);
  }
};

// Of a path of the letters M L H V m l h v z.
inline Box box_of_path(const std::string& d) {
  Box box;
  double x = 0, y = 0;
  char letter = 0;
  for (size_t at = 0; at < d.size();) {
    if (std::isalpha(static_cast<unsigned char>(d[at])) != 0) {
      letter = d[at++];
      continue;
    }
    if (d[at] == ' ') {
      ++at;
      continue;
    }
    const auto next = [&] {
      char* end = nullptr;
      const double value = std::strtod(d.c_str() + at, &end);
      if (end == d.c_str() + at) throw std::runtime_error("no number in " + d.substr(at, 20));
      at = static_cast<size_t>(end - d.c_str());
      return value;
    };
    const bool is_relative = std::islower(static_cast<unsigned char>(letter)) != 0;
    const char kind = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    if (kind != 'V') x = (is_relative ? x : 0) + next();
    if (kind != 'H') y = (is_relative ? y : 0) + next();
    box.add(x, y);
  }
  return box;
}

// Of an element that is drawn, within its groups; texts by the estimate of their width.
inline Box box_of(const Element& element) {
  Box box;
  if (element.name == "path") box = box_of_path(element.of("d"));
  if (element.name == "rect") {
    box.add(element.number("x"), element.number("y"));
    box.add(element.number("x") + element.number("width"), element.number("y") + element.number("height"));
  }
  if (element.name == "circle") {
    for (const double sign : {-1.0, 1.0})
      box.add(element.number("cx") + sign * element.number("r"), element.number("cy") + sign * element.number("r"));
  }
  if (element.name == "text") {
    const double bold = element.has_class("title") ? 1.14 : 1;
    const double width = bold * text_width(element.text, element.font_size);
    const double before = element.has_class("end") ? width : element.has_class("middle") ? width / 2 : 0;
    box.add(element.number("x") - before, element.number("y") - element.font_size * 0.75);
    box.add(element.number("x") - before + width, element.number("y") + element.font_size * 0.2);
  }
  if (element.is_upright) box = {.left = box.top, .top = -box.right, .right = box.bottom, .bottom = -box.left};
  return {box.left + element.x, box.top + element.y, box.right + element.x, box.bottom + element.y};
}

inline bool is_drawn(const Element& element) {
  return element.name == "path" || element.name == "rect" || element.name == "circle" || element.name == "text";
}

// Well-formed, everything within the viewBox, and no number that is none.
inline void expect_whole(const std::string& svg) {
  std::vector<Element> elements;
  ASSERT_NO_THROW(elements = elements_of(svg)) << svg;
  ASSERT_FALSE(elements.empty());
  const std::string view = elements.front().of("viewBox");
  ASSERT_TRUE(view.starts_with("0 0 ")) << svg;
  size_t used = 0;
  const double width = std::stod(view.substr(4), &used), height = std::stod(view.substr(4 + used));
  for (const Element& element : elements) {
    if (!is_drawn(element)) continue;
    const Box box = box_of(element);
    EXPECT_TRUE(box.left >= -0.2 && box.top >= -0.2 && box.right <= width + 0.2 && box.bottom <= height + 0.2)
        << element.name << " " << element.of("class") << " \"" << element.text << "\": " << box.left << ".."
        << box.right << ", " << box.top << ".." << box.bottom << " in " << view;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("\"inf"), std::string::npos);
}

// Texts of a class that touch another one of it.
inline size_t overlaps(const std::string& svg, const std::string& name) {
  const std::vector<Element> all = with_class(svg, name);
  size_t count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (all[i].name != "text" || all[j].name != "text") continue;
      const Box a = box_of(all[i]), b = box_of(all[j]);
      count += a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    }
  }
  return count;
}

// How often `part` is in `text`.
inline size_t times_in(const std::string& part, const std::string& text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace deberta::chart::test
