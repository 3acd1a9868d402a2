// Sort, then rate: the same boxes stand in piles first, and are rated in their piles afterwards.
var place = document.getElementById("ro-boxes");
var cards = list(place, ".ro-comparison"), byKey = {}, zones = [], lastAt = null;
var whole = anchors.every(function (anchor) { return /^[0-9]$/.test(String(anchor.value)); });
function zone(title, key, value) {
  var part = made("section", "ro-zone"), head = made("h2", "ro-zone-head"), inside = made("div", "ro-zone-cards");
  if (key) head.appendChild(made("kbd", "", key));
  head.appendChild(document.createTextNode((key ? " " : "") + title));
  part.appendChild(head);
  part.appendChild(inside);
  var entry = {
    node: part, cards: inside, title: title, key: key, value: value,
    empty: made("p", "ro-nothing", runoffSays.text("No card"))
  };
  inside.appendChild(entry.empty);
  zones.push(entry);
  return entry;
}
var unsorted = zone(runoffSays.text("Cards to sort"), "", null), piles = made("div", "ro-piles");
anchors.slice().reverse().forEach(function (anchor) {
  var at = anchors.indexOf(anchor), key = whole ? String(anchor.value) : String(at + 1);
  byKey[key] = zone(whole ? anchor.text : runoffSays.number(anchor.value) + " " + anchor.text, key, anchor.value);
  piles.appendChild(byKey[key].node);
});
var aside = zone(runoffSays.text("Put aside: I don’t know a word here"), "U", null);
piles.appendChild(aside.node);
place.appendChild(unsorted.node);
place.appendChild(piles);
var toRate = made("button", "ro-step", runoffSays.text("Rate the cards"));
var back = made("button", "ro-step", runoffSays.text("Back to sorting"));
var stepFault = made("p", "ro-fault");
stepFault.setAttribute("role", "alert");
unsorted.node.appendChild(toRate);
unsorted.node.appendChild(stepFault);
place.insertBefore(back, unsorted.node);

