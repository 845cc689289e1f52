import type { RequestRecord, RequestRef } from './caller.ts';
import { type GatewayError, stackOf } from './errors.ts';

/** One instance of an upstream. After a reload, the replaced instance finishes its calls beside the new one. */
export interface UpstreamRef {
  readonly upstream: string;
  /** Identifies the instance: after a reload, the replaced one finishes its calls beside the new one. */
  readonly instanceId?: symbol | undefined;
}

/** A listener for clients, by its block of settings. */
export interface ListenerRef {
  readonly listener: 'http' | 'admin';
}

/** The outcome of a command to Redis. `full`: rejected because no memory is left. `failed`: rejected otherwise. */
export type CommandOutcome = 'ok' | 'timeout' | 'full' | 'failed';

/** The result of a lookup in the second level of the snapshots. */
export interface SharedLooked {
  readonly resource: string;
  /** `stale`: too old to be served. `altered`: a value that no replica has stored. */
  readonly outcome: 'hit' | 'miss' | 'stale' | 'altered' | 'unavailable';
}

/** The result of storing a load in the second level. */
export interface SharedPut {
  readonly resource: string;
  /**
   * `refused`: the caller was denied access since the load began, or Redis could not be used.
   * `overloaded`: too many values were being sealed and opened.
   */
  readonly outcome: 'stored' | 'refused' | 'too_large' | 'overloaded';
}

/**
 * A warning about a list that could be read: its mapping is probably wrong.
 *
 * - `field_empty`: a field that has an expression is empty in every item.
 * - `nothing_left`, `duplicate_ids`: settings allow what is otherwise an error. Nothing is left of a reply that was not
 *   empty, or an id occurs more than once.
 * - `field_lost`: a field is empty in every item, and was not in an earlier list of the caller.
 * - `value_unmapped`: a field has texts that its table `values` does not map, and had none in an earlier list of the caller.
 * - `hidden_text`: texts of a field have characters that a reader does not see. Found when tools first use the list.
 */
export interface MappingFinding {
  readonly finding: 'nothing_left' | 'duplicate_ids' | 'field_empty' | 'field_lost' | 'value_unmapped' | 'hidden_text';
  /** Documented name. Absent for findings about the whole list. */
  readonly field?: string | undefined;
}

/**
 * Events of a gateway. A listener has a function for each event that it handles. Emit with `events.retried?.({ … })`: without
 * a listener, not even the object is created.
 *
 * Names in events are those of settings. No event holds a URL, a header value, a body or a token.
 */
