// SPDX-License-Identifier: Apache-2.0
// Where a page of the audience gets what it shows: from the scoreboard's server, or, where the page names a
// pointer, from files that were published.

import { published } from "./published.js";
import { served } from "./served.js";

const { pointer, team } = document.documentElement.dataset;

export const source = pointer ? published(pointer, team ?? "") : served();
