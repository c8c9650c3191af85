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

export function showPicture(picture, address) {
  if (picture.dataset.address === address) return;
  picture.dataset.address = address;
  load(picture);
}

function load(picture) {
  const { address } = picture.dataset;
  picture.src = narrow.matches ? `${address}${address.includes("?") ? "&" : "?"}narrow` : address;
}
