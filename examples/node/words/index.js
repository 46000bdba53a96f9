/** The words of a text, in order, in lower case. */
export function words(text) {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
