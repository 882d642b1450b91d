// CSS and JavaScript of the page.
#include "report/page_style.h"

#include "report/theme.h"

namespace rondo {
namespace {

constexpr std::string_view kStyle = R"css(
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
  font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.75rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:0 0 .35rem;
  overflow-wrap:anywhere}
h2{font-size:1.15rem;font-weight:650;margin:3rem 0 .5rem}
h3{font-size:1rem;font-weight:600;margin:1.75rem 0 .25rem}
p{margin:.5rem 0;max-width:44rem}
a{color:var(--link)}
.meta,.how,.fine{color:var(--ink-2);font-size:.875rem}
.meta{margin:0 0 1.25rem}
.lead{font-size:1.0625rem;overflow-wrap:anywhere}
.lead,.notes{max-width:46rem}
.notes{margin:1.25rem 0;padding:.75rem 1rem;border-left:3px solid var(--warning);
  background:var(--panel)}
.notes h2{font-size:.9375rem;margin:0 0 .25rem;color:var(--warning)}
.notes ul{margin:0;padding-left:1.1rem;font-size:.9375rem;overflow-wrap:anywhere}
.notes li{margin:.2rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:0 1.5rem;
  margin:1.5rem 0 0;padding:0}
.figures div{border-top:1px solid var(--rule);padding:.5rem 0 .75rem}
.figures dt{color:var(--ink-2);font-size:.8125rem}
.figures dd{margin:0;font-size:1.0625rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:.4rem .6rem;text-align:left;vertical-align:baseline;white-space:nowrap;
  border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
thead th{white-space:normal;line-height:1.3;font-weight:500;color:var(--ink-2);font-size:.8125rem;border-bottom-color:var(--ink-3);
  vertical-align:bottom}
thead th[title]{cursor:help}
tbody th{font-weight:500}
.n{text-align:right}
thead small{font-size:.75rem;color:var(--ink-3);font-weight:400;white-space:nowrap}
.mark{width:12px;height:12px;margin-right:.45rem;vertical-align:-1px;flex:none}
figure{margin:0}
.bar{display:flex;flex-wrap:wrap;gap:.35rem 1rem;align-items:end;font-size:.875rem;
  margin:.5rem 0 .25rem}
.legend{display:flex;flex-wrap:wrap;gap:.15rem .9rem;margin:0;padding:0;list-style:none;
  flex:1 1 20rem}
.legend button,.legend span{display:inline-flex;align-items:center;font:inherit;color:inherit;
  background:none;border:0;padding:.15rem 0;text-align:left;overflow-wrap:anywhere}
.legend button{cursor:pointer}
.legend button:hover,.legend button[aria-pressed=true]{text-decoration:underline;
  text-underline-offset:.2em}
.controls .vega-bind{display:inline-block;margin-left:.75rem}
.controls .vega-bind:first-child{margin-left:0}
.controls .vega-bind-name{color:var(--ink-2)}
select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--ink-3);
  border-radius:4px;padding:.1rem .25rem}
.chart{width:100%;min-height:60px}
.chart.vega-embed{display:block;padding:0}
.chart svg{max-width:100%;height:auto;display:block}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--link);font-size:.875rem}
pre{font:.8125rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
  background:var(--panel);padding:.75rem 1rem;overflow-x:auto;margin:.5rem 0}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.25rem;font-size:.875rem;
  margin:.5rem 0}
.facts dt{color:var(--ink-2)}
.facts dd{margin:0;overflow-wrap:anywhere}
footer{margin-top:3.5rem;border-top:1px solid var(--rule);padding-top:.75rem}
#vg-tooltip-element{font:.8125rem/1.4 system-ui,sans-serif;background:var(--paper);
  color:var(--ink);border:1px solid var(--ink-3);border-radius:4px;padding:.4rem .6rem;
  box-shadow:0 2px 8px rgba(0,0,0,.15)}
#vg-tooltip-element table{min-width:0;font-size:inherit}
#vg-tooltip-element td{border:0;padding:.05rem .4rem .05rem 0;max-width:18rem}
#vg-tooltip-element td.key{color:var(--ink-2)}
@media (max-width:40rem){main{padding:1.5rem 1rem 3rem}h1{font-size:1.4rem}h2{margin-top:2.25rem}
  .facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.5rem}}
@media print{main{max-width:none;padding:0}body{font-size:10pt}.controls,summary{display:none}
  .whole,tr,.notes{break-inside:avoid}h2{break-after:avoid;margin-top:1.75rem}
  .scroll{overflow:visible}table{font-size:7.5pt}thead th,thead small{font-size:7pt}
  th,td{padding:.2rem .3rem}tbody th,pre{white-space:pre-wrap}}
)css";

constexpr std::string_view kScript = R"js(
(() => {
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const place = figure.querySelector('.chart');
    const controls = figure.querySelector('.controls');
    const spec = JSON.parse(figure.querySelector('script').textContent);
    spec.config.legend = {disable: true};
    if (spec.facet) {
      // Small multiples do not follow the page's width by themselves.
      const count = spec.facet.sort.length;
      const most = Math.max(1, Math.floor(place.clientWidth / 190));
      spec.columns = Math.ceil(count / Math.ceil(count / most));
      spec.spec.width = Math.floor(place.clientWidth / spec.columns) - 36;
    }
    for (const parameter of spec.params || [])
      if (parameter.bind) parameter.bind.element = '#' + controls.id;
    vegaEmbed(place, spec, {renderer: 'svg', actions: false}).then(({view}) => {
      const buttons = figure.querySelectorAll('.legend button');
      const focus = (name) => {
        for (const button of buttons)
          button.setAttribute('aria-pressed', String(button.dataset.group === name));
        view.signal('focus', name).runAsync();
      };
      for (const button of buttons)
        button.addEventListener('click', () =>
          focus(button.getAttribute('aria-pressed') === 'true' ? '' : button.dataset.group));
    }).catch((error) => {
      place.textContent = 'This chart could not be drawn: ' + error.message;
    });
  }
})();
)js";

}  // namespace

std::string page_style() {
  return ":root{color-scheme:light dark;" + css_variables(false) +
         "}\n@media screen and (prefers-color-scheme:dark){:root{" + css_variables(true) + "}}" +
         std::string(kStyle);
}

std::string_view page_script() { return kScript; }

}  // namespace rondo
