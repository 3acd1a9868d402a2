(function () {
  "use strict";
  // Without this a page that the browser kept would show a comparison that is answered by now.
  window.addEventListener("pageshow", function (event) { if (event.persisted) location.reload(); });
  // Where another script didn't come through, the form goes as it is, by its button.
  if (!window.runoffSays || !window.runoffSend) return;
  document.documentElement.classList.add("js");

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
  if (!form) return;
  var undo = document.getElementById("undo");
  var said = document.getElementById("said");
  var box = form.querySelector(".ro-comparison");
  var TOO_QUICK_MS = 250;
  var taken = null;  // the answer that is on its way
  var shown = performance.now(), hidden = document.hidden ? shown : null, away = 0;

  // Time with the page in the background is no time spent on the comparison.
  document.addEventListener("visibilitychange", function () {
    var moment = performance.now();
    if (document.hidden) hidden = moment;
    else if (hidden !== null) { away += moment - hidden; hidden = null; }
  });

  function post(from) {
    taken = from === form ? form.querySelector("input[type=radio]:checked") : null;
    form.setAttribute("aria-busy", "true");
    runoffSend.send(from, said, show);
  }

  function clear() {
    form.querySelectorAll("input[type=radio]").forEach(function (input) { input.checked = false; });
  }

  function show(next) {
    if (next.kind === "problem") said.textContent = next.text;
    if (next.kind !== "vote") return runoffSend.go(next.query);
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
    undo.hidden = !next.undo;
    said.textContent = next.said + " " + runoffSays.text("Now {at} of {of}.", { at: next.texts.at, of: next.of });
    shown = performance.now();
    away = 0;
    hidden = document.hidden ? shown : null;
    form.removeAttribute("aria-busy");
    box.focus({ preventScroll: true });
  }

  function send() {
    // On a slow line a second tap would mark another answer than the one that is being saved.
    if (runoffSend.isBusy()) { clear(); if (taken) taken.checked = true; return; }
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
    if (!runoffSend.isBusy()) post(undo);
  });
})();
