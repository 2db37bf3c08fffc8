/* The editor of pages: pictures are put in by the cursor, and unsaved text is not left by accident. */
"use strict";

(() => {
  const form = document.querySelector("[data-editor]");
  if (!form) return;
  const text = form.querySelector("textarea");

  // A picture is a paragraph of its own: glued to a heading it would make the heading plain text.
  const alone = (inserted) => {
    const before = text.value.slice(0, text.selectionStart), after = text.value.slice(text.selectionEnd);
    const missing = (has) => "\n".repeat(2 - Math.min(2, has));
    const above = before ? missing(before.match(/\n*$/)[0].length) : "";
    return above + inserted + missing(after.match(/^\n*/)[0].length);
  };

  form.querySelectorAll("[data-insert]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      text.focus();
      text.setRangeText(alone(button.dataset.insert), text.selectionStart, text.selectionEnd, "end");
      text.dispatchEvent(new Event("input", { bubbles: true }));
    });
  });

  let isUnsaved = "unsaved" in form.dataset; // it was shown again, with what was typed
  form.addEventListener("input", () => { isUnsaved = true; });
  form.addEventListener("submit", () => { isUnsaved = false; });
  window.addEventListener("beforeunload", (event) => { if (isUnsaved) event.preventDefault(); });
})();
