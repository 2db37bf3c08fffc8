/* The editor of pages: pictures are put in where the cursor is, and unsaved text is not left by accident. */
"use strict";

(() => {
  const form = document.querySelector("[data-editor]");
  if (!form) return;
  const text = form.querySelector("textarea");

  form.querySelectorAll("[data-insert]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => {
      text.focus();
      text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, "end");
      text.dispatchEvent(new Event("input", { bubbles: true }));
    });
  });

  let isUnsaved = "unsaved" in form.dataset; // it was shown again, with what was typed
  form.addEventListener("input", () => { isUnsaved = true; });
  form.addEventListener("submit", () => { isUnsaved = false; });
  window.addEventListener("beforeunload", (event) => { if (isUnsaved) event.preventDefault(); });
})();
