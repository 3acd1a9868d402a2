(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("data").textContent);
  var form = document.getElementById("vote"), root = document.getElementById("runoff");
  var box = form.querySelector(".ro-comparison");
  var said = document.getElementById("said"), count = document.getElementById("count");
  var bar = document.getElementById("progress"), ending = document.getElementById("ending");
  var key = "runoff-" + data.id, TOO_QUICK_MS = 250;
  var kept = { voter: "", answers: [] }, shown = performance.now();
  try { kept = JSON.parse(localStorage.getItem(key)) || kept; } catch (error) { /* no storage here: this visit only */ }

  function keep() {
    try { localStorage.setItem(key, JSON.stringify(kept)); return true; } catch (error) { return false; }
  }
  function cell(text) { return '"' + String(text).replace(/"/g, '""') + '"'; }
  function csv() {
    var lines = ["comparison_id,voter,choice,seconds,submitted_at"];
    kept.answers.forEach(function (a) { lines.push([a.id, kept.voter, a.choice, a.seconds, a.at].map(cell).join(",")); });
    return lines.join("\r\n") + "\r\n";
  }
  function clear() {
    form.querySelectorAll("input[type=radio]").forEach(function (input) { input.checked = false; });
  }
  function show() {
    var at = kept.answers.length, done = at >= data.comparisons.length;
    document.getElementById("begin").hidden = kept.voter !== "";
    document.getElementById("voting").hidden = kept.voter === "" || done;
    ending.hidden = !done && at === 0 || kept.voter === "";
    document.getElementById("done").hidden = !done;
    document.getElementById("undo").disabled = at === 0;
    bar.max = data.comparisons.length;
    bar.value = at;
    count.textContent = runoffSays.text(
      "{at} of {of}", { at: Math.min(at + 1, data.comparisons.length), of: data.comparisons.length }
    );
    document.getElementById("text").value = csv();
    if (kept.voter === "" || done) return;
    var texts = data.comparisons[at];
    clear();
    ["left", "right"].forEach(function (side, n) {
      var card = form.querySelectorAll(".ro-card")[n], tokens = card.querySelectorAll(".ro-token");
      tokens[0].textContent = texts[side + "_a"];
      tokens[1].textContent = texts[side + "_b"];
      card.querySelector(".ro-area").textContent = texts["area_" + side];
    });
    shown = performance.now();
    box.focus({ preventScroll: true });
  }
  function answer() {
    var chosen = form.querySelector("input[type=radio]:checked"), moment = performance.now();
    if (!chosen || kept.answers.length >= data.comparisons.length) return;
    if (moment - shown < TOO_QUICK_MS) return clear();
    kept.answers.push({
      id: data.comparisons[kept.answers.length].id, choice: chosen.value,
      seconds: ((moment - shown) / 1000).toFixed(2), at: new Date().toISOString()
    });
    said.textContent = keep() ? runoffSays.text("Saved in this browser.")
      : runoffSays.text("This browser keeps nothing: don’t close the page before the end.");
    show();
  }
  form.addEventListener("change", function (event) { if (event.target.type === "radio") answer(); });
  form.addEventListener("submit", function (event) { event.preventDefault(); answer(); });
  document.getElementById("begin").addEventListener("submit", function (event) {
    event.preventDefault();
    kept.voter = document.getElementById("name").value.trim();
    keep();
    show();
  });
  document.getElementById("undo").addEventListener("click", function () {
    kept.answers.pop();
    keep();
    said.textContent = runoffSays.text("Your last answer is taken back.");
    show();
  });
  document.getElementById("save").addEventListener("click", function () {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff" + csv()], { type: "text/csv" }));
    link.download = data.id + ".csv";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  });
  document.getElementById("copy").addEventListener("click", function () {
    var text = document.getElementById("text");
    text.select();
    if (navigator.clipboard) navigator.clipboard.writeText(text.value).catch(function () { document.execCommand("copy"); });
    else document.execCommand("copy");
  });
  // What another tab has written, or this page just before it was closed and opened again: it can come late.
  window.addEventListener("storage", function (event) {
    if (event.key !== key || !event.newValue) return;
    kept = JSON.parse(event.newValue);
    show();
  });
  document.documentElement.classList.add("js");
  root.hidden = false;
  show();
})();
