// SPDX-License-Identifier: Apache-2.0
// A picture that the server draws when it is first asked, which may take a second: until then its
// figure has the picture's shape. A phone gets a picture of its own, with fewer and larger letters.

const narrow = matchMedia("(max-width: 40rem)");

// Let a picture follow the window and the server: `showPicture` says what it shows.
export function followPicture(picture) {
  const figure = picture.closest("figure");
  picture.addEventListener("error", () => { figure.hidden = true; });
  picture.addEventListener("load", () => {
    if (!picture.dataset.address) return; // It shows nothing yet.
    figure.hidden = false;
    figure.classList.remove("loading");
  });
  narrow.addEventListener("change", () => { if (picture.dataset.address) load(picture); });
}

// `addresses` are those of the wide picture and of the narrow one; without them there is no picture.
export function showPicture(picture, addresses) {
  if (picture.dataset.address === addresses?.wide) return;
  if (!addresses) {
    delete picture.dataset.address;
    picture.closest("figure").hidden = true;
    return;
  }
  picture.dataset.address = addresses.wide;
  picture.dataset.narrow = addresses.narrow;
  load(picture);
}

function load(picture) {
  picture.src = narrow.matches ? picture.dataset.narrow : picture.dataset.address;
}
