// SPDX-License-Identifier: Apache-2.0
// Shows the games that were played.

const answer = await fetch("chess/games");
for (const players of await answer.json()) {
  const line = document.createElement("li");
  line.textContent = players.join(" against ");
  document.getElementById("games").append(line);
}
