import type { Identity } from '../credentials/authenticate.ts';
import type { Caller, RequestRecord } from '../kernel/caller.ts';
import type { HttpRequest } from './http-request.ts';
import type { Operation } from './operations/operation.ts';

/**
 * Fixed places on the way of a request to the public listener, in the order in which a request passes them. A hook rejects a
 * request by throwing a `GatewayError`, except where it says otherwise.
 */
export interface RequestHooks {
  /**
   * Host and origin were checked and the operation was found; its credential has not been read. Must not throw.
   *
   * @example
   * onRequest: ({ record }, { path }) => void started.push(`${record.requestId} ${path}`),
   */
  onRequest(request: HttpRequest, operation: Operation): void;
  /**
   * The credential has not been read. Not called for operations open to all.
   *
   * @example
   * preAuthenticate({ req }) {
   *   if (req.headers['x-load'] === 'batch' && isBusy()) throw new GatewayError('overloaded');
   * },
   */
  preAuthenticate(request: HttpRequest): void;
  /**
   * The credential is well formed and has this key; it has not been verified.
   *
   * @example
   * preVerify(_request, callerKey) {
   *   if (banned.has(callerKey)) throw new GatewayError('rate_limited', { retryAfterSeconds: 60 });
   * },
   */
  preVerify(request: HttpRequest, callerKey: string): void;
  /**
   * The caller is known. Over stdio it is called for each message. Must not throw.
   *
   * @example
   * onCaller: ({ requestId }, { verified }) => void subjects.set(requestId, verified?.subject),
   */
  onCaller(record: RequestRecord, identity: Identity): void;
  /**
   * Counts a request against the limits of a caller, or of a client without a credential.
   *
   * @example
   * countAgainstLimits(request, caller) {
   *   if (count(caller?.credentialKey ?? request.address) > 1000) throw new GatewayError('rate_limited');
   * },
   */
  countAgainstLimits(request: HttpRequest, caller: Pick<Caller, 'credentialKey' | 'verified'> | undefined): void;
  /**
   * The response was handed to Node, or the client is gone. Must not throw.
   *
   * @example
   * onSettled: ({ record }) => void times.push(performance.now() - record.startedAt),
   */
  onSettled(request: HttpRequest): void;
}

/** Hooks that do nothing. */
export const NO_REQUEST_HOOKS: RequestHooks = {
  onRequest() {},
  preAuthenticate() {},
  preVerify() {},
  onCaller() {},
  countAgainstLimits() {},
  onSettled() {},
};
