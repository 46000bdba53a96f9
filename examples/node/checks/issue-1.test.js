import assert from "node:assert/strict";
import test from "node:test";
import { slug } from "../src/slug.js";

test("numbers are words too", () => {
  assert.equal(slug("Top 10 of 2024"), "top-10-of-2024");
});
