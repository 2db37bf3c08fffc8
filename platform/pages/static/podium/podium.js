// The little that pages do by themselves: colours, the reader's own time, uploads with a real progress bar.
// Everything here is an improvement of a page that works without it.
(function () {
  "use strict";

  const SYSTEM_DARK = window.matchMedia("(prefers-color-scheme: dark)");

  function currentTheme() {
    return document.documentElement.dataset.theme || (SYSTEM_DARK.matches ? "dark" : "light");
  }

  function setUpThemeToggle() {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const label = button.querySelector("[data-theme-label]");
    const describe = () => {
      const text = currentTheme() === "dark" ? "Use light colours" : "Use dark colours";
      label.textContent = text;
      button.title = text;
    };
    button.hidden = false;
    describe();
    button.addEventListener("click", () => {
      const next = currentTheme() === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try {
        window.localStorage.setItem("podium-theme", next);
      } catch (error) {
        // storage is switched off: the choice holds for this page
      }
      describe();
    });
  }

  const DAY_AND_TIME = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
  const TIME_ONLY = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };

  const STEPS = [["year", 31557600, 2], ["month", 2629800, 2], ["day", 86400, 1], ["hour", 3600, 1], ["minute", 60, 1]];

  // "in 12 days", "3 hours ago"; months and years from two on, because "in 1 month" may be 59 days. A rehearsal has a clock of its own, so many seconds ahead of the world's.
  function fromNow(moment) {
    const seconds = (moment - Date.now()) / 1000 - Number(document.body.dataset.clockAhead || 0);
    const [unit, length] = STEPS.find((step) => Math.abs(seconds) >= step[1] * step[2]) || ["minute", 60];
    const count = Math.trunc(seconds / length);
    return count === 0 ? "now" : new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(count, unit);
  }

  // Each moment in the reader's zone; beside it how far away it is, except where the style asks for one of the two.
  function showLocalTimes(root) {
    root.querySelectorAll("time[data-moment]").forEach((element) => {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) return;
      const kind = element.dataset.moment;
      const isShort = kind === "short" || kind === "cell";
      const exact = new Intl.DateTimeFormat(undefined, isShort ? TIME_ONLY : DAY_AND_TIME).format(moment);
      if (!element.dataset.utc) element.dataset.utc = element.textContent.trim();
      element.title = element.dataset.utc + ", " + fromNow(moment);
      element.textContent = exact;
      if (kind === "exact" || kind === "cell") return;
      const away = document.createElement("span");
      away.className = "ago";
      away.textContent = kind === "short" ? " " + fromNow(moment) : " (" + fromNow(moment) + ")";
      element.append(away);
    });
    root.querySelectorAll("[data-zone]").forEach((element) => {
      element.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone || "your time zone";
    });
  }

  function megabytes(bytes) {
    return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0) + " MB";
  }

  function showUploadError(form, message, mend) {
    const box = form.querySelector("[data-upload-error]");
    box.querySelector("[data-message]").textContent = message;
    box.querySelector("[data-mend]").textContent = mend || "";
    box.hidden = false;
    box.focus();
  }

  function uploadAnswered(form, request, finish) {
    if (request.responseURL && request.responseURL.includes("/accounts/login/")) {
      window.location.assign(request.responseURL);
      return;
    }
    let answer = {};
    try {
      answer = JSON.parse(request.responseText);
    } catch (error) {
      answer = {};
    }
    if (request.status >= 200 && request.status < 300 && answer.url) {
      window.location.assign(answer.url);
      return;
    }
    finish();
    showUploadError(form, answer.message || "The upload failed with status " + request.status + ".", answer.mend);
  }

  function sendWithProgress(form) {
    const progress = form.querySelector("[data-progress]");
    const bar = progress.querySelector("progress");
    const text = progress.querySelector("p");
    const button = form.querySelector("button[type=submit]");
    const finish = () => {
      progress.hidden = true;
      button.disabled = false;
    };
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      bar.max = event.total;
      bar.value = event.loaded;
      const percent = Math.floor((100 * event.loaded) / event.total);
      text.textContent = event.loaded < event.total
        ? percent + " % of " + megabytes(event.total) + " sent"
        : "Sent. The archive is being checked.";
    });
    request.addEventListener("load", () => uploadAnswered(form, request, finish));
    request.addEventListener("error", () => {
      finish();
      showUploadError(form, "The connection was lost before the upload was complete.", "Nothing was counted; send it again.");
    });
    form.querySelector("[data-upload-error]").hidden = true;
    progress.hidden = false;
    button.disabled = true;
    bar.value = 0;
    text.textContent = "The upload begins.";
    request.send(new FormData(form));
  }

  function setUpUpload() {
    const form = document.querySelector("form[data-upload]");
    if (!form) return;
    form.addEventListener("submit", (event) => {
      const file = form.querySelector("input[type=file]").files[0];
      if (!file) return;
      event.preventDefault();
      const most = Number(form.dataset.mostBytes);
      if (most && file.size > most) {
        showUploadError(form, "The archive has " + megabytes(file.size) + "; " + megabytes(most) + " is the most.", "Leave out data and models that are not needed.");
        return;
      }
      sendWithProgress(form);
    });
  }

  // Live parts are replaced as a whole: what the reader opened and how far they scrolled is put back.
  function keepReadersPlace() {
    let kept = [];
    document.addEventListener("htmx:beforeSwap", (event) => {
      const answeredFrom = event.detail.xhr.responseURL || "";
      if (answeredFrom.includes("/accounts/login/")) {
        event.detail.shouldSwap = false; // the session has ended: the whole page goes to the login
        window.location.reload();
        return;
      }
      if (event.detail.target.querySelector(":popover-open")) {
        event.detail.shouldSwap = false; // a question is open in it: the next answer takes its place
        return;
      }
      kept = Array.from(event.detail.target.querySelectorAll("details[id], pre[id], .table-frame[id]")).map((element) => ({
        id: element.id,
        open: element.open,
        left: element.scrollLeft,
        top: element.scrollTop,
        atEnd: element.scrollHeight - element.scrollTop - element.clientHeight < 24,
      }));
    });
    document.addEventListener("htmx:afterSwap", () => {
      showLocalTimes(document);
      kept.forEach((place) => {
        const element = document.getElementById(place.id);
        if (!element) return;
        if (place.open !== undefined) element.open = place.open;
        element.scrollLeft = place.left;
        element.scrollTop = place.atEnd && element.tagName === "PRE" ? element.scrollHeight : place.top;
      });
      kept = [];
    });
  }

  function scrollLogsToEnd() {
    document.querySelectorAll("pre[data-log]").forEach((element) => {
      element.scrollTop = element.scrollHeight;
    });
  }

  function closeMenusElsewhere() {
    document.addEventListener("click", (event) => {
      document.querySelectorAll("details.menu[open]").forEach((menu) => {
        if (!menu.contains(event.target)) menu.open = false;
      });
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      document.querySelectorAll("details.menu[open]").forEach((menu) => {
        menu.open = false;
        menu.querySelector("summary").focus();
      });
    });
  }

  function showCurrentTab() {
    document.querySelectorAll(".tabs a[aria-current], .studio-nav a[aria-current]").forEach((tab) => {
      const bar = tab.parentElement;
      if (bar.scrollWidth <= bar.clientWidth) return;
      bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
    });
  }

  // Forms of people who are logged in are read in their browser's time zone, unless they chose another.
  function tellZone() {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (!zone || !document.querySelector("details.menu")) return;
    document.cookie = "podium_zone=" + zone + "; path=/; max-age=31536000; samesite=lax";
  }

  // Forms whose answer takes long: their button says that it works, and they are sent once.
  function showBusyForms() {
    const restore = [];
    document.addEventListener("submit", (event) => {
      const form = event.target;
      if (event.defaultPrevented || !form.dataset.busy) return;
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      form.dataset.sent = "yes";
      const button = event.submitter || form.querySelector("button:not([type=button])");
      const text = button.textContent;
      restore.push(() => {
        delete form.dataset.sent;
        button.disabled = false;
        button.removeAttribute("aria-busy");
        button.textContent = text;
      });
      // After the event, because a disabled button would not send its name and value.
      window.setTimeout(() => {
        button.disabled = true;
        button.setAttribute("aria-busy", "true");
        button.textContent = form.dataset.busy;
      });
    });
    // Whoever goes back may find the page as it was left.
    window.addEventListener("pageshow", () => restore.splice(0).forEach((undo) => undo()));
  }

  function setUpCopyButtons() {
    document.querySelectorAll("button[data-copy]").forEach((button) => {
      const field = document.getElementById(button.dataset.copy);
      const text = button.textContent;
      button.hidden = false;
      button.addEventListener("click", async () => {
        field.select();
        try {
          await navigator.clipboard.writeText(field.value);
          button.textContent = "Copied";
        } catch (error) {
          button.textContent = "Selected"; // pages that came without TLS may not write to the clipboard
        }
        window.setTimeout(() => { button.textContent = text; }, 3000);
      });
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    setUpThemeToggle();
    tellZone();
    showLocalTimes(document);
    window.setInterval(() => showLocalTimes(document), 60000);
    setUpUpload();
    setUpCopyButtons();
    showBusyForms();
    keepReadersPlace();
    scrollLogsToEnd();
    closeMenusElsewhere();
    showCurrentTab();
    window.addEventListener("resize", showCurrentTab);
  });
})();
