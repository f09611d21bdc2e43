  // A button beside each command copies it, or selects it where the browser forbids copying.
  for (const line of document.querySelectorAll(".command")) {
    const code = line.querySelector("code");
    const button = element("button", { type: "button", textContent: "Copy" });
    button.addEventListener("click", async () => {
      getSelection().selectAllChildren(code);
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Selected";
      }
    });
    line.append(button);
  }

