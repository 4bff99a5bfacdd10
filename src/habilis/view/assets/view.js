// What a page does beyond HTML: it follows what runs, and "/" leads to the search. Everything else works without it.
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    const field = document.querySelector("[data-key='/']");
    if (event.key === "/" && !typing && field && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    }
  });

  const here = document.getElementById("live");
  if (!here || !here.dataset.live || location.protocol === "file:") return;
  let busy = false;
  let again = false;

  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    const reply = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
    if (reply && reply.ok) put(new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live"));
    busy = false;
    if (again) { again = false; refresh(); }
  };

  const put = (fresh) => {
    if (!fresh) return;
    const atEnd = innerHeight + scrollY >= document.body.scrollHeight - 40;
    const open = [...here.querySelectorAll("details")].map((one) => one.open);
    const focused = [...here.querySelectorAll("a, pre, summary")].indexOf(document.activeElement);
    here.replaceChildren(...fresh.childNodes);
    [...here.querySelectorAll("details")].forEach((one, place) => { if (open[place]) one.open = true; });
    if (focused >= 0) [...here.querySelectorAll("a, pre, summary")][focused]?.focus({ preventScroll: true });
    if (atEnd) scrollTo({ top: document.body.scrollHeight, behavior: "instant" });
  };

  const source = new EventSource(here.dataset.live);
  source.addEventListener("changed", refresh);
  source.addEventListener("ended", () => { source.close(); refresh(); });
})();
