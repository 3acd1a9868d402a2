(function () {
  "use strict";
  // Without this a page that the browser kept would show a question that is answered by now.
  window.addEventListener("pageshow", function (event) { if (event.persisted) location.reload(); });
  var form = document.getElementById("vote");
  if (!form) return;
  var shown = performance.now(), hidden = document.hidden ? shown : null, away = 0;
  // Time with the page in the background is no time spent on the question.
  document.addEventListener("visibilitychange", function () {
    var moment = performance.now();
    if (document.hidden) hidden = moment;
    else if (hidden !== null) { away += moment - hidden; hidden = null; }
  });
  form.addEventListener("submit", function () {
    form.elements.seconds.value = ((performance.now() - shown - away) / 1000).toFixed(3);
  });
})();
