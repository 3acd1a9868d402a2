// The page's texts in its language: the English text is the key, and what the page's data lack stays English.
var runoffSays = (function () {
  "use strict";
  var root = document.getElementById("runoff");
  var texts = JSON.parse((root && root.dataset.texts) || "{}");
  function own(key) { return Object.prototype.hasOwnProperty.call(texts, key) ? texts[key] : null; }
  function filled(text, values) {
    return text.replace(/\{(\w+)\}/g, function (all, name) {
      return values && Object.prototype.hasOwnProperty.call(values, name) ? String(values[name]) : all;
    });
  }
  return {
    text: function (message, values) { return filled(own(message) || message, values); },
    many: function (n, one, other, values) {
      var found = own(one), text = n === 1 ? one : other;
      if (found) text = found.forms[found.of[Math.min(n, found.of.length - 1)]];
      return filled(text, Object.assign({ n: n }, values));
    },
    // Digits stay as they are; only the decimal point is the language's.
    number: function (value) {
      return root && root.dataset.texts ? String(value).replace(".", (1.5).toLocaleString(root.lang).charAt(1)) : String(value);
    }
  };
})();
