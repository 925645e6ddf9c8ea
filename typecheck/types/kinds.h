// typecheck/types/kinds.h
//
// Kinds: *, the kinds of tensor dimensions and shapes, k -> k, and unknowns that unification settles. What stays open becomes * (Haskell 2010 section
// 4.6).
#pragma once

#include <string>
#include <vector>

#include "lang/id.h"

namespace df {

using KindId = Id<struct KindTag>;

class Kinds {
 public:
  Kinds();
  KindId Star() const { return KindId(0); }
  KindId Dim() const { return KindId(1); }
  KindId Shape() const { return KindId(2); }
  KindId Arrow(KindId from, KindId to);
  KindId Arrows(uint32_t params);  // * -> .. -> * with that many arguments
  KindId Fresh();
  KindId Prune(KindId kind) const;
  bool IsArrow(KindId kind, KindId* from = nullptr, KindId* to = nullptr) const;
  bool IsOpen(KindId kind) const;  // nothing is known of it yet
  bool Unify(KindId a, KindId b);
  void Default(KindId kind);       // unknowns inside become *
  uint32_t Params(KindId kind) const;
  std::string Print(KindId kind) const;

 private:
  enum class Form : uint8_t { Star, Dim, Shape, Arrow, Unknown };
  struct Row {
    Form form;
    KindId a, b;  // Arrow: from, to. Unknown: a is its solution, if valid
  };
  bool Occurs(KindId unknown, KindId in) const;
  std::vector<Row> rows_;
};

}  // namespace df
