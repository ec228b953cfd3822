// SPDX-License-Identifier: LGPL-2.1-or-later
// A click on a run, Enter on its name, or a link with its name opens its timeline in a dialog.

const openTimeline = (() => {
    const dialog = document.getElementById("timeline");
    const plot = document.getElementById("timeline-plot");
    const part = (name) => document.getElementById(`timeline-${name}`);
    const ZOOM = "Drag to zoom, double-click to reset.";
    const BARS = "A bar is a decode, from its start. A dash is its deadline; a dash on the zero line passed before the "
        + "decode began.";
    let opener = null;

    const rows = () => [...document.querySelectorAll("#table-runs tr[data-run]")];

    async function open(run) {
        if (!rows().some((row) => row.dataset.run === run)) return;
        part("title").textContent = run;
        part("facts").textContent = "";
        if (!dialog.open) dialog.showModal();
        if (typeof DecompressionStream === "undefined") {
            part("about").textContent = "This browser cannot unpack the record: use a browser from 2023 or later.";
            return;
        }
        const views = await record.unpack(run);
        if (part("title").textContent !== run) return;  // another run was requested meanwhile
        part("facts").textContent = `${record.summary(views.own ?? views.seen)}. A-V > 0: the video is late.`;
        part("about").textContent = record.knows(views.own, "deadline") ? `${BARS} ${ZOOM}` : ZOOM;
        draw(plot, () => timelineFigure(views));
        plot.dataset.run = run;
        history.replaceState(null, "", `#run=${encodeURIComponent(run)}`);
    }

    // Goes to the previous or next run among those that the filter shows.
    function step(by) {
        const runs = rows().filter((row) => !row.hidden).map((row) => row.dataset.run);
        const place = runs.indexOf(part("title").textContent) + by;
        open(runs[(place + runs.length) % runs.length]);
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
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
        drawn.delete(plot);
        history.replaceState(null, "", "#runs");
        opener?.focus();
    });

    const named = location.hash.match(/^#run=(.+)/)?.[1];
    if (named) open(decodeURIComponent(named));
    return open;
})();
