// Writing: the text must say something, and be another one than the text above it.
function written(box) { return box.querySelector("textarea"); }
function plain(text) { return text.replace(/\s+/g, " ").trim().toLowerCase(); }
function look(box) {
  var area = written(box), text = plain(area.value), same = text !== "" && text === plain(textOf(box));
  area.setCustomValidity(area.value !== "" && text === "" ? "empty" : same ? "same" : "");
}
scheme.place = function (box) { return isUnknown(box) ? box : written(box); };
scheme.done = function (box) { return plain(written(box).value) !== "" && written(box).validity.valid; };
scheme.missing = function (box) {
  return plain(written(box).value) === "" ? runoffSays.text("Write a text here, or say that you can’t.")
    : runoffSays.text("This is the text above. Write another one, in your own words.");
};
boxes.forEach(function (box) {
  look(box);
  written(box).addEventListener("input", function () { look(box); changed(box, ""); });
});
begin();
