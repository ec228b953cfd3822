// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the records of runs as timeline.py packs them. Times are in units of 10 us. They are differences from the
// picture's own place in the clip (start, shown) or from the beginning of its decode (end, deadline).

const record = (() => {
    const UNIT_MS = .01;
    const VERDICTS = {
        s: { name: "shown", colour: "sky", symbol: "line-ns-open", pattern: "" },
        a: { name: "aborted", colour: "orange", symbol: "x", pattern: "x" },
        k: { name: "skipped", colour: "purple", symbol: "diamond", pattern: "\\" },
        l: { name: "late", colour: "amber", symbol: "triangle-up", pattern: "/" },
        u: { name: "unseen", colour: "ink", symbol: "square", pattern: "." },
    };

    const ms = (units) => (units === null ? null : units * UNIT_MS);
    const seconds = (units) => units * UNIT_MS / 1e3;
    const signed = (value) => (value > 0 ? "+" : "") + value.toFixed(1).replace("-", "−");

    // Returns { own, seen }: the player's own record and the record made from the screen, or only one of them.
    async function unpack(run) {
        const text = document.querySelector(`script.record[data-run="${CSS.escape(run)}"]`).textContent;
        const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
        return new Response(plain).json();
    }

    function describe(view, i) {
        const type = view.type[i] === "?" ? "" : ` (${view.type[i]}${view.droppable[i] === "1" ? ", droppable" : ""})`;
        const place = `at ${seconds(view.pts[i]).toFixed(2)} s`;
        const lines = [`<b>picture ${i + 1}</b> ${place}: ${VERDICTS[view.verdict[i]].name}${type}`];
        if (view.start[i] !== null) lines.push(...describeDecode(view, i));
        if (view.shown[i] !== null) lines.push(`shown ${seconds(view.pts[i] + view.shown[i]).toFixed(3)} s`);
        if (view.skew[i] !== null) lines.push(`A-V ${signed(ms(view.skew[i]))} ms`);
        return lines.join("<br>");
    }

    function describeDecode(view, i) {
        const lines = [];
        const start = view.pts[i] + view.start[i];
        if (view.end[i] !== null) {
            const span = `${seconds(start).toFixed(3)} to ${seconds(start + view.end[i]).toFixed(3)} s`;
            const cpu = view.cpu[i] === null ? "" : `, ${ms(view.cpu[i]).toFixed(1)} of CPU`;
            lines.push(`decode ${span}: ${ms(view.end[i]).toFixed(1)} ms${cpu}`);
        }
        if (view.deadline[i] !== null) {
            const left = ms(view.deadline[i]);
            const told = `${Math.abs(left).toFixed(1)} ms ${left < 0 ? "before" : "after"} the start`;
            lines.push(`deadline ${seconds(start + view.deadline[i]).toFixed(3)} s: ${told}`);
        }
        return lines;
    }

    const where = (view, letter) => [...view.verdict].flatMap((it, i) => (it === letter ? [i] : []));
    const letters = (view) => Object.keys(VERDICTS).filter((letter) => view.verdict.includes(letter));
    const knows = (view, key) => Boolean(view?.[key].some((value) => value !== null));
    const known = (view, key) => [...view.pts.keys()].filter((i) => view[key][i] !== null);

    // The pictures that a player lost while it was starting say nothing about its policy.
    function start(view) {
        const first = view.verdict.indexOf("s");
        return first > 0 ? `; ${first} of the others came before the first shown picture` : "";
    }

    function summary(view) {
        const counts = letters(view).map((letter) => `${where(view, letter).length} ${VERDICTS[letter].name}`);
        return `${counts.join(", ")} of ${view.pts.length} pictures${start(view)}`;
    }

    return { VERDICTS, ms, seconds, unpack, describe, where, letters, knows, known, summary };
})();
