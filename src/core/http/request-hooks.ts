import type { Identity } from '../credentials/authenticate.ts';
import type { Caller, RequestRecord } from '../kernel/caller.ts';
import type { HttpRequest } from './http-request.ts';
import type { Operation } from './operations/operation.ts';

/**
 * Fixed places on the way of a request to the public listener, in the order in which a request passes them. A hook rejects a
 * request by throwing a `GatewayError`, except where it says otherwise.
 */
export interface RequestHooks {
  /** Host and origin were checked and the operation was found; its credential has not been read. Must not throw. */
  onRequest(request: HttpRequest, operation: Operation): void;
  /** The credential has not been read. Not called for operations open to all. */
  preAuthenticate(request: HttpRequest): void;
  /** The credential is well formed and has this key; it has not been verified. */
  preVerify(request: HttpRequest, callerKey: string): void;
  /** The caller is known. Over stdio it is called for each message. Must not throw. */
  onCaller(record: RequestRecord, identity: Identity): void;
  /** Counts a request against the limits of a caller, or of a client without a credential. */
  spend(request: HttpRequest, caller: Pick<Caller, 'credentialKey' | 'verified'> | undefined): void;
  /** The response was handed to Node, or the client is gone. Must not throw. */
  onSettled(request: HttpRequest): void;
}

/** Hooks that do nothing. */
export const NO_REQUEST_HOOKS: RequestHooks = {
  onRequest() {},
  preAuthenticate() {},
  preVerify() {},
  onCaller() {},
  spend() {},
  onSettled() {},
};
