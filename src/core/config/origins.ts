/** Whether the environment put in what settings have at a path. */
export type IsFromEnvironment = (path: readonly string[]) => boolean;

/** Where the settings in force have their values from, while their file changes. */
export interface Origins {
  readonly isFromEnvironment: IsFromEnvironment;
  /** The file has these values now; but what needs a restart stays as it was, and so does where that is from. */
  change(next: IsFromEnvironment, needRestart: readonly string[]): void;
}

export function createOrigins(first: IsFromEnvironment): Origins {
  let current = first;
  /** Of what is as it was in a file before, by its path: the longest one counts. */
  let kept = new Map<string, IsFromEnvironment>();

  function originOf(path: string): IsFromEnvironment {
    const blocks = [...kept.keys()].filter((block) => isWithin(path, block));
    const [longest] = blocks.sort((a, b) => b.length - a.length);
    return (longest === undefined ? undefined : kept.get(longest)) ?? current;
  }

  return {
    isFromEnvironment: (path) => originOf(path.join('.'))(path),
    change(next, needRestart) {
      const within = [...kept].filter(([path]) => needRestart.some((block) => isWithin(path, block)));
      kept = new Map([...needRestart.map((path) => [path, originOf(path)] as const), ...within]);
      current = next;
    },
  };
}

function isWithin(path: string, block: string): boolean {
  return path === block || path.startsWith(`${block}.`);
}
