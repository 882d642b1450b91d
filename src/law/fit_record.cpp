// FIT.json, written and read.
#include "law/fit_record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "law/catalogue.h"

namespace rondo {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Json interval_json(const Interval& interval) {
  return interval ? Json::array({interval->first, interval->second}) : Json();
}

Json quality_json(const FitQuality& quality) {
  return {{"points", quality.points},
          {"rmse_nats", finite_or_null(quality.rmse_nats)},
          {"r2", finite_or_null(quality.r2)}};
}

// An object with one member a parameter, null for those that are not identified.
template <typename Value>
Json by_parameter(const FitResult& fit, const Value& value) {
  Json object = Json::object();
  for (std::size_t i = 0; i < fit.form.parameters.size(); ++i)
    object[fit.form.parameters[i].name] = fit.identified[i] ? value(i) : Json();
  return object;
}

Json intervals_json(const FitResult& fit, const std::vector<Interval>& intervals) {
  if (intervals.empty()) return Json::object();
  return by_parameter(fit, [&](std::size_t i) { return interval_json(intervals[i]); });
}

// The rows with what the law says of them, column by column.
Json data_json(const FitResult& fit) {
  Json columns = Json::object();
  for (const auto& column : fit.table.columns) {
    if (column.is_words()) {
      columns[column.name] = column.words;
    } else {
      Json values = Json::array();
      for (const double value : column.values) values.push_back(finite_or_null(value));
      columns[column.name] = std::move(values);
    }
  }
  Json predicted = Json::array();
  for (const double value : fit.predicted) predicted.push_back(finite_or_null(value));
  Json rows = Json::array();
  for (std::size_t i = 0; i < fit.table.rows(); ++i) rows.push_back(fit.table.where(i));
  return {{"where", std::move(rows)},
          {"columns", std::move(columns)},
          {"predicted_loss", std::move(predicted)},
          {"held_out", fit.held_out}};
}

Json bootstrap_json(const FitResult& fit) {
  return {
      {"refits", fit.bootstrap.size()}, {"by", fit.bootstrap_by}, {"parameters", fit.bootstrap}};
}

}  // namespace

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json to_json(const FitResult& fit) {
  Json json = {{"law", fit.form.name}};
  json["parameters"] =
      by_parameter(fit, [&](std::size_t i) { return finite_or_null(fit.parameters[i]); });
  json["intervals"] = intervals_json(fit, fit.intervals);
  json["standard_errors"] =
      fit.standard_errors.empty() ? Json::object() : by_parameter(fit, [&](std::size_t i) {
        return finite_or_null(fit.standard_errors[i]);
      });
  if (!fit.profile_intervals.empty())
    json["profile_intervals"] = intervals_json(fit, fit.profile_intervals);
  json["statements"] = fit.statements;
  json["objective"] = finite_or_null(fit.objective);
  json["rmse_nats"] = finite_or_null(fit.fitted.rmse_nats);
  json["r2"] = finite_or_null(fit.fitted.r2);
  json["points"] = fit.fitted.points;
  json["dropped"] = fit.dropped;
  json["holdout"] = fit.holdout ? quality_json(*fit.holdout) : Json();
  json["aic"] = finite_or_null(fit.aic);
  json["bic"] = finite_or_null(fit.bic);
  json["starts"] = fit.starts;
  json["starts_at_best"] = fit.starts_at_best;
  json["stop"] = {{"reason", fit.stop_reason},
                  {"gradient_norm", finite_or_null(fit.gradient_norm)}};
  json["delta"] = fit.delta;
  json["overestimate_weight"] = fit.overestimate_weight;
  json["recurrent_share"] = finite_or_null(fit.recurrent_share);
  json["loops_max"] = finite_or_null(fit.largest("loops"));
  Json ranges = Json::object();
  for (const auto& range : fit.ranges)
    ranges[range.column] = Json::array({finite_or_null(range.low), finite_or_null(range.high)});
  json["ranges"] = std::move(ranges);
  json["notes"] = fit.notes;
  json["form"] = to_toml(fit.form);
  json["bootstrap"] = bootstrap_json(fit);
  json["data"] = data_json(fit);
  return json;
}

namespace {

// Reads a FIT.json with the path of the key that is wrong.
class FitReader {
 public:
  FitReader(const Json& json, const std::string& path) : json_(json), path_(path) {}

  FittedLaw read() {
    require(json_.is_object(), "{}: expected one JSON object, as `rondo fit --json` prints", path_);
    law_.path = path_;
    read_form();
    read_parameters();
    read_bootstrap();
    law_.recurrent_share = kMissing;
    if (const auto* share = member("recurrent_share"))
      law_.recurrent_share = real(*share, "recurrent_share");
    read_ranges();
    if (const auto* statements = member("statements"))
      for (const auto& statement : *statements)
        if (statement.is_string()) law_.statements.push_back(statement.get<std::string>());
    return std::move(law_);
  }

