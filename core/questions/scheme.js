// What all pages share: empty places, the place one is at, progress, and what is missing, said where it is missing.
var root = document.getElementById("runoff"), status = root.querySelector(".ro-progress");
var reduced = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
function list(within, selector) { return Array.prototype.slice.call(within.querySelectorAll(selector)); }
function textOf(place) { return list(place, ".ro-token").map(function (token) { return token.textContent; }).join(""); }
function made(name, className, text) {
  var node = document.createElement(name);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  if (name === "button") node.type = "button";
  return node;
}
list(root, ".ro-row, .ro-comparison").forEach(function (place) { if (textOf(place) === "") place.remove(); });
list(root, ".ro-token").forEach(function (token) {
  var texts = token.closest(".ro-texts");
  if (texts && token.textContent.length > 40) texts.classList.add("ro-long");
});
var boxes = list(root, ".ro-comparison"), current = 0;
var numbered = boxes.filter(function (box) { return !box.classList.contains("ro-gold"); });
numbered.forEach(function (box, at) {
  var count = box.querySelector(".ro-count");
  if (count) count.textContent = numbered.length > 1 ? runoffSays.text("{at} of {of}", { at: at + 1, of: numbered.length }) : "";
});

// A scheme fills these in.
var scheme = { done: null, missing: null, place: null, key: null, settled: null };

function unknownOf(box) { return box.querySelector(".ro-unknown input"); }
function isUnknown(box) { var input = unknownOf(box); return !!input && input.checked; }
function isDone(box) { return isUnknown(box) || scheme.done(box); }
function mark(at) {
  current = at;
  boxes.forEach(function (box, n) { box.classList.toggle("ro-current", n === at && boxes.length > 1); });
}
function show(node) {
  node.scrollIntoView({ block: "nearest", behavior: reduced ? "auto" : "smooth" });
}
function focusOn(node) {
  node.focus({ preventScroll: true });
  show(node);
}
function go(at) {
  mark(at);
  focusOn(scheme.place ? scheme.place(boxes[at]) : boxes[at]);
}
function submitButton() {
  return document.querySelector('input[type="submit"], button[type="submit"], crowd-button[form-action="submit"]');
}
function goOn() {
  if (current + 1 < boxes.length) return go(current + 1);
  var open = boxes.findIndex(function (box) { return !isDone(box); });
  if (open >= 0 && open !== current) return go(open);
  var button = submitButton(), voting = document.getElementById("vote");
  if (!button || open >= 0) return;
  // The voting page has one question: it goes on by itself.
  if (voting) voting.requestSubmit();
  else focusOn(button);
}
function tell(prefix) {
  if (!status) return; // the voting page tells by itself
  var done = boxes.filter(isDone).length, text = runoffSays.text("{at} of {of} answered.", { at: done, of: boxes.length });
  if (done === boxes.length) text += " " + runoffSays.text("You can submit now, or change an answer.");
  status.textContent = (prefix ? prefix + ". " : "") + text;
}
function changed(box, said) {
  if (isDone(box)) fault(box, "");
  box.classList.toggle("ro-done", isDone(box));
  tell(said);
}
function fault(box, text) {
  var place = box.querySelector(".ro-fault");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
  box.classList.toggle("ro-open", text !== "");
}
function setUnknown(box, yes) {
  unknownOf(box).checked = yes;
  list(box, "input, textarea").forEach(function (input) {
    if (input.type !== "hidden" && !input.closest(".ro-unknown")) input.disabled = yes;
  });
  box.classList.toggle("ro-is-unknown", yes);
  var movedOn = scheme.settled && scheme.settled(box);
  changed(box, yes ? runoffSays.text("Not known") : "");
  return movedOn === true;
}

// The browser asks each field; we say it in the page, all at once, and go to the first.
var first = null;
root.addEventListener("invalid", function (event) {
  var box = event.target.closest(".ro-comparison");
  if (!box) return;
  event.preventDefault();
  fault(box, scheme.missing(box, event.target));
  if (first) return;
  first = box;
  setTimeout(function () {
    var open = boxes.filter(function (one) { return one.classList.contains("ro-open"); });
    if (status) status.textContent =
      runoffSays.many(open.length, "Not sent: {n} answer is missing.", "Not sent: {n} answers are missing.");
    go(boxes.indexOf(first));
    show(first.querySelector(".ro-fault"));
    first = null;
  }, 0);
}, true);

document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || !boxes.length) return;
  var target = event.target, typed = target.closest && target.closest("textarea, select, input[type=text]");
  if (typed || (target.closest && target.closest("summary, a, [type=submit]"))) return;
  var inside = target.closest && target.closest(".ro-comparison");
  if (inside) mark(boxes.indexOf(inside));
  if (event.key.toLowerCase() === "u" && !event.repeat && unknownOf(boxes[current])) {
    event.preventDefault();
    var box = boxes[current], yes = !isUnknown(box);
    if (!setUnknown(box, yes) && yes) goOn();
  } else if (scheme.key && scheme.key(event, boxes[current])) event.preventDefault();
});
boxes.forEach(function (box) {
  // Sorting changes the order of the boxes, so their places are looked up.
  box.addEventListener("focusin", function () { if (boxes[current] !== box) mark(boxes.indexOf(box)); });
  box.addEventListener("pointerdown", function () { mark(boxes.indexOf(box)); });
  var unknown = unknownOf(box);
  if (unknown) unknown.addEventListener("change", function () { setUnknown(box, unknown.checked); });
});
function begin() {
  boxes.forEach(function (box) { if (isUnknown(box)) setUnknown(box, true); });
  if (boxes.length) mark(0);
  tell("");
  // A platform shows the page in a frame, where keys work only once the frame has the focus.
  if (window.parent !== window && !root.closest("[data-preview]")) window.focus();
}
