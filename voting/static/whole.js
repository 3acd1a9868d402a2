(function () {
  "use strict";
  // Of a page that was cut off on its way no other script runs; it may lack what it asks, and the button.
  var EVERY_MS = 3000, before = -1;
  var timer = setInterval(function () {
    if (document.getElementById("end")) return clearInterval(timer);
    var now = document.documentElement.innerHTML.length;
    if (now === before) location.assign(location.pathname.split("/").slice(0, 3).join("/") + location.search);
    before = now;
  }, EVERY_MS);
})();
