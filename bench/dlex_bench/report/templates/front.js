// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings as points: two of the four figures at a time, medians with their intervals over the single runs.

(() => {
    const control = (name) => document.getElementById(`front-${name}`);
    const select = { section: control("section"), x: control("x"), y: control("y") };
    const plot = document.getElementById("front-plot");

    const reach = (figure, side) => (figure[side] === null ? 0 : Math.abs(figure[side] - figure.median));
    const bars = (figure) => ({
        type: "data", symmetric: false, thickness: 1.2, width: 3,
        array: [reach(figure, "high")], arrayminus: [reach(figure, "low")],
    });

    function traces(it, x, y) {
        const mark = marks.get(it.name);
        const common = { type: "scatter", mode: "markers", name: it.name, legendgroup: it.name };
        const ink = colour(mark.colour);
        const edge = mark.symbol.endsWith("open") ? ink : colour("paper");
        const told = `${DATA.axes[x]}: %{x:,.4~g}<br>${DATA.axes[y]}: %{y:,.4~g}`;
        return [
            {
                ...common, x: it.point[x].runs, y: it.point[y].runs, showlegend: false, hoverinfo: "skip", opacity: .45,
                marker: { symbol: mark.symbol, color: ink, size: 5 },
            },
            {
                ...common, x: [it.point[x].median], y: [it.point[y].median],
                error_x: bars(it.point[x]), error_y: bars(it.point[y]),
                marker: { symbol: mark.symbol, color: ink, size: 12, line: { color: edge, width: 1.5 } },
                hovertemplate: `<b>${it.name}</b><br>${told}<extra></extra>`,
            },
        ];
    }

    // The range begins a little below zero, so that a point on an axis is fully visible.
    function range(settings, key) {
        const all = settings.flatMap((it) => [...it.point[key].runs, it.point[key].median, it.point[key].high]);
        const most = Math.max(0, ...all.filter((value) => value !== null)) || 1;
        return [-.03 * most, 1.06 * most];
    }

    function make() {
        const [x, y] = [select.x.value, select.y.value];
        const known = (it) => it.point[x].median !== null && it.point[y].median !== null;
        const settings = DATA.sections[select.section.value].settings.filter(known);
        const more = {
            xaxis: axis(DATA.axes[x], { range: range(settings, x) }),
            yaxis: axis(DATA.axes[y], { range: range(settings, y) }),
        };
        more.legend = { orientation: "h", y: -0.18, yanchor: "top", font: { size: 12 } };
        if (!settings.length) {
            const text = "no finished run of this section has both figures";
            more.annotations = [{ text, showarrow: false, x: .5, y: .5, xref: "paper", yref: "paper" }];
        }
        return [settings.flatMap((it) => traces(it, x, y)), layout(more)];
    }

    // A section in which nothing was dropped shows no trade-off.
    const drops = (it) => it.point.drops_fraction.median > 0;
    const telling = DATA.sections.findIndex((section) => section.settings.some(drops));
    select.section.value = Math.max(0, telling);
    Object.values(select).forEach((element) => element.addEventListener("change", () => draw(plot, make)));
    draw(plot, make);
})();
