// Text from records must not become markup, script or broken CSV.
#include "report/html.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/data_table.h"
#include "report/theme.h"

namespace rondo {
namespace {

TEST(Html, Escapes) {
  EXPECT_EQ(escape_html("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_html("bell\x07 tab\t line\n"), "bell tab\t line\n");
  EXPECT_EQ(escape_html("π \xff\xfe <"), "π \xEF\xBF\xBD\xEF\xBF\xBD &lt;");
}

TEST(Html, JsonCannotLeaveItsScript) {
  const Json value = {{"name", "</script><script>alert(1)</script><!-- \xE2\x80\xA8"}};
  const std::string text = json_for_script(value.dump());
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_EQ(Json::parse(text), value);
}

TEST(Html, Tables) {
  EXPECT_EQ(html_table({{"a<", "what \"a\" is", false, ""}, {"b", "", true, "s"}}, {{"x", "1"}}),
            "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\" title=\"what "
            "&quot;a&quot; is\">a&lt;</th><th scope=\"col\" class=\"n\">b<br><small>s</small></th>"
            "</tr></thead>\n<tbody>\n<tr><th scope=\"row\">x</th><td class=\"n\">1</td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(DataTable, Csv) {
  const DataTable table{{"name", "value"},
                        {{std::string("plain"), 0.1},
                         {std::string("a,\"b\"\nc"), std::numeric_limits<double>::quiet_NaN()}}};
  EXPECT_EQ(to_csv(table), "name,value\nplain,0.1\n\"a,\"\"b\"\"\nc\",\n");
}

TEST(DataTable, Rows) {
  const DataTable table{{"name", "value"},
                        {{std::string("x"), 0.123456789},
                         {std::string("y"), std::numeric_limits<double>::infinity()}}};
  EXPECT_EQ(to_rows(table).dump(), R"([{"name":"x","value":0.123457},{"name":"y","value":null}])");
}

TEST(Theme, EverySeriesHasAColourAndAShape) {
  for (const bool dark : {false, true}) {
    const std::string css = css_variables(dark);
    for (std::size_t i = 0; i < kSeries; ++i) {
      const std::string variable = series_colour(i).substr(4);
      EXPECT_NE(css.find(variable.substr(0, variable.size() - 1) + ":#"), std::string::npos);
      EXPECT_FALSE(series_path(i).empty());
    }
  }
  EXPECT_EQ(series_colour(kSeries), "var(--ink-3)");
  EXPECT_EQ(standalone(R"x({"a":"var(--series-1)","b":"var(--paper)"})x"),
            R"x({"a":"#0072b2","b":"#ffffff"})x");
}

}  // namespace
}  // namespace rondo
