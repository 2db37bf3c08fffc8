// Sending a dataset in pieces. The site says how many bytes it has, so a lost connection, a restarted site or a
// page that was loaded anew costs no more than one piece.
(function () {
  "use strict";

  const FIRST_WAIT = 1000;
  const LONGEST_WAIT = 15000;
  const GIVE_UP_AFTER = 15 * 60 * 1000;
  const SILENT = {
    message: "The site does not take the file.",
    mend: "What has arrived is kept: choose the same file again later.",
  };

  function size(bytes) {
    if (bytes >= 1e9) return (bytes / 1e9).toFixed(2) + " GB";
    return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0) + " MB";
  }

  function fingerprint(file) {
    return [file.name, file.size, file.lastModified].join(":").slice(0, 200);
  }

  function pause(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  // The answer as {status, body}; status 0 where none came.
  function ask(method, address, options) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open(method, address);
      request.setRequestHeader("Accept", "application/json");
      Object.entries(options.headers || {}).forEach(([name, value]) => request.setRequestHeader(name, value));
      if (options.onprogress) request.upload.addEventListener("progress", options.onprogress);
      request.addEventListener("loadend", () => {
        if (request.responseURL && request.responseURL.includes("/accounts/login/")) {
          window.location.assign("/accounts/login/?next=" + encodeURIComponent(window.location.pathname));
          return;
        }
        let body = {};
        try {
          body = JSON.parse(request.responseText);
        } catch (error) {
          body = {};
        }
        resolve({ status: request.status, body: body });
      });
      request.send(options.body || null);
    });
  }

  // What the page says about the upload. Not by form.dataset: the field named "dataset" would stand in its place.
  const stated = (form, name) => form.getAttribute("data-" + name) || "";

  class Sender {
    constructor(form, file) {
      this.form = form;
      this.file = file;
      this.token = form.querySelector("input[name=csrfmiddlewaretoken]").value;
      this.piece = Number(stated(form, "piece-bytes"));
      this.progress = form.querySelector("[data-progress]");
      this.button = form.querySelector("button[type=submit]");
    }

    tell(bytes, sentence) {
      const percent = Math.floor((100 * bytes) / this.file.size);
      this.progress.querySelector("progress").value = bytes / this.file.size;
      this.progress.querySelector("p").textContent = sentence || percent + " % of " + size(this.file.size) + " sent";
    }

    refuse(answer) {
      const box = this.form.querySelector("[data-upload-error]");
      box.querySelector("[data-message]").textContent = answer.message || "The file could not be sent.";
      box.querySelector("[data-mend]").textContent = answer.mend || "";
      box.hidden = false;
      this.progress.hidden = true;
      this.button.disabled = false;
      box.focus();
    }

    headers(more) {
      return Object.assign({ "X-CSRFToken": this.token }, more);
    }

    async begin() {
      const content = stated(this.form, "content");
      if (content) return { content: content };
      const value = (name) => (this.form.elements[name] ? this.form.elements[name].value : "");
      const wanted = {
        filename: this.file.name,
        size: this.file.size,
        fingerprint: fingerprint(this.file),
        dataset: value("dataset"),
        title: value("title"),
        description: value("description"),
        check_only: this.form.elements.check_only.checked,
      };
      const options = { body: JSON.stringify(wanted), headers: this.headers({ "Content-Type": "application/json" }) };
      const answer = await this.patiently(() => ask("POST", stated(this.form, "begin"), options));
      return answer && { content: answer.url + "content/" };
    }

    // Asks until an answer comes; null after a refusal, which is shown, or when none came for long.
    async patiently(asking) {
      let wait = FIRST_WAIT;
      const since = Date.now();
      for (;;) {
        const answer = await asking();
        if (answer.status >= 200 && answer.status < 300) return answer.body;
        if (answer.status >= 400 && answer.status < 500) {
          this.refuse(answer.body);
          return null;
        }
        if (Date.now() - since > GIVE_UP_AFTER) {
          this.refuse(SILENT);
          return null;
        }
        this.progress.querySelector("p").textContent = "The connection was lost. Trying again.";
        await pause(wait);
        wait = Math.min(2 * wait, LONGEST_WAIT);
      }
    }

    async send() {
      this.form.querySelector("[data-upload-error]").hidden = true;
      this.progress.hidden = false;
      this.button.disabled = true;
      this.tell(0, "The upload begins.");
      const place = await this.begin();
      if (!place) return;
      this.movedAt = Date.now();
      for (let goesOn = true; goesOn;) {
        const standing = await this.patiently(() => ask("GET", place.content, {}));
        if (!standing) return;
        if (standing.state !== "receiving") {
          window.location.assign(standing.url);
          return;
        }
        goesOn = await this.sendFrom(place.content, standing.received);
      }
    }

    // Sends piece after piece. Returns whether to ask how many bytes have arrived and to go on from there.
    async sendFrom(address, received) {
      let offset = received;
      while (offset < this.file.size) {
        const begins = offset;
        this.tell(begins);
        const answer = await ask("PUT", address, {
          body: this.file.slice(begins, begins + this.piece),
          headers: this.headers({ "Upload-Offset": String(begins), "Content-Type": "application/octet-stream" }),
          onprogress: (event) => this.tell(Math.min(begins + event.loaded, this.file.size)),
        });
        if (answer.status !== 200) return this.maySendAgain(answer, begins);
        offset = answer.body.received;
        this.movedAt = Date.now();
      }
      return true;
    }

    // After a piece that did not go through. 409 says that the site has other bytes than we thought.
    async maySendAgain(answer, begins) {
      const isRefused = answer.status >= 400 && answer.status < 500 && answer.status !== 409;
      if (isRefused || Date.now() - this.movedAt > GIVE_UP_AFTER) {
        this.refuse(isRefused ? answer.body : SILENT);
        return false;
      }
      this.tell(begins, "The connection was lost. Trying again.");
      await pause(FIRST_WAIT);
      return true;
    }
  }

  function problemWith(form, file) {
    const most = Number(stated(form, "most-bytes"));
    const goesOn = stated(form, "content") !== "";
    const name = stated(form, "filename");
    const bytes = Number(stated(form, "size"));
    if (goesOn && (file.name !== name || file.size !== bytes)) {
      return { message: "This is another file.", mend: "The upload began with " + name + ", " + size(bytes) + "." };
    }
    const before = stated(form, "fingerprint");
    if (goesOn && before && before !== fingerprint(file)) {
      return { message: "The file has changed since the upload began.", mend: "Remove this upload and send the file anew." };
    }
    if (file.size === 0) return { message: "The file is empty.", mend: "Choose the file that holds the data." };
    if (file.size > most) return { message: "The file has " + size(file.size) + "; " + size(most) + " is the most." };
    return null;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-dataset-upload]");
    const file = form && form.querySelector("input[type=file]").files[0];
    if (!file) return;
    event.preventDefault();
    const sender = new Sender(form, file);
    const problem = problemWith(form, file);
    if (problem) sender.refuse(problem);
    else sender.send();
  });
})();
