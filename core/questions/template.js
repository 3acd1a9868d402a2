(function () {
  "use strict";
  var root = document.getElementById("runoff");
  var reduced = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  var status = root.querySelector(".ro-progress");
  var all = Array.prototype.slice.call(root.querySelectorAll(".ro-comparison"));
  // A task may hold fewer comparisons than the page has room for; an empty one would block Submit.
  var comparisons = all.filter(function (box) {
    var isEmpty = Array.prototype.every.call(box.querySelectorAll(".ro-token"), function (token) {
      return token.textContent === "";
    });
    if (isEmpty) box.remove();
    return !isEmpty;
  });
  comparisons.forEach(function (box, at) {
    var count = box.querySelector(".ro-count");
    if (count) count.textContent = comparisons.length > 1 ? runoffSays.text("{at} of {of}", { at: at + 1, of: comparisons.length }) : "";
  });
  // On a phone the cards stand below each other, and open examples would push the first comparison off the screen.
  var narrow = window.matchMedia ? window.matchMedia("(max-width: 30rem)") : { matches: false };
  var examples = root.querySelector(".ro-examples");
  if (examples && narrow.matches) examples.open = false;
  var sides = {};
  function nameSides() {
    sides = narrow.matches
      ? { left: runoffSays.text("Upper"), right: runoffSays.text("Lower") }
      : { left: runoffSays.text("Left"), right: runoffSays.text("Right") };
    ["left", "right"].forEach(function (side) {
      root.querySelectorAll(".ro-" + side).forEach(function (place) { place.textContent = sides[side]; });
    });
  }
  nameSides();
  if (narrow.addEventListener) narrow.addEventListener("change", nameSides);
  var current = 0;
  function named(value) {
    if (sides[value]) return runoffSays.text("{side} pair", { side: sides[value] });
    return value === "tie" ? runoffSays.text("Equal") : runoffSays.text("Unknown word");
  }

  function chosen(box) { return box.querySelector("input:checked"); }

  function mark(at) {
    current = at;
    comparisons.forEach(function (box, n) { box.classList.toggle("ro-current", n === at && comparisons.length > 1); });
  }

  function tell(prefix) {
    if (!status) return; // the voting page tells by itself
    var done = comparisons.filter(chosen).length;
    var text = runoffSays.text("{at} of {of} answered.", { at: done, of: comparisons.length });
    if (done === comparisons.length) text += " " + runoffSays.text("You can submit now, or change an answer.");
    status.textContent = (prefix ? prefix + ". " : "") + text;
  }

  // The group gets the focus, not one of its cards, so that no side is highlighted before the choice.
  function go(at) {
    mark(at);
    comparisons[at].focus({ preventScroll: true });
    comparisons[at].scrollIntoView({ block: "nearest", behavior: reduced ? "auto" : "smooth" });
  }

  function goOn() {
    if (current + 1 < comparisons.length) return go(current + 1);
    var open = comparisons.findIndex(function (box) { return !chosen(box); });
    if (open >= 0) return go(open);
    var submit = document.querySelector('input[type="submit"], button[type="submit"], crowd-button[form-action="submit"]');
    if (submit) {
      submit.focus({ preventScroll: true });
      submit.scrollIntoView({ block: "nearest", behavior: reduced ? "auto" : "smooth" });
    }
  }

  function choose(value) {
    var box = comparisons[current];
    var input = box && box.querySelector('input[value="' + value + '"]');
    if (!input || !box.getClientRects().length) return false; // nobody answers what isn't on the screen
    input.checked = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    tell(named(value));
    goOn();
    return true;
  }

  var keys = {
    ArrowLeft: "left", ArrowRight: "right", ArrowDown: "tie", "1": "left", "2": "right", "3": "tie", "0": "unknown"
  };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.isComposing) return;
    var target = event.target;
    if (target.closest && target.closest("textarea, select, input:not([type=radio]):not([type=submit])")) return;
    if (event.key === "ArrowUp" && current > 0) {
      event.preventDefault();
      if (!event.repeat) go(current - 1);
    } else if (Object.prototype.hasOwnProperty.call(keys, event.key)) {
      // A key that is held down must not answer comparison after comparison.
      if (event.repeat || choose(keys[event.key])) event.preventDefault();
    }
  });
  comparisons.forEach(function (box, at) {
    box.addEventListener("focusin", function () { if (current !== at) mark(at); });
    box.addEventListener("pointerdown", function () { mark(at); });
    box.addEventListener("change", function (event) { if (event.isTrusted) tell(named(event.target.value)); });
  });
  if (comparisons.length) mark(0);
  tell("");
  // A platform shows the page in a frame, where keys work only once the frame has the focus.
  if (window.parent !== window && !root.closest("[data-preview]")) window.focus();
})();
