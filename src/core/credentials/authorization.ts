import type { Caller } from '../kernel/caller.ts';

type Headers = Readonly<Record<string, string>>;

/** The credential of an upstream, as options of `openUpstream`. */
export interface Authorization {
  /** Whether it is given the caller's own token. */
  readonly callersOwn: boolean;
  /** Whether it is given a token that was made for the caller. @default false */
  readonly madeForCaller?: boolean;
  /** Returns the credential headers. */
  authorize(caller: Caller, signal: AbortSignal): Promise<Headers>;
  /** Called after a 401 to them. Returns whether there are newer ones. @default there are none */
  refused?(caller: Caller, given: Headers): boolean;
  /** Closes its connections. @default it has none */
  close?(): Promise<void>;
}
