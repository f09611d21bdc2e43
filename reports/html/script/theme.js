  // Printing unfolds every part.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  // Dark, light, or the browser's preference. The choice lasts where the browser lets a local file store data.
  {
    const stored = { get value() { try { return localStorage.getItem("wic-prof-theme"); } catch { return null; } },
                   set value(theme) { try { localStorage.setItem("wic-prof-theme", theme); } catch { /* the choice lasts for this page only */ } } };
    const browserIsDark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : browserIsDark.matches;
    const button = element("button", { type: "button", className: "theme" });
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.title = `Show the page ${isDark() ? "light" : "dark"}`;
      for (const redraw of colourListeners) redraw();
    };
    if (["light", "dark"].includes(stored.value)) root.dataset.theme = stored.value;
    button.addEventListener("click", () => {
      stored.value = root.dataset.theme = isDark() ? "light" : "dark";
      show();
    });
    browserIsDark.addEventListener("change", show);
    document.querySelector("nav").append(button);
    show();
  }

