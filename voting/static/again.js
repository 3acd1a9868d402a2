(function () {
  "use strict";
  // What had to wait is asked again by itself; voters who were refused in one moment don't all come back in another.
  setTimeout(function () { document.getElementById("again").requestSubmit(); }, 2000 + 2000 * Math.random());
})();
