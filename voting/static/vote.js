(function () {
  "use strict";
  document.documentElement.classList.add("js");
  // Without this a page that the browser kept would show a comparison that is answered by now.
  window.addEventListener("pageshow", function (event) { if (event.persisted) location.reload(); });

  var example = document.getElementById("example");
  if (example) {
    var sent = false;
    var submit = function () {
      if (sent || !example.querySelector("input[type=radio]:checked")) return;
      sent = true;
      example.requestSubmit();
    };
    example.addEventListener("change", submit);
    submit();
    return;
  }
  var form = document.getElementById("vote");
  if (!form || !window.fetch || !window.URLSearchParams) return;
  var undo = document.getElementById("undo");
  var said = document.getElementById("said");
  var box = form.querySelector(".ro-comparison");
  var TOO_QUICK_MS = 250, SLOW_MS = 1000, FIRST_WAIT_MS = 1000, LONGEST_WAIT_MS = 15000;
  var taken = null, slow = 0;  // the answer that is on its way, and the timer that says so
  var busy = false, shown = performance.now(), hidden = document.hidden ? shown : null, away = 0;

  // Time with the page in the background is no time spent on the comparison.
  document.addEventListener("visibilitychange", function () {
    var moment = performance.now();
    if (document.hidden) hidden = moment;
    else if (hidden !== null) { away += moment - hidden; hidden = null; }
  });

  function post(from) {
    busy = true;
    taken = from === form ? form.querySelector("input[type=radio]:checked") : null;
    form.setAttribute("aria-busy", "true");
    slow = setTimeout(function () { said.textContent = runoffSays.text("Saving…"); }, SLOW_MS);
    ask(from.action, new URLSearchParams(new FormData(from)), FIRST_WAIT_MS);
  }

  function ask(address, body, wait) {
    fetch(address, {
      method: "POST", body: body, credentials: "same-origin", redirect: "error", headers: { Accept: "application/json" }
    }).then(function (answer) {
      // Only where the server says so was nothing done for certain.
      if (answer.status === 503 && answer.headers.has("Retry-After")) return later(address, body, wait);
      if (answer.status === 429) throw new Error(runoffSays.text("That was quick. Wait a moment and answer again."));
      if (!answer.ok) { location.reload(); throw new Error(runoffSays.text("The page is loaded again.")); }
      return answer.json();
    }).then(function (next) { if (next) show(next); }, failed);
  }

  function later(address, body, wait) {
    clearTimeout(slow);
    said.textContent = runoffSays.text("One moment, this isn’t saved yet…");
    // Voters who were refused in one moment don't all come back in another.
    setTimeout(ask, wait * (0.5 + Math.random()), address, body, Math.min(2 * wait, LONGEST_WAIT_MS));
  }

  function rest() {
    clearTimeout(slow);
    busy = false;
    form.removeAttribute("aria-busy");
  }

  function clear() {
    form.querySelectorAll("input[type=radio]").forEach(function (input) { input.checked = false; });
  }

  function failed(error) {
    clear();
    rest();
    said.textContent = error instanceof TypeError
      ? runoffSays.text("Not saved: there is no connection to the server. Answer again when it is back.") : error.message;
  }

  function show(next) {
    if (next.kind !== "vote") { location.replace(location.pathname + (next.query || "")); return; }
    clear();
    ["left", "right"].forEach(function (side, at) {
      var card = form.querySelectorAll(".ro-card")[at];
      var tokens = card.querySelectorAll(".ro-token");
      tokens[0].textContent = next.texts[side + "_a"];
      tokens[1].textContent = next.texts[side + "_b"];
      card.querySelector(".ro-area").textContent = next.texts["area_" + side];
    });
    form.elements.place.value = next.place;
    var at = runoffSays.text("{at} of {of}", { at: next.texts.at, of: next.of });
    document.getElementById("count").textContent = at;
    var progress = document.getElementById("progress");
    progress.max = next.of;
    progress.value = Number(next.texts.at) - 1;
    document.title = at;
    undo.elements.place.value = next.undo;
    undo.querySelector("button").disabled = !next.undo;
    said.textContent = next.said + " " + runoffSays.text("Now {at} of {of}.", { at: next.texts.at, of: next.of });
    shown = performance.now();
    away = 0;
    hidden = document.hidden ? shown : null;
    rest();
    box.focus({ preventScroll: true });
  }

  function send() {
    // On a slow line a second tap would mark another answer than the one that is being saved.
    if (busy) { clear(); if (taken) taken.checked = true; return; }
    if (!form.querySelector("input[type=radio]:checked")) return;
    // The second half of a double click must not answer a comparison that has just appeared.
    if (performance.now() - shown < TOO_QUICK_MS) return clear();
    form.elements.seconds.value = ((performance.now() - shown - away) / 1000).toFixed(3);
    post(form);
  }

  // Somebody may have tapped before this script was there; the same card would then give no further change.
  setTimeout(send, TOO_QUICK_MS + 10);
  form.addEventListener("change", function (event) { if (event.target.type === "radio") send(); });
  form.addEventListener("submit", function (event) { event.preventDefault(); send(); });
  undo.addEventListener("submit", function (event) {
    event.preventDefault();
    if (!busy) post(undo);
  });
})();
