import { words } from "@example/words";

/** A title as a part of an address: at most `max` characters, cut between words. */
export function slug(title, max = 40) {
  let made = "";
  for (const word of words(title)) {
    const longer = made ? `${made}-${word}` : word;
    if (longer.length > max) break;
    made = longer;
  }
  return made;
}
