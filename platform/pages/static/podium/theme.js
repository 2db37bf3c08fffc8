// Sets the chosen colours before the first paint; without a choice the reader's system decides.
(function () {
  "use strict";
  let choice = null;
  try {
    choice = window.localStorage.getItem("podium-theme");
  } catch (error) {
    choice = null; // storage is switched off: the system decides
  }
  if (choice === "light" || choice === "dark") {
    document.documentElement.dataset.theme = choice;
  }
})();
