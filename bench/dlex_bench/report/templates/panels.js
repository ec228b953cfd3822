// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures 7 and 8: every run of two settings, panel by panel. A panel is drawn when it comes near the screen.

(() => {
    const grid = document.getElementById("panels-grid");
    const select = { left: document.getElementById("panels-left"), right: document.getElementById("panels-right") };
    const all = Object.values(DATA.figures).flat();
    const sections = [...new Set(all.flatMap((panel) => panel.lines.map((line) => line.section)))];
    const letters = [...new Set(all.map((panel) => panel.letter))].sort();
    const panelOf = (setting, letter) => DATA.figures[setting].find((panel) => panel.letter === letter);
    // The horizontal axis of (d) shows dropped pictures, not repetitions.
    const isScatter = (letter) => letter === "d";

    function range(values) {
        const some = values.filter((value) => value !== null);
        if (!some.length) return [0, 1];
        const [low, high] = [Math.min(0, ...some), Math.max(0, ...some)];
        const margin = (high - low || 1) * .07;
        return [low - margin, high + margin];
    }

    const ends = (repetitions) => [Math.min(...repetitions, 1) - .5, Math.max(...repetitions, 1) + .5];
    // Repetitions are whole numbers, so the axis has at most about ten ticks, each a whole number.
    const wholeSteps = (repetitions) => Math.ceil(Math.max(...repetitions, 1) / 10);

    function make(letter, side) {
        const setting = select[side].value;
        const panel = panelOf(setting, letter);
        const both = [select.left.value, select.right.value].flatMap((name) => panelOf(name, letter)?.lines ?? []);
        const traces = (panel?.lines ?? []).map((line) => {
            const mark = sectionMark(sections.indexOf(line.section));
            return {
                type: "scatter", mode: isScatter(letter) ? "markers" : "lines+markers", name: line.section,
                x: line.x, y: line.y, customdata: line.ids, connectgaps: false,
                line: { color: colour(mark.colour), dash: mark.dash, width: 1.2 },
                marker: { color: colour(mark.colour), symbol: mark.symbol, size: 6 },
                hovertemplate: "<b>%{customdata}</b><br>%{y:,.4~g}<extra></extra>",
            };
        });
        const xs = both.flatMap((line) => line.x);
        const xaxis = isScatter(letter)
            ? axis("dropped pictures", { range: range(xs) })
            : axis("repetition", { range: ends(xs), tick0: 1, dtick: wholeSteps(xs), zeroline: false });
        const yaxis = axis("", { range: range(both.flatMap((line) => line.y)) });
        const name = panel?.title ?? "not measured";
        const text = `(${letter}) ${name}<br><b>${setting}</b>`;
        const title = { text, font: { size: 12 }, x: 0, xref: "paper", y: .985, yanchor: "top", pad: { t: 9 } };
        return [traces, layout({ xaxis, yaxis, title, margin: { l: 10, r: 10, t: 44, b: 10 }, showlegend: false })];
    }

    const waiting = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (!isIntersecting) continue;
            waiting.unobserve(target);
            draw(target, target.make);
            target.on("plotly_click", ({ points }) => openTimeline(points[0].customdata));
        }
    }, { rootMargin: "400px" });

    for (const letter of letters) {
        for (const side of ["left", "right"]) {
            const element = document.createElement("div");
            element.className = "plot";
            element.make = () => make(letter, side);
            grid.append(element);
            waiting.observe(element);
        }
    }
    Object.values(select).forEach((it) => it.addEventListener("change", () => {
        [...grid.children].filter((element) => drawn.has(element)).forEach((element) => draw(element, element.make));
    }));

    const legend = document.getElementById("panels-legend");
    sections.forEach((name, number) => {
        const entry = document.createElement("span");
        const sign = document.createElement("span");
        sign.className = "mark";
        sign.textContent = sectionMark(number).sign;
        sign.style.color = `var(--${sectionMark(number).colour})`;
        entry.append(sign, name);
        legend.append(entry);
    });
})();