export interface Events {
  /** A request was answered, or cannot be. Its record does not change any more. */
  requestEnded?(request: RequestRecord): void;
  /** An unexpected exception: a bug. The stack holds no credential. */
  internalError?(bug: RequestRef & { readonly stack: string }): void;
  /** A JSON-RPC request ended. `tool` is an existing one. */
  operationEnded?(operation: {
    /** Method, of a closed list. */
    readonly rpc: string;
    readonly tool?: string | undefined;
    /** Revision of the protocol that the client states, of a closed list. */
    readonly revision?: string | undefined;
    readonly ms: number;
    /** Code of the JSON-RPC error, `tool_error` for a result with `isError`, or `cancelled` if the client is gone. */
    readonly error?: number | 'tool_error' | 'cancelled' | undefined;
  }): void;
  /**
   * A read of a resource ended, over either edge. `error`: its code, or `cancelled`. `staleFor`: code of the error that a
   * stale list replaced, or with which its last background load failed.
   */
  readEnded?(read: {
    readonly resource: string;
    readonly cache?: string | undefined;
    readonly staleFor?: string | undefined;
    readonly error?: string | undefined;
  }): void;
  /** `notModified`: the upstream reported that the list had not changed. */
  snapshotStored?(stored: { readonly resource: string; readonly bytes: number; readonly notModified: boolean }): void;
  /** Snapshots were evicted because the upstream refused access. */
  snapshotEvicted?(evicted: RequestRef & { readonly resource: string; readonly code: string }): void;
  /** A snapshot was evicted to make room. */
  snapshotDisplaced?(displaced: { readonly resource: string }): void;
  /** The cache changed: snapshots of all resources and their representations, as `cache.maxBytes` counts them. */
  snapshotsHeld?(held: { readonly bytes: number; readonly entries: number }): void;
  /** A read that the first level of the snapshots could not serve was looked up in the second. */
  sharedLooked?(looked: SharedLooked): void;
  sharedPut?(put: SharedPut): void;
  /** A background load behind a stale read failed. The request that started it was answered before. */
  refreshFailed?(failed: RequestRef & { readonly resource: string; readonly error: unknown }): void;
  /** A read waits for the load of another one. */
  flightJoined?(joined: RequestRef & { readonly resource: string }): void;
  /** A load of all pages ended. `error`: its code, or `cancelled`. */
  loadEnded?(load: {
    readonly resource: string;
    readonly upstream: string;
    readonly ms: number;
    readonly error?: string | undefined;
    /** A fixed text, never the upstream's. */
    readonly reason?: string | undefined;
  }): void;
  /** `where` excluded items; those `dropped` could not be mapped; `defaulted` counts the others by fields that took their default. */
  listLoaded?(loaded: {
    readonly resource: string;
    readonly upstream: string;
    readonly pages: number;
    readonly items: number;
    readonly received: number;
    readonly excluded: number;
    readonly dropped: number;
    readonly defaulted: ReadonlyMap<string, number>;
  }): void;
  /** A mapping is probably wrong. Emitted with each such load. */
  mappingWarning?(warning: MappingFinding & { readonly resource: string; readonly upstream: string }): void;
  /** A subscription to changes of lists began or ended. */
  subscriptionsChanged?(changed: { readonly open: number }): void;
  /** From now on: at the start, and after a reload. */
  resourcesOffered?(offered: { readonly resources: readonly string[] }): void;
  /** An upstream opened, with its breaker closed. */
  upstreamOpened?(opened: UpstreamRef): void;
  /** Another instance of its name can be open. */
  upstreamClosed?(closed: UpstreamRef): void;
  /** An upstream answered a request, or failed (`error`: code of the table). */
  pageFetched?(
    fetched: RequestRef & {
      readonly upstream: string;
      readonly method: 'GET' | 'POST';
      readonly ms: number;
      /** Decoded bytes of the body. */
      readonly bytes: number;
      readonly status?: number | undefined;
      readonly error?: string | undefined;
      /** A fixed text, never the upstream's; and the names and codes of the errors behind it. */
      readonly reason?: string | undefined;
      readonly causes?: readonly string[] | undefined;
    },
  ): void;
  retried?(retry: RequestRef & { readonly upstream: string; readonly retries: number; readonly delayMs: number }): void;
  /** A call was not made: the breaker is open, the queue is full, or the upstream rejected the credential a moment ago. */
  callRefused?(refused: RequestRef & { readonly upstream: string; readonly code: string }): void;
  /**
   * Secrets, certificates or keys of a block of settings (`http.tls`) were reloaded from their files. `issue`: the file under
   * `key` is unusable, and its previous content stays in use. Emitted once for each issue, and without one when it is over.
   */
  filesChanged?(changed: {
    readonly block: string;
    readonly key?: string | undefined;
    readonly issue?: string | undefined;
  }): void;
  /** The TLS handshake with a client failed. `code`: Node's or OpenSSL's. */
  handshakeFailed?(failed: { readonly code: string }): void;
  /** Not emitted for a remembered verdict. `undecided`: the verification failed. `reason`: a fixed text. */
  credentialVerified?(judged: {
    readonly verdict: 'accepted' | 'rejected' | 'undecided';
    readonly ms: number;
    readonly reason?: string | undefined;
  }): void;
  issuerKeysFetched?(fetched: { readonly keys: number; readonly error?: GatewayError | undefined }): void;
  /** A bound rejected or ended something: the key of a setting, or a name of docs/reference.md. */
  limitReached?(
    reached: Partial<RequestRef> & { readonly bound: string; readonly upstream?: string | undefined },
  ): void;
  breakerChanged?(
    changed: UpstreamRef & {
      readonly state: 'closed' | 'open' | 'half-open';
      readonly calls: number;
      readonly failures: number;
      /** The failures that opened it, in fixed texts. Present with `open`. */
      readonly reason?: string | undefined;
    },
  ): void;
  bulkheadChanged?(changed: UpstreamRef & { readonly running: number; readonly waiting: number }): void;
  sharedStoreOpened?(): void;
  /**
   * Redis is available, or not any more: `why` is a code of Node, OpenSSL or Redis, `timeout` or `disconnected`. Emitted once for
   * each reason until it is available again.
   */
  sharedStoreChanged?(changed: { readonly isUp: boolean; readonly why?: string | undefined }): void;
  sharedCommandEnded?(ended: { readonly command: string; readonly outcome: CommandOutcome; readonly ms: number }): void;
  listening?(listening: {
    readonly url: string;
    readonly adminUrl?: string | undefined;
    readonly resources: readonly string[];
  }): void;
  /** Spans were not sent, because the collector failed or refused them. */
  spansDropped?(dropped: { readonly spans: number; readonly cause?: string | undefined }): void;
  /** Changed settings took effect: paths of those applied, and of those that need a restart. */
  settingsChanged?(changes: { readonly applied: readonly string[]; readonly needRestart: readonly string[] }): void;
  /** Settings were read and not refused, changed or not. */
  settingsReloaded?(reloaded: { readonly needRestart: readonly string[] }): void;
  /** Settings that were given or read were refused, and those before stay in force. `issue`: the first one. */
  settingsRefused?(refused: { readonly issue: string }): void;
  /** `signal`: the one that ended the process. */
  draining?(draining: { readonly signal?: string | undefined }): void;
  /** `whole`: whether every request in flight was answered. */
  drained?(drained: { readonly whole: boolean }): void;
  /** The limit of open files, `maxDescriptors`, allows fewer connections than `http.maxConnections`, which is `configured`. */
  connectionsCapped?(capped: {
    readonly maxConnections: number;
    readonly configured: number;
    readonly maxDescriptors: number;
  }): void;
  /** Connections were refused at the limit `maxConnections`. Emitted at most every ten seconds. */
  connectionsRefused?(refused: { readonly maxConnections: number }): void;
  connectionsChanged?(changed: ListenerRef & { readonly open: number; readonly maxConnections: number }): void;
  listenerFailed?(failed: { readonly error: Error }): void;
}

