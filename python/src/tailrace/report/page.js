// SPDX-License-Identifier: BSD-3-Clause
(async () => {
  const root = document.documentElement;
  const plots = [...document.querySelectorAll(".plot")];
  const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // Text, grid and axis colours of all figures follow the page, so they suit light and dark schemes and paper.
  const colors = (layout) => {
    const change = { "font.color": color("--text"), "hoverlabel.bgcolor": color("--panel"),
      "hoverlabel.bordercolor": color("--line"), "hoverlabel.font.color": color("--text"),
      "coloraxis.colorbar.tickcolor": color("--muted") };
    for (const key of Object.keys(layout)) {
      if (!/^[xy]axis\d*$/.test(key)) continue;
      for (const part of ["linecolor", "tickcolor", "zerolinecolor"]) change[`${key}.${part}`] = color("--muted");
      change[`${key}.gridcolor`] = color("--grid");
    }
    return change;
  };
  const views = [];
  const repaint = () => { plots.forEach((plot) => Plotly.relayout(plot, colors(plot.layout))); views.forEach((view) => view.draw()); };

  // Pictures with an aspect ratio get the height that suits the width they have.
  const height = (plot, layout) => {
    const { l, r, t, b } = layout.margin;
    return layout.meta?.panels ? Math.round(layout.meta.panels * (plot.clientWidth - l - r) + t + b) : layout.height;
  };

  const old = "This browser is too old for the pictures (it has no DecompressionStream).";
  if (typeof DecompressionStream === "undefined") {
    document.querySelectorAll(".plot, .timeline").forEach((element) => { element.textContent = old; });
    return;
  }
  if (plots.length) {
    const library = document.createElement("script");
    library.textContent = await unpack(document.querySelector("[data-plotly]").textContent).text();
    document.head.append(library);
  }
  for (const plot of plots) {
    const figure = await unpack(document.getElementById(plot.dataset.figure).textContent).json();
    const options = { responsive: true, displaylogo: false, displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false,
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"]],
      toImageButtonOptions: { scale: 2 } };
    const fit = () => { figure.layout.height = height(plot, figure.layout); plot.style.height = `${figure.layout.height}px`; };
    fit();
    Plotly.newPlot(plot, figure.data, figure.layout, options).then(() => Plotly.relayout(plot, colors(plot.layout)));
    if (figure.layout.meta?.panels) {
      addEventListener("resize", () => { fit(); Plotly.relayout(plot, { height: figure.layout.height }); });
    }
  }
  for (const element of document.querySelectorAll(".timeline")) Timeline.start(element).then((view) => view && views.push(view));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  addEventListener("beforeprint", () => { root.classList.add("printing"); repaint(); });
  addEventListener("afterprint", () => { root.classList.remove("printing"); repaint(); });
})();
