/** `; did you mean timeoutMs?` for the word that comes closest, or nothing when none is close. */
export function didYouMean(word: unknown, known: readonly string[]): string {
  const meant = closest(word, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** The closest word; `undefined` when none is close. */
export function closest(word: unknown, known: readonly string[]): string | undefined {
  // The comparison would take its time.
  if (typeof word !== 'string' || word.length > 64) return undefined;
  return known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.max(word.length, candidate.length) / 3))
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Characters to insert, delete, change or swap (optimal string alignment), whatever their case. */
function editDistance(word: string, candidate: string): number {
  const [a, b] = [word.toLowerCase(), candidate.toLowerCase()];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      const change = at(last, j - 1) + (same ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, change, swap));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] as number;
}
