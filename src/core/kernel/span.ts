/** W3C Trace Context headers for upstream requests. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/**
 * Kinds of spans: an HTTP request; a JSON-RPC operation; a read, starting with the cache; a background refresh; a
 * shared load; a lookup in the shared cache; one page with all its waits; one request to an upstream; the verification
 * of a token.
 */
export type SpanAbout = 'request' | 'operation' | 'read' | 'refresh' | 'load' | 'look' | 'page' | 'call' | 'verify';

/**
 * Attributes of spans: numbers, and texts of settings and closed lists. There is no place for a caller's text, a query,
 * a header value, a body or a token.
 */
export interface SpanFacts {
  readonly method?: string | undefined;
  /** Pattern of the path. */
  readonly route?: string | undefined;
  readonly scheme?: 'http' | 'https' | undefined;
  readonly httpVersion?: string | undefined;
  readonly status?: number | undefined;
  /** Outcome of a request, as in its log line. */
  readonly outcome?: string | undefined;
  /** Reason for a failure; it alone marks a span as failed, except `cancelled`. */
  readonly error?: string | undefined;
  /** Code of the error table, if `error` is another. */
  readonly code?: string | undefined;
  /** JSON-RPC method. */
  readonly rpc?: string | undefined;
  readonly tool?: string | undefined;
  /** URI of an offered resource. */
  readonly uri?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly revision?: string | undefined;
  readonly edge?: 'http' | 'stdio' | undefined;
  readonly resource?: string | undefined;
  /** Outcome of the cache. */
  readonly cache?: string | undefined;
  /** Outcome of the lookup in the shared cache. */
  readonly shared?: string | undefined;
  readonly pages?: number | undefined;
  readonly items?: number | undefined;
  readonly dropped?: number | undefined;
  readonly upstream?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Origin and path from settings. */
  readonly url?: string | undefined;
  /** Number of earlier attempts. */
  readonly resends?: number | undefined;
}

/** An open span of a sampled trace. Its creator ends it. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Headers with this span as the parent. */
  readonly headers: TraceHeaders;
  /** Starts a child span. */
  begin(about: SpanAbout, facts?: SpanFacts): Span;
  /** Starts a trace of its own with a link to this span, for work that outlives it. */
  beginAside(about: SpanAbout, facts?: SpanFacts): Span;
  /** Links to a span that this one waits for. */
  link(other: Span): void;
  /** Ends the span. Later calls have no effect. */
  end(facts?: SpanFacts): void;
}
