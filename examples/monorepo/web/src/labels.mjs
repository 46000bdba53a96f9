import { createRequire } from "node:module";

const rates = createRequire(import.meta.url)("@example/contract");

export const labels = { books: "Books", tools: "Tools" };

/** What the shop shows beside a price. */
export function label(kind) {
  return `${labels[kind]} (${rates[kind]} % VAT)`;
}
