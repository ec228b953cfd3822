// SPDX-License-Identifier: LGPL-2.1-or-later
// The timeline of one run: verdicts, A-V, and decoding against its deadline, over the clip's time. timeline.py packs the
// records: times in units of 10 us, as differences from the picture's own place in the clip or from its decode's start.

const openTimeline = (() => {
    const dialog = document.getElementById("timeline");
    const plot = document.getElementById("timeline-plot");
    const part = (name) => document.getElementById(`timeline-${name}`);
    const VERDICTS = {
        s: { name: "shown", colour: "sky", symbol: "line-ns-open", pattern: "" },
        a: { name: "aborted", colour: "orange", symbol: "x", pattern: "x" },
        k: { name: "skipped", colour: "purple", symbol: "diamond", pattern: "\\" },
        l: { name: "late", colour: "amber", symbol: "triangle-up", pattern: "/" },
        u: { name: "unseen", colour: "ink", symbol: "square", pattern: "." },
    };
    const MS = .01;
    const ms = (units) => (units === null || units === undefined ? null : units * MS);
    const seconds = (units) => units * MS / 1e3;
    let opener = null;

    async function unpack(run) {
        const text = document.querySelector(`script.record[data-run="${CSS.escape(run)}"]`).textContent;
        const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        return new Response(plain).json();
    }

    const signed = (value, digits = 1) => (value > 0 ? "+" : "") + value.toFixed(digits).replace("-", "−");

    function describe(view, i) {
        const verdict = VERDICTS[view.verdict[i]].name;
        const lines = [`<b>picture ${i + 1}</b> at ${seconds(view.pts[i]).toFixed(2)} s: ${verdict}`];
        if (view.type[i] !== "?") lines[0] += ` (${view.type[i]}${view.droppable[i] === "1" ? ", droppable" : ""})`;
        if (view.start[i] !== null) {
            const from = seconds(view.pts[i] + view.start[i]);
            const cpu = view.cpu[i] === null ? "" : `, ${ms(view.cpu[i]).toFixed(1)} of CPU`;
            const to = view.end[i] === null ? "" : ` to ${(from + seconds(view.end[i])).toFixed(3)} s: ${ms(view.end[i]).toFixed(1)} ms${cpu}`;
            lines.push(`decode ${from.toFixed(3)}${to}`);
            if (view.deadline[i] !== null) {
                const left = ms(view.deadline[i]);
                lines.push(`deadline ${(from + left / 1e3).toFixed(3)} s: ${left < 0 ? `${(-left).toFixed(1)} ms before the start` : `${left.toFixed(1)} ms after the start`}`);
            }
        }
        if (view.shown[i] !== null) lines.push(`shown ${seconds(view.pts[i] + view.shown[i]).toFixed(3)} s`);
        if (view.skew[i] !== null) lines.push(`A-V ${signed(ms(view.skew[i]))} ms`);
        return lines.join("<br>");
    }

    const where = (view, letter) => [...view.verdict].flatMap((it, i) => (it === letter ? [i] : []));
    const letters = (view) => Object.keys(VERDICTS).filter((letter) => view.verdict.includes(letter));

    function trace(view, texts, indices, y, more) {
        return {
            type: "scatter", mode: "markers", x: indices.map((i) => seconds(view.pts[i])), y, text: indices.map((i) => texts[i]),
            hovertemplate: "%{text}<extra></extra>", showlegend: false, ...more,
        };
    }

    function verdictTraces(view, texts) {
        return letters(view).map((letter) => {
            const { name, colour: ink, symbol } = VERDICTS[letter];
            const indices = where(view, letter);
            const marker = { color: colour(ink), symbol, size: symbol === "line-ns-open" ? 9 : 7, line: { color: colour(ink), width: 1 } };
            return trace(view, texts, indices, indices.map(() => name), { yaxis: "y3", marker });
        });
    }

    // Where nobody knows A-V, how much later than the first picture it came.
    function skewTrace(view, texts, name, ink, symbol) {
        const key = view.skew.some((value) => value !== null) ? "skew" : "shown";
        const indices = [...view.pts.keys()].filter((i) => view[key][i] !== null && view.verdict[i] === "s");
        return trace(view, texts, indices, indices.map((i) => ms(view[key][i])), {
            mode: "lines+markers", name: key === "skew" ? name : `${name}: lag behind the first picture`, showlegend: true,
            line: { color: colour(ink), width: 1 }, marker: { color: colour(ink), symbol, size: 4 },
        });
    }

    function decodeTraces(view, texts) {
        const bars = letters(view).map((letter) => {
            const { name, colour: ink, pattern } = VERDICTS[letter];
            const indices = where(view, letter).filter((i) => view.end[i] !== null);
            const marker = { color: colour(ink), line: { width: 0 }, pattern: { shape: pattern, fillmode: "replace", size: 5 } };
            const span = { type: "bar", mode: undefined, textposition: "none", yaxis: "y2", name: `decode of a picture ${name}`, marker, width: barWidth(view) };
            return trace(view, texts, indices, indices.map((i) => ms(view.end[i])), { ...span, showlegend: indices.length > 0 });
        });
        const indices = [...view.pts.keys()].filter((i) => view.deadline[i] !== null);
        if (!indices.length) return bars;
        // A deadline that was over before the decode began is drawn at its start.
        const deadlines = trace(view, texts, indices, indices.map((i) => Math.max(0, ms(view.deadline[i]))), {
            yaxis: "y2", name: "deadline", showlegend: true,
            marker: { symbol: "line-ew-open", color: colour("ink"), size: 6, line: { color: colour("ink"), width: 1.4 } },
        });
        return [...bars, deadlines];
    }

    function barWidth(view) {
        const last = view.pts.length - 1;
        return last > 0 ? .8 * seconds(view.pts[last] - view.pts[0]) / last : .03;
    }

    function decodeRange(view) {
        const ends = view.end.filter((value) => value !== null).map(ms).sort((a, b) => a - b);
        const deadlines = view.deadline.filter((value) => value !== null).map(ms);
        return [0, 1.08 * Math.max(1, ...ends.slice(-1), ...(deadlines.length ? [Math.min(Math.max(...deadlines), 3 * ends.at(-1))] : []))];
    }

    function make(views) {
        const [own, seen] = [views.own, views.seen];
        const first = own ?? seen;
        const texts = { own: own && own.pts.map((_, i) => describe(own, i)), seen: seen && seen.pts.map((_, i) => describe(seen, i)) };
        const decodes = own && own.end.some((value) => value !== null);
        const traces = verdictTraces(first, own ? texts.own : texts.seen);
        if (own) traces.push(skewTrace(own, texts.own, "A-V, the player's own record", "blue", "circle"));
        if (seen) traces.push(skewTrace(seen, texts.seen, "A-V, seen from outside", "green", "diamond"));
        if (decodes) traces.push(...decodeTraces(own, texts.own));
        const rows = letters(first).length;
        const skew = decodes ? [.45, .80] : [0, .78];
        return [traces, layout({
            xaxis: axis("place in the clip, s", { anchor: decodes ? "y2" : "y" }),
            yaxis: axis("A-V, ms", { domain: skew }),
            ...(decodes ? { yaxis2: axis("decode, ms", { domain: [0, .38], range: decodeRange(own) }) } : {}),
            yaxis3: axis("", {
                domain: [.97 - .035 * rows, .97], autorange: false, range: [rows - .5, -.5], type: "category",
                categoryorder: "array", categoryarray: letters(first).map((letter) => VERDICTS[letter].name), showgrid: false,
            }),
            hovermode: "closest", barmode: "overlay", bargap: 0, legend: { orientation: "h", y: -.14, yanchor: "top" },
        })];
    }

    const summary = (view) => letters(view).map((letter) => `${where(view, letter).length} ${VERDICTS[letter].name}`).join(", ");

    async function open(run) {
        if (!rows().some((row) => row.dataset.run === run)) return;
        part("title").textContent = run;
        part("facts").textContent = "";
        if (!dialog.open) dialog.showModal();
        if (typeof DecompressionStream === "undefined") {
            part("about").textContent = "This browser cannot unpack the record: use one of 2023 or later.";
            return;
        }
        const views = await unpack(run);
        if (part("title").textContent !== run) return;
        part("facts").textContent = `${summary(views.own ?? views.seen)} of ${(views.own ?? views.seen).pts.length} pictures. `
            + "A-V > 0: the video is late.";
        part("about").textContent = views.own?.deadline.some((value) => value !== null)
            ? "A bar is a decode from its start; a dash its deadline, on the zero line where it was over before the decode began. Drag to zoom, double-click to go back."
            : "Drag to zoom, double-click to go back.";
        draw(plot, () => make(views));
        plot.dataset.run = run;
        history.replaceState(null, "", `#run=${encodeURIComponent(run)}`);
    }

    const rows = () => [...document.querySelectorAll("#table-runs tr[data-run]")];

    function step(by) {
        const all = rows().filter((row) => !row.hidden).map((row) => row.dataset.run);
        const next = all[(all.indexOf(part("title").textContent) + by + all.length) % all.length];
        if (next) open(next);
    }

    document.getElementById("table-runs").addEventListener("click", (event) => {
        const row = event.target.closest("tr[data-run]");
        if (!row) return;
        opener = row.querySelector("button.open");
        open(row.dataset.run);
    });
    part("close").addEventListener("click", () => dialog.close());
    part("before").addEventListener("click", () => step(-1));
    part("after").addEventListener("click", () => step(1));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => {
        drawn.delete(plot);
        history.replaceState(null, "", "#runs");
        opener?.focus();
    });

    // A link to this page may name a run.
    const named = decodeURIComponent(location.hash.match(/^#run=(.+)/)?.[1] ?? "");
    if (named) open(named);
    return open;
})();
