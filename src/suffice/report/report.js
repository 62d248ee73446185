// Shows a claim's evidence beside the claim on hover, keyboard focus and tap. Without this script the verdict is a link to
// the claims table. The evidence is copied from the table's elements and not built from text, so nothing can be injected.
(() => {
  const box = document.createElement("div");
  box.className = "popover";
  box.hidden = true;
  document.body.append(box);
  let shown = null;
  let pinned = false;
  let leaving = 0;

  const parts = (claim) => document.querySelectorAll(`mark[data-claim="${claim}"]`);

  function show(target) {
    const claim = target.dataset.claim;
    const evidence = document.getElementById(`evidence-${claim}`);
    clearTimeout(leaving);
    if (!evidence || shown === claim) return;
    hide();
    const head = document.createElement("p");
    head.textContent = document.querySelector(`a.verdict[data-claim="${claim}"]`).getAttribute("aria-label");
    box.replaceChildren(head, ...[...evidence.childNodes].map((node) => node.cloneNode(true)));
    box.hidden = false;
    parts(claim).forEach((part) => part.classList.add("lit"));
    shown = claim;

    const rects = target.getClientRects();
    const line = rects[rects.length - 1];
    const margin = 16;
    const left = Math.min(line.left, document.documentElement.clientWidth - box.offsetWidth - margin);
    const below = line.bottom + 8 + box.offsetHeight <= window.innerHeight || line.top < box.offsetHeight + 8;
    box.style.left = `${Math.max(margin, left) + window.scrollX}px`;
    box.style.top = `${(below ? line.bottom + 8 : line.top - box.offsetHeight - 8) + window.scrollY}px`;
  }

  function hide() {
    if (shown !== null) parts(shown).forEach((part) => part.classList.remove("lit"));
    box.hidden = true;
    shown = null;
    pinned = false;
  }

  const claimAt = (event) => event.target.closest("mark[data-claim], a.verdict[data-claim]");
  const leave = () => {
    clearTimeout(leaving);
    if (!pinned) leaving = setTimeout(hide, 180);
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const claim = claimAt(event);
    if (claim && !pinned) show(claim);
    else if (box.contains(event.target)) clearTimeout(leaving);
    else if (shown !== null) leave();
  });
  document.addEventListener("focusin", (event) => {
    const claim = claimAt(event);
    if (claim) show(claim);
    else if (!box.contains(event.target)) hide();
  });
  document.addEventListener("click", (event) => {
    const claim = claimAt(event);
    // A click by the Enter key (detail is 0) follows the link to the claims table.
    if (claim && event.detail > 0 && !event.target.closest(".cite, a[rel]")) {
      event.preventDefault();
      show(claim);
      pinned = true;
    } else if (!box.contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
})();

// Follows the links of the page into folded parts: a citation opens the passages of its source at what it stands for.
(() => {
  let said = "";
  const letters = (element) => element.textContent.replace(/[^\p{L}\p{N}]/gu, "");

  // What a citation stands for: the evidence of the claim before it, else the quotation that it ends.
  function readCited(link) {
    const block = link.closest("li, p, td, blockquote, figure");
    const verdicts = [...(block?.querySelectorAll("a.verdict") ?? [])];
    const verdict = verdicts.find((each) => link.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
    const evidence = verdict && document.getElementById(`evidence-${verdict.dataset.claim}`);
    return block ? letters(evidence ?? block) : "";
  }

  // Return the marks that follow each other and make up the most of what is cited.
  function findOwn(marks) {
    let [own, most] = [[], 0];
    for (let first = 0; first < marks.length; first++) {
      let text = "";
      for (let last = first; last < marks.length; last++) {
        text += letters(marks[last]);
        if (!text || !said.includes(text)) break;
        if (text.length > most) [own, most] = [marks.slice(first, last + 1), text.length];
      }
    }
    return own;
  }

  // Set back the marks of other citations, and return the first one of this citation.
  function light(container) {
    const marks = [...container.querySelectorAll("mark.hit")];
    const own = findOwn(marks);
    for (const mark of marks) mark.classList.toggle("other", own.length > 0 && !own.includes(mark));
    return own[0];
  }

  function reveal(target) {
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target.matches("aside li")) {
      document.querySelectorAll("aside li.open").forEach((item) => item.classList.remove("open"));
      target.classList.add("open");
      const passage = target.querySelector("details.passage");
      if (passage) passage.open = true;
    }
    target.scrollIntoView({ block: "nearest" });
    if (target.matches("aside li")) light(target)?.scrollIntoView({ block: "nearest" });
    target.focus({ preventScroll: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    // The hash of the web page names its view, so only links to elements are followed here.
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (!target || event.defaultPrevented) return;
    event.preventDefault();
    said = link.matches(".cite") ? readCited(link) : "";
    reveal(target);
  });
  document.addEventListener("shown", (event) => light(event.target));  // The web page shows the document itself.
  const first = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (first) reveal(first);
})();
