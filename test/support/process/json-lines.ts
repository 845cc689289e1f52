/** Texts of JSON, one a line, as a log writes them. Throws where one is none, as where the last is cut short. */
// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
export function linesIn(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
