// An order: rows move by buttons, by dragging and by keys; the field holds the places as they were shown.
function field(box) { return box.querySelector("input[type=hidden][name^=order]"); }
function sure(box) { return box.querySelector(".ro-sure input"); }
function rows(box) { return list(box, ".ro-row"); }
function nameOf(row) { return row.querySelector(".ro-token").textContent; }
function write(box) {
  var all = rows(box);
  all.forEach(function (row, at) {
    row.querySelector(".ro-rank").textContent = at + 1;
    row.setAttribute("aria-label", at + 1 + ": " + nameOf(row));
    row.querySelector(".ro-up").disabled = at === 0;
    row.querySelector(".ro-down").disabled = at === all.length - 1;
  });
  field(box).value = sure(box).checked && !isUnknown(box)
    ? all.map(function (row) { return row.dataset.place; }).join(" ") : "";
}
function moveTo(box, row, at) {
  var all = rows(box), from = all.indexOf(row), to = Math.max(0, Math.min(all.length - 1, at));
  if (from === to) return;
  if (isUnknown(box)) setUnknown(box, false);
  row.parentNode.insertBefore(row, to > from ? all[to].nextSibling : all[to]);
  write(box);
  changed(box, runoffSays.text("{word} is number {at}", { word: nameOf(row), at: to + 1 }));
}
function rowOf(box, event) { return event.target.closest && event.target.closest(".ro-row") || null; }
scheme.place = function (box) { return box.querySelector(".ro-row"); };
scheme.done = function (box) { return sure(box).checked; };
scheme.missing = function () { return runoffSays.text("Put the words into your order, then tick “This is my order”."); };
scheme.settled = write;
scheme.key = function (event, box) {
  var row = rowOf(box, event), all = rows(box), at = all.indexOf(row), key = event.key;
  if (event.target.type === "checkbox" && key !== "ArrowUp" && key !== "ArrowDown" && key !== "Enter") return false;
  if (event.target.tagName === "BUTTON" && (key === "Enter" || key === " ")) return false;
  if (key === "Enter") {
    if (event.repeat) return true;
    if (!isUnknown(box)) sure(box).checked = true;
    write(box);
    changed(box, runoffSays.text("Order taken"));
    goOn();
    return true;
  }
  if (key === "ArrowUp" || key === "ArrowDown") {
    var by = key === "ArrowUp" ? -1 : 1;
    if (!row) focusOn(all[by > 0 ? 0 : all.length - 1]);
    else if (event.shiftKey) { moveTo(box, row, at + by); focusOn(row); }
    else if (all[at + by]) focusOn(all[at + by]);
    else if (boxes[current + by]) {
      mark(current + by);
      var near = rows(boxes[current]);
      focusOn(near[by > 0 ? 0 : near.length - 1]);
    }
    return true;
  }
  if (/^[1-9]$/.test(key) && row && !event.repeat && Number(key) <= all.length) {
    moveTo(box, row, Number(key) - 1);
    focusOn(row);
    return true;
  }
  return false;
};
boxes.forEach(function (box) {
  rows(box).forEach(function (row) {
    var grip = made("span", "ro-grip", "⠿"), rank = made("span", "ro-rank", "");
    [grip, rank].forEach(function (node) {
      node.setAttribute("aria-hidden", "true");
      row.insertBefore(node, row.querySelector(".ro-token"));
    });
    var name = { word: nameOf(row) };
    [
      ["ro-up", "↑", runoffSays.text("Move up: {word}", name)], ["ro-down", "↓", runoffSays.text("Move down: {word}", name)]
    ].forEach(function (entry) {
      row.appendChild(made("button", entry[0], entry[1])).setAttribute("aria-label", entry[2]);
    });
    row.tabIndex = 0;
    [[".ro-up", -1], [".ro-down", 1]].forEach(function (entry) {
      var button = row.querySelector(entry[0]);
      button.addEventListener("click", function () {
        moveTo(box, row, rows(box).indexOf(row) + entry[1]);
        (button.disabled ? row : button).focus();
        show(row);
      });
    });
    function at(y) {
      return rows(box).filter(function (other) {
        var frame = other.getBoundingClientRect();
        return other !== row && frame.top + frame.height / 2 < y;
      }).length;
    }
    function over(x, y) {
      var to = x < 0 ? -1 : at(y), others = rows(box).filter(function (other) { return other !== row; });
      others.forEach(function (other, n) {
        other.classList.toggle("ro-before", n === to);
        other.classList.toggle("ro-after", to === others.length && n === to - 1);
      });
    }
    function drop(x, y) { moveTo(box, row, at(y)); }
    draggable(row, over, drop);
  });
  sure(box).addEventListener("change", function () { write(box); changed(box, sure(box).checked ? runoffSays.text("Order taken") : ""); });
  write(box);
});
begin();
