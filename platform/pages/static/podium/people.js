// Ticks everybody of a page at once, and says how many are ticked.
(function () {
  "use strict";

  function setUp(form) {
    const all = form.querySelector("[data-choose-all]");
    const text = form.querySelector("[data-chosen]");
    const boxes = Array.from(form.querySelectorAll('input[name="who"]'));
    if (!all || !text || !boxes.length) return;
    const plain = text.textContent;
    const tell = () => {
      const many = boxes.filter((box) => box.checked).length;
      text.textContent = many ? "With the " + many + " you ticked:" : plain;
      all.checked = many === boxes.length;
      all.indeterminate = many > 0 && many < boxes.length;
    };
    all.hidden = false;
    all.addEventListener("change", () => {
      boxes.forEach((box) => { box.checked = all.checked; });
      tell();
    });
    boxes.forEach((box) => box.addEventListener("change", tell));
    tell();
  }

  document.querySelectorAll("form[data-choose]").forEach(setUp);
})();
