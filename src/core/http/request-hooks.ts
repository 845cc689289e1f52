import type { Identity } from '../credentials/authenticate.ts';
import type { Caller } from '../kernel/caller.ts';
import type { RequestRecord } from '../kernel/request-record.ts';
import type { Exchange } from './exchange.ts';
import type { Operation } from './operations/operation.ts';

/** Answers an exchange with its operation. Never throws. */
export type Handle = (exchange: Exchange, operation: Operation) => Promise<void>;

/**
 * Fixed places on the way of a request to the public listener, in the order in which a request passes them. A hook rejects a
 * request by throwing, or rejecting with, a `GatewayError`, except where it says otherwise.
 */
export interface RequestHooks {
  /** The operation was found; nothing has been checked. Must not throw. */
  onRequest(exchange: Exchange, operation: Operation): void;
  /** Method, host and origin were checked; the credential has not been read. Not called for operations open to all. */
  preAuthenticate(exchange: Exchange): Promise<void> | void;
  /** The credential is well formed and has this key; it has not been verified. */
  preVerify(exchange: Exchange, callerKey: string): Promise<void> | void;
  /** The caller is known. Over stdio it is called for each message. Must not throw. */
  onCaller(record: RequestRecord, identity: Identity): void;
  /** Counts so many requests against the limits of a caller, or of a client without a credential. */
  spend(
    exchange: Exchange,
    caller: Pick<Caller, 'key' | 'verified'> | undefined,
    requests: number,
  ): Promise<void> | void;
  /** The response was sent, or the client is gone. Must not throw. */
  onSettled(exchange: Exchange): void;
  /** Wraps the handling of each request. The first capability is outermost. */
  wrapHandler(handle: Handle): Handle;
}

/** Hooks that do nothing. */
export const NO_REQUEST_HOOKS: RequestHooks = {
  onRequest() {},
  preAuthenticate() {},
  preVerify() {},
  onCaller() {},
  spend() {},
  onSettled() {},
  wrapHandler: (handle) => handle,
};
