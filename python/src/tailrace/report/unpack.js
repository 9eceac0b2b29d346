// SPDX-License-Identifier: BSD-3-Clause
"use strict";
// What a page holds packed: compressed, as letters.
const unpack = (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
};
