// SPDX-License-Identifier: LGPL-2.1-or-later
// Sorts a table by a click on a heading: numbers by data-value, words as words. Unknown values stay last.

function sortTable(table, column, ascending) {
    const body = table.tBodies[0];
    const key = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
    };
    const numeric = body.rows[0]?.cells[column].dataset.value !== undefined;
    const rows = [...body.rows].map((row) => ({ row, key: key(row) }));
    rows.sort((a, b) => {
        if (a.key === "" || b.key === "") return (a.key === "") - (b.key === "");
        const order = numeric ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
        return ascending ? order : -order;
    });
    body.append(...rows.map((it) => it.row));
}

for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
        head.querySelector("button").addEventListener("click", () => {
            const ascending = head.getAttribute("aria-sort") !== "ascending";
            heads.forEach((other) => other.removeAttribute("aria-sort"));
            head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
            sortTable(table, column, ascending);
        });
    });
}

(() => {
    const filter = document.getElementById("runs-filter");
    const count = document.getElementById("runs-count");
    const rows = [...document.getElementById("table-runs").tBodies[0].rows];
    filter.addEventListener("input", () => {
        const wanted = filter.value.trim().toLowerCase();
        const shown = rows.filter((row) => {
            row.hidden = !row.textContent.toLowerCase().includes(wanted);
            return !row.hidden;
        });
        count.textContent = wanted ? `${shown.length} of ${rows.length}` : "";
    });
})();