function zoneOf(card) { return zones.filter(function (entry) { return entry.cards.contains(card); })[0]; }
function isRating() { return root.classList.contains("ro-rating-now"); }
function range(entry) {
  var at = anchors.findIndex(function (anchor) { return anchor.value === entry.value; });
  return [anchors[Math.max(0, at - 1)].value, anchors[Math.min(anchors.length - 1, at + 1)].value];
}
function put(card, entry) {
  var before = zoneOf(card);
  if (before === entry) return;
  entry.cards.appendChild(card);
  [before, entry].forEach(function (one) {
    if (one) one.empty.hidden = one.cards.querySelector(".ro-comparison") !== null;
  });
  if (isUnknown(card) !== (entry === aside)) setUnknown(card, entry === aside);
  if (entry.value !== null) {
    var slide = card.querySelector(".ro-slide"), reach = range(entry);
    slide.min = reach[0]; slide.max = reach[1];
    setRating(card, entry.value);
  } else {
    numberOf(card).value = "";
    card.querySelector(".ro-slide").min = numberOf(card).min;
    card.querySelector(".ro-slide").max = numberOf(card).max;
    setRating(card, 0, true);
  }
  list(card, ".ro-pile").forEach(function (button) {
    button.setAttribute("aria-pressed", String(button.dataset.key === entry.key));
  });
  var left = unsorted.cards.querySelectorAll(".ro-comparison").length;
  unsorted.empty.textContent = runoffSays.text("All cards are sorted.");
  toRate.disabled = left > 0;
  if (!left) stepFault.textContent = "";
  fault(card, "");
  boxes = list(root, ".ro-comparison");
  check();
  if (entry !== unsorted) say(
    entry === aside ? runoffSays.text("Put aside") : runoffSays.text("In pile {pile}", { pile: entry.key })
  );
}
function say(prefix) {
  if (isRating()) return tell(prefix);
  var left = unsorted.cards.querySelectorAll(".ro-comparison").length;
  var text = runoffSays.text("{at} of {of} sorted.", { at: cards.length - left, of: cards.length });
  status.textContent = prefix + ". " + text + (left ? "" : " " + runoffSays.text("Now rate the cards."));
}
// Until the cards are rated nothing may be sent, and a card that isn't sorted says so.
function check() {
  cards.forEach(function (card) {
    numberOf(card).setCustomValidity(!isRating() && !isUnknown(card) ? runoffSays.text("Sort all cards, then rate them.") : "");
  });
}
function sortInto(card, entry) {
  var next = card.nextElementSibling || card.previousElementSibling, wasUnsorted = zoneOf(card) === unsorted;
  put(card, entry);
  if (!wasUnsorted) return focusOn(card);
  if (!next || !next.classList.contains("ro-comparison")) next = unsorted.cards.querySelector(".ro-comparison");
  mark(boxes.indexOf(next || card));
  focusOn(next || toRate);
}
function step(rates) {
  root.classList.toggle("ro-rating-now", rates);
  check();
  boxes = list(root, ".ro-comparison");
  var at = boxes.findIndex(function (box) { return place.contains(box) && !isUnknown(box); });
  if (at >= 0) go(at);
  say(rates ? runoffSays.text("Now rate the cards") : runoffSays.text("Sort the cards"));
}
var doneByNumber = scheme.done, keyOfRating = scheme.key, missingNumber = scheme.missing;
scheme.done = function (box) { return doneByNumber(box) && (isRating() || !place.contains(box)); };
scheme.missing = function (box, input) {
  if (isRating() || !place.contains(box)) return missingNumber(box, input);
  if (zoneOf(box) === unsorted) return runoffSays.text("Put this card into a pile.");
  stepFault.textContent = toRate.disabled ? "" : runoffSays.text("The cards are sorted. Now rate them.");
  return "";
};
scheme.key = function (event, box) {
  if (isRating() || !place.contains(box)) return keyOfRating(event, box);
  if (event.target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return false;
  var entry = Object.prototype.hasOwnProperty.call(byKey, event.key) ? byKey[event.key] : null;
  if (entry && !event.shiftKey) { if (!event.repeat) sortInto(box, entry); return true; }
  if (event.key === "ArrowUp") { if (current > 0) go(current - 1); return true; }
  if (event.key === "ArrowDown" || event.key === "Enter") {
    if (current + 1 < boxes.length) go(current + 1); else focusOn(toRate.disabled ? boxes[current] : toRate);
    return true;
  }
  return false;
};
scheme.settled = function (card) {
  if (!place.contains(card) || !zoneOf(card) || isUnknown(card) === (zoneOf(card) === aside)) return false;
  if (isRating() || !isUnknown(card)) put(card, isUnknown(card) ? aside : unsorted);
  else sortInto(card, aside);
  return !isRating();
};
function under(x, y) {
  var node = x < 0 ? null : document.elementFromPoint(x, y), part = node && node.closest(".ro-zone");
  return zones.filter(function (entry) { return entry.node === part; })[0] || null;
}
cards.forEach(function (card) {
  var row = made("div", "ro-pile-row"), grip = made("span", "ro-grip", "⠿");
  grip.setAttribute("aria-hidden", "true");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", runoffSays.text("Piles"));
  row.appendChild(grip);
  anchors.forEach(function (anchor, at) {
    var key = whole ? String(anchor.value) : String(at + 1), button = made("button", "ro-pile", key);
    button.dataset.key = key;
    button.title = anchor.text;
    button.setAttribute("aria-label", runoffSays.text("Pile {pile}: {meaning}", { pile: key, meaning: anchor.text }));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", function () { sortInto(card, byKey[key]); });
    row.appendChild(button);
  });
  card.insertBefore(row, card.querySelector(".ro-rate"));
  function over(x, y) {
    var entry = under(x, y);
    zones.forEach(function (one) { one.node.classList.toggle("ro-over", one === entry); });
  }
  function drop(x, y) { var entry = under(x, y); if (entry) put(card, entry); }
  draggable(card, over, drop);
  card.tabIndex = 0;
  put(card, unsorted);
});
toRate.addEventListener("click", function () { step(true); });
back.addEventListener("click", function () { step(false); });
begin();
