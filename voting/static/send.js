// Sends forms in the background, and each once more until the server itself has answered: what comes twice is done once.
var runoffSend = (function () {
  "use strict";
  var SLOW_MS = 1000, FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 15000, LOST_MS = 20000;
  var busy = false;
  if (!window.fetch || !window.URLSearchParams || !window.FormData) return null;

  function text(name) { return document.getElementById(name).textContent; }

  // Below a long consent the line is out of sight, and a button would seem to do nothing.
  function tell(said, message) {
    said.textContent = message;
    if (said.getBoundingClientRect().bottom > window.innerHeight) said.scrollIntoView({ block: "nearest" });
  }

  // `said` shows how it stands; `done` is given what the server told.
  function send(form, said, done) {
    var address = form.action, body = new URLSearchParams(new FormData(form)), wait = FIRST_WAIT_MS;
    var mayBeDone = false;  // an answer got lost: only the next one says whether it was done
    var slow = setTimeout(function () { tell(said, text("saving")); }, SLOW_MS);
    busy = true;
    form.setAttribute("aria-busy", "true");
    ask();

    function ask() {
      var stop = window.AbortController ? new AbortController() : null;
      var lost = setTimeout(function () { if (stop) stop.abort(); }, LOST_MS);
      var options = {
        method: "POST", body: body, credentials: "same-origin", redirect: "error", headers: { Accept: "application/json" }
      };
      if (stop) options.signal = stop.signal;
      fetch(address, options).then(function (answer) {
        // A network that wants a visitor to log in, or a server between, answers in the server's place.
        if (!answer.headers.has("Runoff")) throw new TypeError("an answer of somebody else");
        // Only where the server says so was nothing done for certain.
        if (answer.status === 429 || (answer.status === 503 && answer.headers.has("Retry-After"))) return null;
        var isTold = /json/.test(answer.headers.get("Content-Type"));
        return isTold ? answer.json() : { kind: "page" };
      }).then(function (told) {
        clearTimeout(lost);
        if (told === null) return again(text(mayBeDone ? "saving" : "waiting"));
        clearTimeout(slow);
        busy = false;
        form.removeAttribute("aria-busy");
        done(told);
      }, function () {
        clearTimeout(lost);
        mayBeDone = true;
        again(text("unreachable"));
      });
    }

    function again(message) {
      clearTimeout(slow);
      tell(said, message);
      // Voters who were refused in one moment don't all come back in another.
      setTimeout(ask, wait * (0.5 + Math.random()));
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  }

  // The page of the link as it stands now; without a query the same address once more, if it isn't that of a form.
  function go(query) {
    var link = location.pathname.split("/").slice(0, 3).join("/");
    if (query === undefined && link === location.pathname) location.reload();
    else location.assign(link + (query || ""));
  }

  // Where a form's own page has no place for it, what is said of it stands at its end.
  function saidOf(form) {
    return document.getElementById("said") || form.querySelector(".ro-said") || form.appendChild(made("ro-said", "status"));
  }

  function made(name, role) {
    var line = document.createElement("p");
    line.className = name;
    line.setAttribute("role", role);
    return line;
  }

  function refuse(form, told) {
    var line = form.querySelector(".ro-problem") || form.insertBefore(made("ro-problem", "alert"), form.firstChild);
    var field = told.field && form.elements[told.field];
    saidOf(form).textContent = "";
    line.id = "problem";
    line.textContent = told.text;
    form.querySelectorAll("[aria-invalid]").forEach(function (one) { one.removeAttribute("aria-invalid"); });
    if (!field) return;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "problem");
    field.focus();
  }

  // Forms that no other script of the page sends.
  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (busy) return;
    send(form, saidOf(form), function (told) {
      if (told.kind === "problem") refuse(form, told);
      else go(told.kind === "vote" ? "" : told.query);
    });
  });

  return { send: send, go: go, isBusy: function () { return busy; } };
})();
