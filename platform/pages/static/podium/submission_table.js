// The table of submissions: one box that ticks the whole page, and how many are ticked. Without it, boxes are
// ticked one by one.
(() => {
  const form = document.querySelector("form[data-many]");
  const all = form?.querySelector("[data-tick-all]");
  if (!all) return;
  const boxes = [...form.querySelectorAll('input[name="submission"]')];
  const told = form.querySelector("[data-ticked]");
  const count = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    told.textContent = ` (${ticked})`;
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  };
  all.hidden = false;
  form.querySelector("[data-tick-all-label]").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    count();
  });
  form.addEventListener("change", (event) => {
    if (event.target.name !== "submission") return;
    form.querySelector('input[name="which"][value="ticked"]').checked = true;
    count();
  });
  count();
})();
