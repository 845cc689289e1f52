import type { GatewayError } from './errors.ts';
import type { RequestRecord, RequestRef } from './request-record.ts';

/** An upstream that was opened: after a change of settings, the one before of its name ends what it has begun. */
export interface UpstreamRef {
  readonly upstream: string;
  /** Tells those of one name apart. */
  readonly opening?: symbol | undefined;
}

/** A listener for clients, by its block of settings. */
export interface ListenerRef {
  readonly listener: 'http' | 'admin';
}

/** What was found in the second level of the snapshots. */
export interface SharedLooked {
  readonly resource: string;
  /**
   * `hit`: something to serve, be it after waiting for another replica's load. `stale`: only what was too old. `altered`:
   * something else than a replica has put there. `unavailable`: it could not be asked.
   */
  readonly outcome: 'hit' | 'miss' | 'stale' | 'altered' | 'unavailable';
}

/** What became of a load that was to be put into the second level. */
export interface SharedPut {
  readonly resource: string;
  /**
   * `refused`: the caller was denied it since the load began, the lease was over, or the store could not be asked. `too_large`:
   * it is longer than is shared. `overloaded`: too much was being sealed and opened.
   */
  readonly outcome: 'stored' | 'refused' | 'too_large' | 'overloaded';
}

/**
 * What happens, told once by whoever does it. A listener has a function for each event that it wants to hear. It is told
 * with `events.retried?.({ … })`: where nobody listens, not even the object is made.
 *
 * Names in events are those of settings; there is no place in them for a URL, a header value, a body or a token.
 */
