(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("data").textContent);
  var form = document.getElementById("vote"), root = document.getElementById("runoff");
  var box = form.querySelector(".ro-comparison");
  var said = document.getElementById("said"), count = document.getElementById("count");
  var bar = document.getElementById("progress"), ending = document.getElementById("ending");
  var key = "runoff-" + data.id, TOO_QUICK_MS = 250, ANSWERS = "answers";
  var kept = { voter: "", answers: [] }, shown = performance.now(), database = null, isBusy = false;
  var tabs = window.BroadcastChannel ? new BroadcastChannel(key) : null;

  // The browser's database says when something is on the disk; what localStorage took can be gone after a reload.
  function open() {
    return new Promise(function (resolve) {
      try {
        var asked = indexedDB.open("runoff", 1);
        asked.onupgradeneeded = function () { asked.result.createObjectStore(ANSWERS); };
        asked.onsuccess = function () { database = asked.result; resolve(); };
        asked.onerror = function () { resolve(); }; // nothing is kept here: this visit only
      } catch (error) { resolve(); }
    });
  }
  // Change what is kept as it is now, whichever tab wrote it; whether it is on the disk. Without a change it is read.
  function update(change) {
    return new Promise(function (resolve) {
      function lost() { database = null; resolve(false); }
      if (!database) {
        if (change) change(kept);
        return resolve(false);
      }
      try {
        var step = database.transaction(ANSWERS, change ? "readwrite" : "readonly", { durability: "strict" });
        var rows = step.objectStore(ANSWERS), now = rows.get(key);
        now.onsuccess = function () {
          kept = now.result || kept;
          if (!change) return;
          change(kept);
          rows.put(kept, key);
        };
        step.oncomplete = function () {
          if (change && tabs) tabs.postMessage("changed");
          resolve(true);
        };
        step.onabort = lost;
      } catch (error) {
        if (change) change(kept);
        lost();
      }
    });
  }
  function refresh() {
    var before = JSON.stringify(kept);
    if (!isBusy) update(null).then(function () { if (JSON.stringify(kept) !== before) show(); });
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
    if (isBusy || moment - shown < TOO_QUICK_MS) return clear();
    var at = kept.answers.length, given = {
      id: data.comparisons[at].id, choice: chosen.value,
      seconds: ((moment - shown) / 1000).toFixed(2), at: new Date().toISOString()
    };
    // What another tab has answered in the meantime stays.
    save(function (now) { if (now.answers.length === at) now.answers.push(given); }, runoffSays.text("Saved in this browser."));
  }
  function save(change, done) {
    isBusy = true;
    said.textContent = ""; // so that the same words are read out again
    update(change).then(function (isKept) {
      isBusy = false;
      said.textContent = isKept ? done
        : runoffSays.text("This browser keeps nothing: don’t close the page before the end.");
      show();
    });
  }
  form.addEventListener("change", function (event) { if (event.target.type === "radio") answer(); });
  form.addEventListener("submit", function (event) { event.preventDefault(); answer(); });
  document.getElementById("begin").addEventListener("submit", function (event) {
    event.preventDefault();
    var name = document.getElementById("name").value.trim();
    save(function (now) { now.voter = now.voter || name; }, runoffSays.text("Saved in this browser."));
  });
  document.getElementById("undo").addEventListener("click", function () {
    var at = kept.answers.length;
    if (isBusy) return;
    save(function (now) { if (now.answers.length === at) now.answers.pop(); }, runoffSays.text("Your last answer is taken back."));
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
  if (tabs) tabs.onmessage = refresh;
  document.addEventListener("visibilitychange", refresh);
  document.documentElement.classList.add("js");
  open().then(function () { return update(null); }).then(function () {
    root.hidden = false;
    show();
  });
})();
