// Best and worst: two columns of radio buttons; the same item can't be both.
function chosen(box, end) { return box.querySelector(".ro-end-" + end + " input:checked"); }
function namedRow(input) {
  return list(input.closest(".ro-row"), ".ro-token").map(function (token) { return token.textContent; }).join(" " + runoffSays.text("and") + " ");
}
function choose(box, input) {
  if (isUnknown(box)) setUnknown(box, false);
  input.checked = true;
  took(box, input);
}
function took(box, input) {
  var end = input.closest(".ro-end-most") ? "least" : "most", other = chosen(box, end), same = "";
  if (other && other.value === input.value) {
    other.checked = false;
    same = end === "least"
      ? runoffSays.text("The same one can’t be both. Choose another one for the least.")
      : runoffSays.text("The same one can’t be both. Choose another one for the most.");
  }
  list(box, ".ro-row").forEach(function (row) {
    row.classList.toggle("ro-is-most", !!row.querySelector(".ro-end-most input:checked"));
    row.classList.toggle("ro-is-least", !!row.querySelector(".ro-end-least input:checked"));
  });
  var name = { item: namedRow(input) };
  changed(box, end === "least" ? runoffSays.text("Most: {item}", name) : runoffSays.text("Least: {item}", name));
  if (same) fault(box, same);
}
scheme.done = function (box) { return !!chosen(box, "most") && !!chosen(box, "least"); };
scheme.missing = function (box) {
  var most = chosen(box, "most"), least = chosen(box, "least");
  if (!most && !least) return runoffSays.text("Choose the most and the least here.");
  return most ? runoffSays.text("Choose the least here.") : runoffSays.text("Choose the most here.");
};
scheme.key = function (event, box) {
  if (event.shiftKey) return false;
  var key = event.key, at = "123456789".indexOf(key);
  if (key === "ArrowUp") { if (current > 0) go(current - 1); return true; }
  if (key === "ArrowDown" || key === "Enter") { if (!event.repeat) goOn(); return true; }
  if (key === "ArrowLeft" || key === "ArrowRight") return event.target.type === "radio";
  if (event.repeat) return false;
  if (key === "0") { setUnknown(box, true); goOn(); return true; }
  var rows = list(box, ".ro-row");
  if (at < 0 || key.length !== 1 || at >= rows.length) return false;
  // A tuple that has both answers begins anew.
  if (scheme.done(box)) list(box, "input[type=radio]").forEach(function (input) { input.checked = false; });
  var end = chosen(box, "most") ? "least" : "most", input = rows[at].querySelector(".ro-end-" + end + " input");
  if (end === "least" && chosen(box, "most").value === input.value) {
    fault(box, runoffSays.text("The same one can’t be both. Choose another one for the least."));
    return true;
  }
  choose(box, input);
  if (scheme.done(box)) goOn();
  return true;
};
boxes.forEach(function (box) {
  list(box, ".ro-row").forEach(function (row, at) {
    row.querySelector(".ro-texts").insertBefore(made("kbd", "", at + 1), row.querySelector(".ro-texts").firstChild).setAttribute("aria-hidden", "true");
    list(row, "input").forEach(function (input) {
      input.setAttribute("aria-label", input.parentNode.textContent.trim() + ": " + namedRow(input));
    });
  });
  box.addEventListener("change", function (event) { if (event.target.type === "radio") took(box, event.target); });
  list(box, "input:checked").forEach(function (input) { if (input.type === "radio") took(box, input); });
});
begin();