export interface Events {
  /** A request has been answered, or cannot be. The record is not used any more. */
  requestEnded?(request: RequestRecord): void;
  /** Something was thrown that should not have been. The stack holds no credential. */
  internalError?(bug: RequestRef & { readonly stack: string }): void;
  /** A request of JSON-RPC has been worked on, by itself or as one of a batch; `tool` is one that there is. */
  operationEnded?(operation: {
    /** Of a closed list. */
    readonly rpc: string;
    readonly tool?: string | undefined;
    readonly ms: number;
    /** Code of the JSON-RPC error, `tool_error` for a result with `isError`, or `cancelled` where nobody waits any more. */
    readonly error?: number | 'tool_error' | 'cancelled' | undefined;
  }): void;
  /**
   * A read of a resource has ended, over whichever edge it came: with what the snapshot cache had to do with it, as in the
   * record of a request; or with the code of its error, or `cancelled` where nobody waits any more.
   */
  readEnded?(read: {
    readonly resource: string;
    readonly cache?: string | undefined;
    readonly error?: string | undefined;
  }): void;
  /** What a load brought is held now; `renewed` where the upstream said that it is what it was. */
  snapshotStored?(stored: { readonly resource: string; readonly bytes: number; readonly renewed: boolean }): void;
  /** Snapshots were let go of, since the upstream refused to show them. */
  snapshotEvicted?(evicted: RequestRef & { readonly resource: string; readonly code: string }): void;
  /** A snapshot was let go of to make room for others. */
  snapshotDisplaced?(displaced: { readonly resource: string }): void;
  /** What is held has changed: snapshots of all resources, and what was made of them, as they are charged. */
  snapshotsHeld?(held: { readonly bytes: number; readonly entries: number }): void;
  /** The second level of the snapshots was looked into for a read that the first one could not serve. */
  sharedLooked?(looked: SharedLooked): void;
  /** What a load brought was to be put into the second level. */
  sharedPut?(put: SharedPut): void;
  /** A refresh behind a stale read failed. The request that began it has been answered long since. */
  refreshFailed?(failed: RequestRef & { readonly resource: string; readonly error: unknown }): void;
  /** A read waits for the load of another. */
  flightJoined?(joined: RequestRef & { readonly resource: string }): void;
  /** A load has ended, all pages of it: `error` is its code, or `cancelled` where nobody waits any more. */
  loadEnded?(load: {
    readonly resource: string;
    readonly upstream: string;
    readonly ms: number;
    readonly error?: string | undefined;
    /** Why, in words of ours. */
    readonly reason?: string | undefined;
  }): void;
  /**
   * A list was loaded whole. Of the items `received`, `where` left out those `excluded`, and those `dropped` could not be
   * mapped; `defaulted` counts the others by the fields that took their default.
   */
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
  /**
   * A list could be read, but a field that has an expression is empty in every item (`field_empty`); or settings allow what is
   * an error otherwise: nothing is left of a reply that was not empty (`nothing_left`), or an id occurs more than once
   * (`duplicate_ids`). Emitted with each such read.
   */
  mappingDoubted?(doubted: {
    readonly resource: string;
    readonly upstream: string;
    readonly finding: 'nothing_left' | 'duplicate_ids' | 'field_empty';
    readonly field?: string | undefined;
  }): void;
  /** These resources are offered from now on. */
  resourcesOffered?(offered: { readonly resources: readonly string[] }): void;
  /** An upstream will be asked from now on, with its breaker closed. What its bulkhead has room for stands in settings. */
  upstreamOpened?(opened: UpstreamRef & { readonly connections: number; readonly maxQueue: number }): void;
  /** An upstream is asked no more: one that was opened, perhaps before another of its name. */
  upstreamClosed?(closed: UpstreamRef): void;
  /** An upstream answered one request, or failed to (`error`: code of the table). */
  pageFetched?(
    fetched: RequestRef & {
      readonly upstream: string;
      readonly method: 'GET' | 'POST';
      readonly ms: number;
      /** Bytes of the body, decoded. */
      readonly bytes: number;
      readonly status?: number | undefined;
      readonly error?: string | undefined;
      /** Why, in words of ours, and the codes behind it. */
      readonly reason?: string | undefined;
      readonly causes?: readonly string[] | undefined;
    },
  ): void;
  /** A request is sent again after `delayMs`. */
  retried?(retry: RequestRef & { readonly upstream: string; readonly retries: number; readonly delayMs: number }): void;
  /**
   * An upstream was not asked: its breaker is open, its queue is full, or it refused the credential a moment ago, as another
   * replica has told (`shared`).
   */
  callRefused?(
    refused: RequestRef & { readonly upstream: string; readonly code: string; readonly shared?: true | undefined },
  ): void;
  /**
   * An upstream sent unsolicited bytes: for ten minutes each of its connections serves one request only. Emitted once in that
   * time.
   */
  unsolicitedResponse?(unasked: { readonly upstream: string }): void;
  /**
   * Another secret of an upstream, or of a block of settings (`verification.introspection`), was taken from its file. `issue`: the file cannot be used, and the secret before stays;
   * told once for each issue, and without one once the file can be used again.
   */
  secretChanged?(changed: {
    readonly upstream?: string | undefined;
    readonly block?: string | undefined;
    readonly issue?: string | undefined;
  }): void;
  /**
   * Other certificates or keys were taken from the files of a block of settings (`http.tls`). `issue`: the one under `key`
   * cannot be used, and what was there before stays; told once for each issue, and without one once they can be used again.
   */
  tlsFilesChanged?(changed: {
    readonly block: string;
    readonly key?: string | undefined;
    readonly issue?: string | undefined;
  }): void;
  /** A client opened a connection, and did not come through the handshake of TLS. `code`: of Node's or OpenSSL's. */
  handshakeFailed?(failed: { readonly code: string }): void;
  /**
   * A token was verified, by its `signature` or by `introspection`. Not told where that was remembered. `undecided`: it could
   * not be found out. `reason`: in words of ours.
   */
  credentialJudged?(judged: {
    readonly verdict: 'accepted' | 'rejected' | 'undecided';
    readonly by: 'signature' | 'introspection';
    readonly ms: number;
    readonly reason?: string | undefined;
  }): void;
  /** The keys of the issuer of tokens were fetched. `error`: they could not be. */
  issuerKeysFetched?(fetched: { readonly keys: number; readonly error?: GatewayError | undefined }): void;
  /** A caller's token was exchanged for one that is made for an upstream, or could not be (`error`: code of the table). */
  tokenExchanged?(
    exchanged: RequestRef & { readonly upstream: string; readonly ms: number; readonly error?: string | undefined },
  ): void;
  /** A bound rejected or ended something: the key of a setting, or a name of docs/limits.md. */
  boundReached?(
    reached: Partial<RequestRef> & { readonly bound: string; readonly upstream?: string | undefined },
  ): void;
  breakerChanged?(
    changed: UpstreamRef & {
      readonly state: 'closed' | 'open' | 'half-open';
      readonly calls: number;
      readonly failures: number;
    },
  ): void;
  /** A call got its place in the bulkhead. */
  bulkheadEntered?(entered: { readonly upstream: string; readonly waitedMs: number }): void;
  /** What there is in the bulkhead has changed. */
  bulkheadChanged?(changed: UpstreamRef & { readonly running: number; readonly waiting: number }): void;
  /** Portico starts to connect to Redis. */
  sharedStoreOpened?(): void;
  /**
   * Redis is available, or not any more: `why` is of a closed list, `error` a code of Node or Redis. Emitted once for each reason
   * until it is available again.
   */
  sharedStoreChanged?(changed: {
    readonly isUp: boolean;
    readonly why?: string | undefined;
    readonly error?: string | undefined;
  }): void;
  /** A command to Redis was answered (`ok`), rejected (`failed`), or not answered in time (`timeout`). */
  sharedCommandEnded?(ended: { readonly command: string; readonly outcome: string; readonly ms: number }): void;
  /** Evictions of so many names were sent to other replicas. */
  sharedEvictionsSent?(sent: { readonly names: number }): void;
  /** Other replicas have evicted so many names; `undefined`: some evictions may have been missed. */
  sharedEvictionsReceived?(received: { readonly names: number | undefined }): void;
  /** Rejections of so many credentials were sent to other replicas. */
  sharedRejectionsSent?(sent: { readonly rejections: number }): void;
  /** A rejection was received. */
  sharedRejectionReceived?(received: {
    /** `useless`: too old, or by an upstream that is called in another way here. `altered`: no replica has sealed it. */
    readonly outcome: 'taken' | 'useless' | 'altered';
  }): void;
  /** Settings took effect: requests are answered. */
  listening?(listening: {
    readonly url: string;
    readonly adminUrl?: string | undefined;
    readonly resources: readonly string[];
  }): void;
  /** The collector of traces took spans. */
  spansSent?(sent: { readonly spans: number }): void;
  /**
   * Spans were dropped: too many waited already, or the collector did not take them, for the `cause` that is told. Told once
   * for all that came together.
   */
  spansDropped?(dropped: {
    readonly spans: number;
    readonly reason: 'queue_full' | 'not_taken' | 'shutdown';
    readonly cause?: string | undefined;
  }): void;
  /** Other settings took effect: paths of what they changed, and of what they will change once the process is started anew. */
  settingsChanged?(changes: { readonly applied: readonly string[]; readonly needRestart: readonly string[] }): void;
  /** Nothing more will be accepted; `signal` is why, where the process was told to end. */
  draining?(draining: { readonly signal?: string | undefined }): void;
  /** `whole`: whether every request in flight was answered. */
  drained?(drained: { readonly whole: boolean }): void;
  /** Connections were refused since `maxConnections` are open. Told at most every ten seconds. */
  connectionsRefused?(refused: { readonly maxConnections: number }): void;
  /** A client has opened a connection to one of the two listeners, or one has been closed. */
  connectionsChanged?(changed: ListenerRef & { readonly open: number; readonly maxConnections: number }): void;
  /** So many that were idle were closed for others, since `maxConnections` are open. */
  idleConnectionsClosed?(closed: ListenerRef & { readonly connections: number }): void;
  listenerFailed?(failed: { readonly error: Error }): void;
}
