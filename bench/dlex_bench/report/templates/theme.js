// SPDX-License-Identifier: LGPL-2.1-or-later
// Light or dark: as the system says, until the button is used. The choice is stored if the browser allows it.

const theme = (() => {
    const button = document.getElementById("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const listeners = [];
    let chosen = null;
    try { chosen = localStorage.getItem("dlex-theme"); } catch { /* a file: page may have no storage */ }

    const isDark = () => (chosen ? chosen === "dark" : system.matches);

    function show() {
        if (chosen) document.documentElement.dataset.theme = chosen;
        button.textContent = isDark() ? "Light" : "Dark";
        button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
        listeners.forEach((listener) => listener());
    }

    button.hidden = false;
    button.addEventListener("click", () => {
        chosen = isDark() ? "light" : "dark";
        try { localStorage.setItem("dlex-theme", chosen); } catch { /* the choice is valid for this visit only */ }
        show();
    });
    system.addEventListener("change", show);
    show();
    return { onChange: (listener) => listeners.push(listener) };
})();
