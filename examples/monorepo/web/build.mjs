// The build: every kind of the contract must have a label; writes the labels to dist/.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { labels } from "./src/labels.mjs";

const contract = JSON.parse(readFileSync(new URL("../contract/vat.json", import.meta.url)));
for (const kind of Object.keys(contract)) {
  if (!(kind in labels)) throw new Error(`web/src/labels.mjs has no label for ${kind}`);
}
mkdirSync(new URL("dist/", import.meta.url), { recursive: true });
writeFileSync(new URL("dist/labels.json", import.meta.url), JSON.stringify(labels));
