// Sections of a law's page that are tables and words. Each is empty when the file has nothing to
// fill it with.
#pragma once

#include <string>

#include "report/data_table.h"
#include "report/law_data.h"

namespace rondo {

/// One paragraph: which law, fitted to what, how well.
std::string law_summary(const LawData& data, const Json& fit);

/// The main numbers of the fit.
std::string law_figures(const Json& fit);

/// What a reader must know before relying on the fit, one sentence each.
std::vector<std::string> law_warnings(const LawData& data, const Json& fit);

/// Formula, definitions, parameters with intervals and meaning.
std::string law_formula_section(const LawData& data, const Json& fit);

/// isoFLOP parabolas and the exponents that follow from them.
std::string law_isoflop_section(const Json& fit);

/// Laws fitted to the same rows, side by side; cells left out one after the other.
std::string law_comparison_section(const Json& fit);

/// How the fit was found, on which ranges, and the form as a file that can be changed.
std::string law_search_section(const LawData& data, const Json& fit);

/// The plan: rule, best settings, exponents, flatness, trade-offs, warnings.
std::string law_plan_section(const Json& plan);

/// All settings of a plan, for the file beside the page.
DataTable plan_settings(const Json& plan);

}  // namespace rondo
