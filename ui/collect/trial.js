// Shows the tasks of a trial one after the other in a frame and measures how long each comparison takes.
// The page in the frame is the one that voters get; it is only listened to. Nothing leaves it but the figures.
export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const box = parentElement.querySelector(".trial");
  if (box.dataset.trial === data.trial) return; // a run of the app must not begin the trial anew
  box.dataset.trial = data.trial;
  const choices = [];
  const seconds = [];

  function show(at) {
    const place = document.createElement("p");
    place.textContent = data.places[at];
    const frame = document.createElement("iframe");
    frame.title = data.titles[at];
    frame.addEventListener("load", () => listen(frame, at), { once: true });
    frame.srcdoc = data.pages[at];
    box.replaceChildren(place, frame);
  }

  function listen(frame, at) {
    const page = frame.contentDocument;
    const comparisons = [...page.querySelectorAll(".ro-comparison")];
    const taken = new Map();
    let last = performance.now();
    page.addEventListener("change", (event) => {
      const comparison = event.target.closest(".ro-comparison");
      const now = performance.now();
      if (!comparison || taken.has(comparison)) return; // a changed answer is part of the next comparison's time
      taken.set(comparison, (now - last) / 1000);
      last = now;
    });
    page.addEventListener("submit", (event) => {
      event.preventDefault();
      event.stopPropagation();
      for (const comparison of comparisons) {
        choices.push(comparison.querySelector("input:checked").value);
        seconds.push(taken.get(comparison));
      }
      if (at + 1 < data.pages.length) show(at + 1);
      else {
        box.replaceChildren();
        setStateValue("result", { trial: data.trial, choices, seconds });
      }
    }, true);
    frame.contentWindow.focus();
  }

  const begin = document.createElement("button");
  begin.type = "button";
  begin.textContent = data.begin;
  begin.addEventListener("click", () => show(0));
  box.replaceChildren(begin);
}
