// Types of polymorphic values, `forall r. (a -> r) -> r`: of arguments and of fields.
//
// The whole program is there, so it is known at which types such values are used. At each ground type of this kind a value is a row of
// what it is at these types, a constructor with one lazy field each. The specialiser adds fields as it meets uses
// (specialise_poly.cpp). Where there is one field alone the value is what is in it, as of a newtype.
#include "lower/mono/mono.h"

namespace df::mono {

uint32_t Program::PolyIndex(df::TypeId type) {
  auto [it, fresh] = poly_of_.try_emplace(type.index, static_cast<uint32_t>(polys.size()));
  const uint32_t index = it->second;
  if (!fresh) return index;
  const TyConId tycon = NewRow(type);
  core::DataCon con;
  con.name = df::Intern("forall");
  con.tycon = tycon;
  const core::ConId made = core.constructors.Add(std::move(con));
  core.types.cons[tycon].constructors.push_back(made);
  polys.push_back({type, tycon, made, {}});
  poly_con_[tycon.index] = index;
  return index;
}

size_t Program::PolyInstance(df::TypeId type, const std::vector<df::TypeId>& args, bool* fresh) {
  const uint32_t index = PolyIndex(type);
  std::vector<std::vector<df::TypeId>>& instances = polys[index].instances;
  const auto found = llvm::find(instances, args);
  if (found != instances.end()) return static_cast<size_t>(found - instances.begin());
  *fresh = true;
  instances.push_back(args);
  const df::TypeId field = core::TakeContext(core.types, core.types.Instantiate(type, args), nullptr);
  core.constructors[polys[index].con].fields.push_back({field, Symbol(), false});
  return instances.size() - 1;
}

}  // namespace df::mono
