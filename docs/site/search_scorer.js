// SPDX-License-Identifier: Apache-2.0
// How the site's search ranks what the generator's script has found. The page of the search has
// PAGE_WEIGHTS: by word and place in the index, how much each page is about it (search_words.py).
// The generator's own scorer is a `var`, too: this one takes its place.
var Scorer = {
  title: 100,
  partialTitle: 2,
  term: 2,
  partialTerm: 1,

  score(result) {
    const [page, title, anchor, , found, , kind] = result;
    const about = aboutQuery(page);
    if (kind === "index") {
      result[1] = nameOf(page, anchor) ?? title;
      // A word that somebody chose a place for leads there. A part of it may mean anything.
      return found >= 100 ? 1000 : about || found / 100;
    }
    if (kind === "title") {
      // A page's own title leads to the page, so it is found once.
      if (Search._index.titles.includes(title)) result[2] = "";
      // A heading of several words, typed as it is, means that section. One word may mean many.
      if (found >= 100 && typed().includes(" ")) return 900 + about;
      // The section that is asked for stands before its page.
      return about + found / 100;
    }
    return about || found / 100;
  },
};

/** Return what somebody typed. */
function typed() {
  return (new URLSearchParams(window.location.search).get("q") ?? "").toLowerCase().trim();
}

/** Sum how much a page is about the words that somebody typed. */
function aboutQuery(page) {
  const stemmer = new Stemmer();
  const place = Search._index.docnames.indexOf(page);
  return splitQuery(typed())
    .map((word) => PAGE_WEIGHTS[stemmer.stemWord(word)]?.[place] ?? 0)
    .reduce((sum, weight) => sum + weight, 0);
}

/** Return the name of a section as the search shows it, or undefined for a whole page. */
function nameOf(page, anchor) {
  const { alltitles, docnames, titles } = Search._index;
  const file = docnames.indexOf(page);
  const section = Object.entries(alltitles).find(([, places]) =>
    places.some(([at, id]) => at === file && `#${id}` === anchor),
  );
  return section && `${titles[file]} > ${section[0]}`;
}
