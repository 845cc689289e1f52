export interface Neighbour {
  readonly candidate: string;
  readonly distance: number;
  /** Whether one letter makes the difference. */
  readonly isSlip: boolean;
}

/** `; did you mean timeoutMs?` for the word that comes closest, or nothing when none is close. */
export function didYouMean(word: unknown, known: readonly string[]): string {
  return ask(closest(word, known));
}

/** The word that comes closest; `undefined` when none is close. */
export function closest(word: unknown, known: readonly string[]): Neighbour | undefined {
  return neighbours(word, known)[0];
}

/** Returns `; did you mean …?` for a similar word, and empty text for `undefined`. */
export function ask(neighbour: Pick<Neighbour, 'candidate'> | undefined): string {
  return neighbour === undefined ? '' : `; did you mean ${neighbour.candidate}?`;
}

/** The words that are close, the closest first. */
function neighbours(word: unknown, known: readonly string[]): Neighbour[] {
  // Nothing is close to what is this long, and the comparison would take its time.
  if (typeof word !== 'string' || word.length > 64) return [];
  const lower = word.toLowerCase();
  return known
    .map((candidate) => {
      const distance = editDistance(lower, candidate.toLowerCase());
      return { candidate, distance, isSlip: distance <= 1 && candidate.length > 3 };
    })
    .filter(({ candidate, distance }) => isClose(lower, candidate.toLowerCase(), distance))
    .sort((a, b) => a.distance - b.distance);
}

function isClose(word: string, candidate: string, distance: number): boolean {
  const longer = Math.max(word.length, candidate.length);
  if (distance <= Math.max(1, Math.floor(longer / 3))) return true;
  const [shorter, other] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  return shorter.length >= 3 && (shorter === word ? other.includes(word) : other.startsWith(candidate));
}

/** Characters to insert, delete, change or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
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

/** Every index that is asked for is there; the type of an array does not know that. */
function at(row: readonly number[], index: number): number {
  return row[index] as number;
}
