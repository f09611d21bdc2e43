  // On paper nothing is folded.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  // Dark, light, or as the browser likes it. Kept where the browser allows a file to keep something.
  {
    const kept = { get value() { try { return localStorage.getItem("wic-prof-theme"); } catch { return null; } },
                   set value(theme) { try { localStorage.setItem("wic-prof-theme", theme); } catch { /* kept for this page only */ } } };
    const browserIsDark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : browserIsDark.matches;
    const button = element("button", { type: "button", className: "theme" });
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.title = `Show the page ${isDark() ? "light" : "dark"}`;
      for (const redraw of whenColoursChange) redraw();
    };
    if (["light", "dark"].includes(kept.value)) root.dataset.theme = kept.value;
    button.addEventListener("click", () => {
      kept.value = root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    browserIsDark.addEventListener("change", show);
    document.querySelector("nav").append(button);
    show();
  }

