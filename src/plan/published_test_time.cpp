// Loops at test time: Parcae (arXiv 2604.12946) says L(r) = L_inf + Z exp(-z r / T). Held against
// the models of looped_nanochat (dev/LoopedLOG.md at bdfb4ca) trained with T = 4 and 6, drawn or
// fixed, and run with 2 to 16 loops. Losses are bits per byte.
#include <array>
#include <cmath>

#include "base/error.h"
#include "plan/published_study.h"

namespace rondo {
namespace {

struct Model {
  const char* column;
  double loops;
};
constexpr std::array<Model, 2> kSampled = {{{"r4_sample", 4}, {"r6_sample", 6}}};
constexpr std::array<Model, 2> kFixed = {{{"r4_fixed", 4}, {"r6_fixed*", 6}}};

/// One model's own constants and a rate; `per` is what r is divided by.
LawForm form_of(const std::string& name, bool two_models, const std::string& per) {
  std::string text = fmt::format("law = \"{}\"\n", name);
  const std::string decay = "exp(-z * inference_loops / " + per + ")";
  text += two_models ? "loss = \"E4 * is4 + E6 * is6 + (Z4 * is4 + Z6 * is6) * " + decay + "\"\n"
                     : "loss = \"E + Z * " + decay + "\"\n";
  text += "[parameters]\n";
  for (const char* model : two_models ? std::vector{"4", "6"} : std::vector{""})
    text += fmt::format(
        "E{0} = {{ start = [0.5, 1.0], positive = true, scale = \"loss\" }}\n"
        "Z{0} = {{ start = [0.01, 3.0], positive = true, scale = \"loss\" }}\n",
        model);
  text += "z = { start = [0.5, 10.0], positive = true }\n";
  return parse_form(text, name);
}

FitTable table_of(const RawTable& raw, std::span<const Model> models) {
  std::vector<MadeRow> rows;
  std::vector<double> inference, is4, is6;
  for (const auto& model : models) {
    const auto losses = numbers_of(raw, model.column), r = numbers_of(raw, "r (eval)");
    for (std::size_t i = 0; i < r.size(); ++i) {
      rows.push_back({1, 1, model.loops, model.loops, 1, losses[i], 1});
      inference.push_back(r[i]);
      is4.push_back(model.loops == 4);
      is6.push_back(model.loops == 6);
    }
  }
  auto table = made_table(raw.files.front(), rows);
  table.columns.push_back({"inference_loops", inference, {}});
  table.columns.push_back({"is4", is4, {}});
  table.columns.push_back({"is6", is6, {}});
  return table;
}

void one_model(Study& study, const RawTable& raw, const Model& model) {
  const auto table = table_of(raw, {&model, 1});
  const auto fit =
      study.fit(form_of("saturating exponential", false, "loops"), table, study.fit_options(0));
  study.about(fit);
  const std::string name = model.column;
  study.found("z, " + name, value_of(fit, "z"), {},
              fmt::format("{:.2f} a loop", value_of(fit, "z") / model.loops));
  study.found("RMSE in bits per byte, " + name, fit.fitted.rmse_nats, {},
              name.find("fixed") == name.npos ? "" : "not monotone in r: the form does not hold");
}

}  // namespace

void study_test_time(Study& study) {
  const auto raw = study.read_raw("looped_results/looped_nanochat/s20_val_bpb_by_eval_r.csv");
  for (const auto& models : {kSampled, kFixed})
    for (const auto& model : models) one_model(study, raw, model);
  const auto table = table_of(raw, kSampled);
  const auto ratio = study.fit(form_of("one z for both, exp(-z r / T)", true, "loops"), table,
                               study.fit_options(0));
  study.about(ratio);
  study.found("z", value_of(ratio, "z"));
  study.found("RMSE in bits per byte", ratio.fitted.rmse_nats, {}, "sampled models together");
  const auto count =
      study.fit(form_of("one z for both, exp(-z r)", true, "1"), table, study.fit_options(0));
  study.about(count);
  study.found("z", value_of(count, "z"));
  study.found("RMSE in bits per byte", count.fitted.rmse_nats, {}, "sampled models together");
}

}  // namespace rondo
