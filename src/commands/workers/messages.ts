/** Units to add to counters whose windows begin with the first unit. */
export interface CountsToAdd {
  readonly units: readonly (readonly [name: string, units: number])[];
  readonly windowMs: number;
}

/** The counters afterwards, in the same order. */
export interface CountsAdded {
  readonly counted: readonly { readonly total: number; readonly restMs: number }[];
}

export interface Begin {
  readonly adminSocketPath: string;
  /** Secret behind the keys of callers, in base64url: the same in all workers, and nowhere else. */
  readonly secret: string;
  readonly isTerminal: boolean;
}

export type ToWorker = { readonly begin: Begin } | CountsAdded | { readonly signal: NodeJS.Signals };

/** From a worker to the primary process. `join` asks for `begin`. */
export type ToPrimary = 'join' | { readonly ready: string } | { readonly add: CountsToAdd };
