import type { Caller } from '../kernel/caller.ts';

type Headers = Readonly<Record<string, string>>;

/** How an upstream is told who asks; fits the options of `openUpstream`. */
export interface Authorization {
  /** Whether it is given the caller's own token. */
  readonly callersOwn: boolean;
  /** Whether it is given one in place of that, which was made for the caller. @default false */
  readonly madeForCaller?: boolean;
  /** The headers that tell it who asks. */
  authorize(caller: Caller, signal: AbortSignal): Promise<Headers>;
  /** Told that it did not accept them. Whether there may be better ones now. @default there are none */
  refused?(caller: Caller, given: Headers): boolean;
  /** Ends what it asks for that. @default there is nothing */
  close?(): Promise<void>;
}
