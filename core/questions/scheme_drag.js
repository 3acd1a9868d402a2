// Dragging: `card` follows the mouse from anywhere on it, a pen or finger from its handle; `over(x, y)` marks what is
// under it and `drop(x, y)` puts the card there.
function draggable(card, over, drop) {
  card.addEventListener("pointerdown", function (event) {
    var button = event.target.closest("button, input, label, textarea");
    if (event.button || (button && card.contains(button))) return;
    if (!event.target.closest(".ro-grip") && event.pointerType !== "mouse") return; // a finger there scrolls the page
    var startX = event.clientX, startY = event.clientY + window.scrollY, moved = false, id = event.pointerId;
    function move(next) {
      if (next.pointerId !== id) return;
      var x = next.clientX - startX, y = next.clientY + window.scrollY - startY;
      if (!moved && Math.abs(x) + Math.abs(y) < 6) return;
      if (!moved) {
        moved = true;
        card.classList.add("ro-dragged");
      }
      next.preventDefault();
      card.style.transform = "translate(" + x + "px," + y + "px)";
      var edge = 48;
      if (next.clientY < edge) window.scrollBy(0, -12);
      else if (next.clientY > window.innerHeight - edge) window.scrollBy(0, 12);
      over(next.clientX, next.clientY);
    }
    function end(next) {
      if (next.pointerId !== id) return;
      card.removeEventListener("pointermove", move);
      card.removeEventListener("pointerup", end);
      card.removeEventListener("pointercancel", end);
      if (!moved) return;
      var isDrop = next.type === "pointerup";
      if (isDrop) drop(next.clientX, next.clientY);
      card.classList.remove("ro-dragged");
      card.style.transform = "";
      over(-1, -1);
    }
    card.setPointerCapture(id); // a quick hand has left the card before it is told of the first move
    card.addEventListener("pointermove", move);
    card.addEventListener("pointerup", end);
    card.addEventListener("pointercancel", end);
  });
}