 private:
  // A member that is there and not null.
  const Json* member(const std::string& key) const {
    const auto place = json_.find(key);
    return place == json_.end() || place->is_null() ? nullptr : &*place;
  }

  double real(const Json& value, const std::string& key) const {
    require(value.is_number(), "{}: {}: expected a number", path_, key);
    const auto result = value.get<double>();
    require(std::isfinite(result), "{}: {}: expected a finite number", path_, key);
    return result;
  }

  void read_form() {
    const auto* law = member("law");
    require(law != nullptr && law->is_string(), "{}: law: expected the name of a law", path_);
    const auto* form = member("form");
    require(form == nullptr || form->is_string(), "{}: form: expected a form as text", path_);
    law_.form = form != nullptr ? parse_form(form->get<std::string>(), path_ + " (form)")
                                : find_law(law->get<std::string>());
  }

  void read_parameters() {
    const auto* parameters = member("parameters");
    require(parameters != nullptr && parameters->is_object(),
            "{}: parameters: expected an object from name to number", path_);
    for (const auto& parameter : law_.form.parameters) {
      const auto place = parameters->find(parameter.name);
      require(place != parameters->end(), "{}: parameters.{} is missing; the law {} needs it",
              path_, parameter.name, law_.form.name);
      const double value =
          place->is_null() ? kMissing : real(*place, "parameters." + parameter.name);
      require(!parameter.positive || !(value < 0), "{}: parameters.{}: expected 0 or more", path_,
              parameter.name);
      law_.parameters.push_back(value);
    }
    for (const auto& [name, value] : parameters->items())
      require(law_.form.has_parameter(name), "{}: parameters.{}: the law {} has no such parameter",
              path_, name, law_.form.name);
  }

  void read_bootstrap() {
    const auto* bootstrap = member("bootstrap");
    if (bootstrap == nullptr) return;
    const auto refits = bootstrap->is_object() ? bootstrap->find("parameters") : bootstrap->end();
    if (!bootstrap->is_object() || refits == bootstrap->end()) return;
    require(refits->is_array(), "{}: bootstrap.parameters: expected lists of numbers", path_);
    for (const auto& refit : *refits) {
      require(refit.is_array() && refit.size() == law_.parameters.size(),
              "{}: bootstrap.parameters: expected {} numbers in each", path_,
              law_.parameters.size());
      std::vector<double> values;
      for (const auto& value : refit) values.push_back(real(value, "bootstrap.parameters"));
      law_.bootstrap.push_back(std::move(values));
    }
  }

  void read_ranges() {
    if (const auto* ranges = member("ranges")) {
      require(ranges->is_object(), "{}: ranges: expected an object from column to [low, high]",
              path_);
      for (const auto& [column, range] : ranges->items()) {
        if (!range.is_array() || range.size() != 2 || range[0].is_null() || range[1].is_null())
          continue;
        law_.ranges.push_back(
            {column, real(range[0], "ranges." + column), real(range[1], "ranges." + column)});
      }
    }
    const auto* loops = member("loops_max");
    if (loops != nullptr && std::isnan(law_.largest("loops")))
      law_.ranges.push_back({"loops", 1, real(*loops, "loops_max")});
  }

  const Json& json_;
  const std::string& path_;
  FittedLaw law_;
};

}  // namespace

double FittedLaw::largest(std::string_view column) const {
  for (const auto& range : ranges)
    if (range.column == column) return range.high;
  return kMissing;
}

double FittedLaw::smallest(std::string_view column) const {
  for (const auto& range : ranges)
    if (range.column == column) return range.low;
  return kMissing;
}

FittedLaw fitted_law(const FitResult& fit, const std::string& path) {
  FittedLaw law{.form = fit.form,
                .parameters = fit.parameters,
                .bootstrap = fit.bootstrap,
                .recurrent_share = fit.recurrent_share,
                .ranges = fit.ranges,
                .statements = fit.statements,
                .path = path};
  for (std::size_t i = 0; i < law.parameters.size(); ++i)
    if (!fit.identified[i]) law.parameters[i] = kMissing;
  return law;
}

FittedLaw parse_fit(std::string_view text, const std::string& path) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail("{}: not JSON (byte {}); expected what `rondo fit --json` prints", path, error.byte);
  }
  return FitReader(json, path).read();
}

FittedLaw read_fit(const fs::path& path) { return parse_fit(read_file(path), path.string()); }

}  // namespace rondo
