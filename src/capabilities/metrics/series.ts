/** Values of labels. A series has no label whose value is `undefined`. */
export type Labels<Name extends string> = { readonly [Each in Name]?: string | number | undefined };

interface Series<Held> {
  readonly labels: Readonly<Record<string, string | number>>;
  /** The values of all labels of the metric, in their order. */
  readonly key: readonly (string | number | undefined)[];
  readonly held: Held;
}

/** Creates the series of one metric with these labels. Each holds what `create` returns. */
export function createSeries<Held>(names: readonly string[], create: () => Held) {
  const all: Series<Held>[] = [];
  /** The same, those that are used most first: each use of one moves it forward. */
  const byUse: Series<Held>[] = [];

  function keyOf(labels: Labels<string>): Series<Held>['key'] {
    const key = [];
    for (const name of names) key.push(labels[name]);
    return key;
  }

  function add(key: Series<Held>['key']): Held {
    const labels: Record<string, string | number> = {};
    for (const [index, value] of key.entries()) if (value !== undefined) labels[names[index] as string] = value;
    const series = { labels, key, held: create() };
    all.push(series);
    byUse.push(series);
    return series.held;
  }

  return {
    /** Returns what the series of these labels holds. */
    of(labels: Labels<string>): Held {
      const key = keyOf(labels);
      for (let index = 0; index < byUse.length; index += 1) {
        const series = byUse[index] as Series<Held>;
        if (!isSame(series.key, key)) continue;
        if (index > 0) {
          byUse[index] = byUse[index - 1] as Series<Held>;
          byUse[index - 1] = series;
        }
        return series.held;
      }
      return add(key);
    },
    remove(labels: Labels<string>): void {
      const key = keyOf(labels);
      for (const list of [all, byUse]) {
        const index = list.findIndex((series) => isSame(series.key, key));
        if (index !== -1) list.splice(index, 1);
      }
    },
    /** All series, in the order in which they were created. */
    all: (): readonly Readonly<Series<Held>>[] => all,
  };
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}
