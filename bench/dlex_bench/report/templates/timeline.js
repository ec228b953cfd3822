// SPDX-License-Identifier: LGPL-2.1-or-later
// The timeline of one run over the clip's time: verdicts, A-V, and decodes against their deadlines.

const timelineFigure = (() => {
    const { VERDICTS, ms, seconds, where, letters, knows, known } = record;

    const HATCHED = { fillmode: "replace", size: 5 };

    function trace(view, texts, indices, y, more) {
        const x = indices.map((i) => seconds(view.pts[i]));
        const text = indices.map((i) => texts[i]);
        const hovertemplate = "%{text}<extra></extra>";
        return { type: "scatter", mode: "markers", x, y, text, hovertemplate, showlegend: false, ...more };
    }

    function verdictTraces(view, texts) {
        return letters(view).map((letter) => {
            const { name, colour: ink, symbol } = VERDICTS[letter];
            const indices = where(view, letter);
            const line = { color: colour(ink), width: 1 };
            const marker = { color: colour(ink), symbol, size: letter === "s" ? 9 : 7, line };
            return trace(view, texts, indices, indices.map(() => name), { yaxis: "y3", marker });
        });
    }

    // If A-V is unknown, the trace shows how much later than the first picture each picture came.
    function skewTrace(view, texts, name, ink, symbol) {
        const key = knows(view, "skew") ? "skew" : "shown";
        const indices = known(view, key).filter((i) => view.verdict[i] === "s");
        const [x, y, text] = [[], [], []];
        indices.forEach((i, place) => {
            // The line has a gap where nothing was seen for more than a second.
            const gap = place > 0 && seconds(view.pts[i] - view.pts[indices[place - 1]]) > 1;
            if (gap) [x, y, text].forEach((it) => it.push(null));
            x.push(seconds(view.pts[i]));
            y.push(ms(view[key][i]));
            text.push(texts[i]);
        });
        return trace(view, texts, [], y, {
            x,
            text,
            connectgaps: false,
            mode: "lines+markers",
            name: `${key === "skew" ? "A-V" : "lag behind the first picture"}, ${name}`,
            showlegend: true,
            line: { color: colour(ink), width: 1 },
            marker: { color: colour(ink), symbol, size: 4 },
        });
    }

    function decodeTraces(view, texts) {
        return letters(view).map((letter) => {
            const { name, colour: ink, pattern } = VERDICTS[letter];
            const indices = where(view, letter).filter((i) => view.end[i] !== null);
            return trace(view, texts, indices, indices.map((i) => ms(view.end[i])), {
                type: "bar",
                mode: undefined,
                textposition: "none",
                yaxis: "y2",
                name: `decode of a picture: ${name}`,
                showlegend: indices.length > 0,
                width: barWidth(view),
                marker: { color: colour(ink), line: { width: 0 }, pattern: { ...HATCHED, shape: pattern } },
            });
        });
    }

    // A deadline that passed before the decode began is drawn at the start of the decode.
    function deadlineTrace(view, texts) {
        const indices = known(view, "deadline");
        const line = { color: colour("ink"), width: 1.4 };
        return trace(view, texts, indices, indices.map((i) => Math.max(0, ms(view.deadline[i]))), {
            yaxis: "y2",
            name: "deadline",
            showlegend: true,
            marker: { symbol: "line-ew-open", color: colour("ink"), size: 6, line },
        });
    }

    function barWidth(view) {
        const last = view.pts.length - 1;
        return last > 0 ? .8 * seconds(view.pts[last] - view.pts[0]) / last : .03;
    }

    // The range shows all decodes, and deadlines up to three times the longest decode.
    function decodeRange(view) {
        const longest = Math.max(1, ...known(view, "end").map((i) => ms(view.end[i])));
        const latest = Math.max(0, ...known(view, "deadline").map((i) => ms(view.deadline[i])));
        return [0, 1.08 * Math.max(longest, Math.min(latest, 3 * longest))];
    }

    function axes(own, seen, first) {
        const skew = knows(own, "skew") || knows(seen, "skew");
        const decodes = knows(own, "end");
        const names = letters(first).map((letter) => VERDICTS[letter].name);
        const order = { type: "category", categoryorder: "array", categoryarray: names };
        const rows = { ...order, autorange: false, showgrid: false };
        return {
            xaxis: axis("place in the clip, s", { anchor: decodes ? "y2" : "y" }),
            yaxis: axis(`${skew ? "A-V" : "lag"}, ms`, { domain: decodes ? [.45, .80] : [0, .78] }),
            ...(decodes ? { yaxis2: axis("decode, ms", { domain: [0, .38], range: decodeRange(own) }) } : {}),
            yaxis3: axis("", { ...rows, domain: [.97 - .035 * names.length, .97], range: [names.length - .5, -.5] }),
        };
    }

    return ({ own, seen }) => {
        const first = own ?? seen;
        const textsOf = (view) => view.pts.map((_, i) => record.describe(view, i));
        const texts = new Map([own, seen].filter(Boolean).map((view) => [view, textsOf(view)]));
        const traces = verdictTraces(first, texts.get(first));
        if (own) traces.push(skewTrace(own, texts.get(own), "the player's own record", "blue", "circle"));
        if (seen) traces.push(skewTrace(seen, texts.get(seen), "seen from outside", "green", "diamond"));
        if (knows(own, "end")) traces.push(...decodeTraces(own, texts.get(own)));
        if (knows(own, "deadline")) traces.push(deadlineTrace(own, texts.get(own)));
        const legend = { orientation: "h", y: -.14, yanchor: "top" };
        const more = { hovermode: "closest", barmode: "overlay", bargap: 0, legend };
        return [traces, layout({ ...axes(own, seen, first), ...more })];
    };
})();
