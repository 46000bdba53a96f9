import assert from "node:assert/strict";
import test from "node:test";
import { label } from "../src/labels.mjs";

test("a label names the rate", () => {
  assert.equal(label("books"), "Books (7 % VAT)");
});
