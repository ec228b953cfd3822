// SPDX-License-Identifier: LGPL-2.1-or-later
// What all plots share: the page's colours, redrawing when these change, and the marks of settings and sections.

const DATA = JSON.parse(document.getElementById("data").textContent);

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Each player has a colour, and each of its settings a symbol. Each symbol also exists as a character, for tables.
const SYMBOLS = [
    ["circle", "●"], ["square", "■"], ["diamond", "◆"], ["triangle-up", "▲"], ["triangle-down", "▼"], ["star", "★"],
    ["circle-open", "○"], ["square-open", "□"], ["diamond-open", "◇"], ["triangle-up-open", "△"],
    ["triangle-down-open", "▽"], ["star-open", "☆"],
];
const COLOURS = ["blue", "orange", "green", "purple", "amber", "sky"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

const marks = new Map();
(() => {
    const players = [...new Set(DATA.sections.flatMap((section) => section.settings.map((it) => it.player)))].sort();
    const used = new Map();
    for (const section of DATA.sections) {
        for (const it of section.settings) {
            if (marks.has(it.name)) continue;
            const number = used.get(it.player) ?? 0;
            used.set(it.player, number + 1);
            const [symbol, sign] = SYMBOLS[number % SYMBOLS.length];
            marks.set(it.name, { colour: COLOURS[players.indexOf(it.player) % COLOURS.length], symbol, sign });
        }
    }
})();

for (const element of document.querySelectorAll(".mark[data-setting]")) {
    const mark = marks.get(element.dataset.setting);
    element.textContent = mark.sign;
    element.style.color = `var(--${mark.colour})`;
}

const sectionMark = (number) => ({
    colour: COLOURS[number % COLOURS.length],
    symbol: SYMBOLS[number % SYMBOLS.length][0],
    sign: SYMBOLS[number % SYMBOLS.length][1],
    dash: DASHES[number % DASHES.length],
});

const axis = (title, more = {}) => ({
    title: { text: title, font: { size: 12 }, standoff: 6 },
    automargin: true,
    gridcolor: colour("line"),
    zerolinecolor: colour("quiet"),
    linecolor: colour("line"),
    tickfont: { size: 11 },
    ...more,
});

const layout = (more) => ({
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", color: colour("ink"), size: 12 },
    hoverlabel: {
        bgcolor: colour("raised"), bordercolor: colour("line"), font: { color: colour("ink"), size: 12 }, align: "left",
    },
    margin: { l: 10, r: 10, t: 10, b: 10 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("quiet"), activecolor: colour("ink") },
    separators: ".,",
    ...more,
});

const CONFIG = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"],
};

// The plots by element. `make` returns [traces, layout] and is called again when the colours change.
const drawn = new Map();

// Small plots have no plotly buttons, because these would cover the plot.
function react(element, make) {
    Plotly.react(element, ...make(), { ...CONFIG, displayModeBar: element.clientHeight > 250 });
}

function draw(element, make) {
    drawn.set(element, make);
    react(element, make);
}

theme.onChange(() => drawn.forEach((make, element) => react(element, make)));
