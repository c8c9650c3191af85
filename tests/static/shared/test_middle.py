# SPDX-License-Identifier: Apache-2.0
"""Names that their places cannot hold: they lose their middle, and the whole is at hand."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

LONG = "The Long Beach Convention Centre Low Power Vision Collective"
JAPANESE = "東京低消費電力画像認識研究室チームさくら" * 3
ARABIC = "فريق الرؤية منخفضة الطاقة في جامعة القاهرة" * 2
# A place of 200 pixels with the sheet of all pages; `shown` is what can be read there.
PLACE = """
document.head.innerHTML = '<link rel="stylesheet" href="/static/shared/base.css">';
await new Promise((done) => { document.querySelector("link").onload = done; });
const drawn = () => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
});
const shown = (name) => {
  const copy = name.cloneNode(true);
  for (const one of copy.querySelectorAll(".unseen")) one.replaceWith("…");
  return copy.textContent;
};
const place = async (name, width = 200) => {
  document.body.innerHTML = `<div style="width:${width}px"></div>`;
  document.body.firstChild.append(name);
  await drawn();
  return name;
};
const overflows = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
  scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
"""


@pytest.mark.parametrize("name", [LONG, JAPANESE, ARABIC])
@pytest.mark.parametrize("kind", ["name", "name line"])
def test_a_long_name_loses_its_middle(fresh: Scripts, name: str, kind: str) -> None:
    """Its beginning and its end are read; those who hear the page hear the whole."""
    body = f"""{PLACE}
    const made = m.nameOf(a[0], "div");
    made.className = a[1];
    await place(made);
    return [shown(made), made.textContent, made.title, overflows(made)];
    """
    shown, text, title, overflows = fresh.run("shared/parts.js", body, name, kind)
    head, _, tail = shown.partition("…")
    assert (text, title, overflows) == (name, name, False)
    assert head and tail and name.startswith(head) and name.endswith(tail)
    assert len(head) + len(tail) < len(name)


def test_a_name_that_fits_is_whole(fresh: Scripts) -> None:
    """And the keys do not stop at it."""
    body = f"""{PLACE}
    const made = await place(m.nameOf("ants", "div"));
    return [made.innerHTML, made.tabIndex];
    """
    assert ["ants", -1] == fresh.run("shared/parts.js", body)


def test_a_name_follows_its_place_and_its_text(fresh: Scripts) -> None:
    """It is whole again where there is room, is cut where there is none, and takes another text."""
    body = f"""{PLACE}
    const made = await place(m.lineAbout("", a[0], ""));
    const found = [shown(made).includes("…")];
    made.parentElement.style.width = "900px";
    await drawn();
    found.push(shown(made).includes("…"), made.tabIndex);
    made.parentElement.style.width = "150px";
    await drawn();
    m.sayAbout(made, ["", "ants", ""]);
    await drawn();
    return [...found, made.textContent, made.tabIndex];
    """
    assert [True, False, -1, "ants", -1] == fresh.run("shared/parts.js", body, LONG)


@pytest.mark.parametrize("name", [LONG, JAPANESE, ARABIC])
def test_the_verb_and_the_score_are_never_cut(fresh: Scripts, name: str) -> None:
    """What stands before and behind the name in a sentence is read whole."""
    body = f"""{PLACE}
    const made = await place(m.lineAbout("Session 3 of ", a[0], ": 2nd with score 1.25"), 420);
    return [shown(made), overflows(made)];
    """
    shown, overflows = fresh.run("shared/parts.js", body, name)
    assert not overflows
    assert shown.startswith("Session 3 of ") and shown.endswith(": 2nd with score 1.25")
    assert "…" in shown


def test_the_focus_shows_the_whole(fresh: Scripts) -> None:
    """The keys stop at a name that is cut, or at its link; Escape takes the whole away."""
    body = f"""{PLACE}
    const found = [];
    for (const tag of ["div", "a"]) {{
      const made = m.nameOf(a[0], tag);
      if (tag === "a") made.href = "#";
      await place(made);
      made.focus();
      found.push(document.activeElement === made, document.querySelector(".whole")?.textContent);
      document.dispatchEvent(new KeyboardEvent("keydown", {{ key: "Escape" }}));
      found.push(document.querySelector(".whole"));
    }}
    return found;
    """
    assert [True, LONG, None] * 2 == fresh.run("shared/parts.js", body, LONG)


def test_many_names_are_cut_at_once(fresh: Scripts) -> None:
    """Three hundred rows cost a few layouts, and no layout for each letter of each name."""
    body = f"""{PLACE}
    document.body.innerHTML = "<div style='width:200px'></div>";
    const made = Array.from({{ length: 300 }}, () => m.nameOf(a[0], "div"));
    let asked = 0;
    const own = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth");
    const counting = {{ get() {{ asked += 1; return own.get.call(this); }} }};
    Object.defineProperty(Element.prototype, "scrollWidth", counting);
    document.body.firstChild.append(...made);
    await drawn();
    Object.defineProperty(Element.prototype, "scrollWidth", own);
    return [made.every((one) => shown(one).includes("…")), asked / made.length];
    """
    cut, asked = fresh.run("shared/parts.js", body, LONG)
    assert (cut, asked <= 10) == (True, True)