/** Replaces the listeners behind `events`, which remains the same object. */
export function setListeners(events: Events, listeners: readonly Events[]): void {
  for (const name of Object.keys(events)) delete events[name as keyof Events];
  Object.assign(events, joinEvents(listeners));
}

/** An error thrown by a listener is emitted as `internalError` and ends there: none can end a request or the process. */
export function joinEvents(listeners: readonly Events[]): Events {
  const names = new Set(listeners.flatMap((listener) => Object.keys(listener))) as Set<keyof Events>;
  const joined: Events = Object.fromEntries([...names].map((name) => [name, emitterOf(name)]));
  return joined;

  function emitterOf(name: keyof Events): (event: unknown) => void {
    const handlers = listeners.flatMap((listener) => listener[name] ?? []) as ((event: unknown) => void)[];
    return (event) => {
      for (const handle of handlers) {
        try {
          handle(event);
        } catch (error) {
          if (name !== 'internalError') joined.internalError?.(bugOf(event, error));
        }
      }
    };
  }
}

/** Emits the bound that a request reached, if its error has one. A load emits its own, once for all its waiters. */
export function emitLimitReached(events: Events, { bound, upstream }: GatewayError, request: RequestRef): void {
  if (bound === undefined || upstream !== undefined) return;
  events.limitReached?.({ bound, requestId: request.requestId, traceId: request.traceId });
}

function bugOf(event: unknown, error: unknown) {
  const { requestId = 'none', traceId } = event as Partial<RequestRecord>;
  return { requestId, traceId, stack: stackOf(error) };
}
