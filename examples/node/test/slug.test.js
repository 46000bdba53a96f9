import assert from "node:assert/strict";
import test from "node:test";
import { slug } from "../src/slug.js";

test("words are joined by dashes", () => {
  assert.equal(slug("Hello, World!"), "hello-world");
});

test("a long title is cut between words", () => {
  assert.equal(slug("one two three", 8), "one-two");
});
