// Ratings: the number is the field; buttons at the anchors and a slider set it.
var anchors = list(root, ".ro-scale li").map(function (entry) {
  return { value: Number(entry.dataset.value), text: entry.querySelector("span").textContent };
});
function numberOf(box) { return box.querySelector("input[type=number]"); }
// Not `validity.valid`: that is false as well while cards are still being sorted.
function isRated(input) {
  var found = input.validity;
  return input.value !== "" && !(found.badInput || found.rangeUnderflow || found.rangeOverflow || found.stepMismatch);
}
function digits(step) { return (String(step).split(".")[1] || "").length; }
function meaning(value) {
  var below = anchors.filter(function (anchor) { return anchor.value <= value + 1e-9; });
  var exact = below.length && Math.abs(below[below.length - 1].value - value) < 1e-9;
  if (!below.length) return "";
  if (exact || below.length === anchors.length) return below[below.length - 1].text;
  return runoffSays.text("Between {low} and {high}.", {
    low: runoffSays.number(below[below.length - 1].value), high: runoffSays.number(anchors[below.length].value)
  });
}
function setRating(box, value, isTyped) {
  var input = numberOf(box);
  if (!isTyped) {
    if (isUnknown(box)) setUnknown(box, false);
    var clipped = Math.min(Number(input.max), Math.max(Number(input.min), value));
    var steps = Math.round((clipped - Number(input.min)) / Number(input.step));
    input.value = (Number(input.min) + steps * Number(input.step)).toFixed(digits(input.step));
  }
  var given = isRated(input) ? Number(input.value) : null;
  var slide = box.querySelector(".ro-slide");
  if (given !== null) slide.value = given;
  slide.classList.toggle("ro-unset", given === null);
  slide.setAttribute("aria-valuetext", given === null
    ? runoffSays.text("not rated yet") : runoffSays.number(input.value) + ", " + meaning(given));
  list(box, ".ro-anchor").forEach(function (button) {
    button.setAttribute("aria-pressed", String(given !== null && Math.abs(Number(button.dataset.value) - given) < 1e-9));
  });
  box.querySelector(".ro-meaning").textContent = given === null ? "" : meaning(given);
  changed(box, given === null ? "" : runoffSays.text("Rated {value}", { value: runoffSays.number(input.value) }));
}
function nudge(box, by) {
  var input = numberOf(box), step = Number(input.step);
  var start = (Number(input.min) + Number(input.max)) / 2;
  setRating(box, input.value === "" ? start : Number(input.value) + by * step);
}
scheme.done = function (box) { return isRated(numberOf(box)); };
scheme.missing = function (box, input) {
  var range = {
    low: runoffSays.number(input.min), high: runoffSays.number(input.max), step: runoffSays.number(input.step)
  };
  return input.value === "" && !input.validity.badInput
    ? runoffSays.text("Give this one a number, {low} to {high} in steps of {step}.", range)
    : runoffSays.text("A number here is {low} to {high} in steps of {step}.", range);
};
scheme.key = function (event, box) {
  var input = numberOf(box), typing = event.target === input, key = event.key, fits = /^[0-9]$/.test(key);
  if (event.target.classList.contains("ro-slide") && /^Arrow|^Home|^End|^Page/.test(key)) return false;
  if (key === "Enter" && event.target.tagName === "BUTTON") return false;
  if (key === "Enter" || (key === "ArrowDown" && !typing)) { if (!event.repeat) goOn(); return true; }
  if (event.shiftKey || typing) return false;
  if (key === "ArrowUp") { if (current > 0) go(current - 1); return true; }
  if (key === "ArrowLeft" || key === "ArrowRight") { nudge(box, key === "ArrowLeft" ? -1 : 1); return true; }
  if (!fits || event.repeat || Number(key) < Number(input.min) || Number(key) > Number(input.max)) return false;
  setRating(box, Number(key));
  return true;
};
boxes.forEach(function (box) {
  var input = numberOf(box), rate = box.querySelector(".ro-rate"), slide = made("input", "ro-slide ro-unset");
  slide.type = "range";
  slide.min = input.min; slide.max = input.max; slide.step = input.step;
  slide.value = (Number(input.min) + Number(input.max)) / 2;
  slide.setAttribute("aria-label", runoffSays.text("Rating by slider"));
  var row = made("div", "ro-anchors");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", runoffSays.text("Values of the scale"));
  anchors.forEach(function (anchor) {
    var button = made("button", "ro-anchor", runoffSays.number(anchor.value));
    button.dataset.value = anchor.value;
    button.title = anchor.text;
    button.setAttribute("aria-label", runoffSays.number(anchor.value) + ": " + anchor.text);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", function () { setRating(box, anchor.value); });
    row.appendChild(button);
  });
  rate.appendChild(slide);
  rate.appendChild(row);
  rate.appendChild(made("p", "ro-meaning", ""));
  slide.addEventListener("input", function () { setRating(box, Number(slide.value)); });
  // A click on a slider that stands there already changes nothing, and is an answer all the same.
  slide.addEventListener("click", function () { if (input.value === "") setRating(box, Number(slide.value)); });
  input.addEventListener("input", function () { setRating(box, 0, true); });
  setRating(box, 0, true);
});
