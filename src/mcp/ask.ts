import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Load } from '../snapshots/load.ts';

/** What the log says of one JSON-RPC request, as far as it is known. */
export interface Facts {
  /** Its method, of a closed list. */
  readonly rpc?: string;
  readonly resource?: string;
  /** Milliseconds spent waiting for the upstream. */
  readonly upstreamMs?: number;
  readonly load?: Load;
  /** What its answer says went wrong. */
  readonly failure?: GatewayError;
}

/** One JSON-RPC request: who asks, and who wants to know what came of it. */
export interface Ask {
  readonly caller: Caller;
  /** The caller wants the upstream to be asked. */
  readonly noCache: boolean;
  readonly note: (facts: Facts) => void;
  /** Logs what should not have been thrown. */
  readonly logBug: (error: unknown) => void;
}

/** What is thrown, as a row of the error table, noted and logged. An abort has nobody to be told of it. */
export function failureOf(error: unknown, ask: Ask, signal: AbortSignal): GatewayError {
  const failure = error instanceof GatewayError ? error : new GatewayError('internal', { cause: error });
  if (!signal.aborted) {
    if (failure.code === 'internal') ask.logBug(error);
    ask.note({ failure });
  }
  return failure;
}
