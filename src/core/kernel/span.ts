/** W3C Trace Context headers that an upstream request of this read carries. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/**
 * What a span is about: a request over HTTP; one of JSON-RPC; a read, which begins with the decision of the cache; a refresh
 * behind one; the load that a flight makes; a look at what replicas share; one page, with all waits; one request that an
 * upstream is sent; the verification of a token that is not remembered.
 */
export type SpanAbout = 'request' | 'operation' | 'read' | 'refresh' | 'load' | 'look' | 'page' | 'call' | 'verify';

/**
 * What spans tell, in words of this house. All are texts of settings, of closed lists and of ours, and numbers: there is no
 * place for what a caller sent, a query, a header value, a body or a token.
 */
export interface SpanFacts {
  readonly method?: string | undefined;
  /** Pattern of the path. */
  readonly route?: string | undefined;
  readonly scheme?: 'http' | 'https' | undefined;
  readonly httpVersion?: string | undefined;
  readonly status?: number | undefined;
  /** How a request ended, as its line in the log says. */
  readonly outcome?: string | undefined;
  /** Why it failed: this alone makes a span one that failed. `cancelled` does not: nobody waited any more. */
  readonly error?: string | undefined;
  /** Code of the error table, where `error` is another. */
  readonly code?: string | undefined;
  /** Method of JSON-RPC. */
  readonly rpc?: string | undefined;
  readonly tool?: string | undefined;
  /** URI of a resource that is offered. */
  readonly uri?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly revision?: string | undefined;
  readonly edge?: 'http' | 'stdio' | undefined;
  readonly resource?: string | undefined;
  /** What the snapshot cache had to do with a read. */
  readonly cache?: string | undefined;
  /** What came of a look at what replicas share. */
  readonly shared?: string | undefined;
  readonly pages?: number | undefined;
  readonly items?: number | undefined;
  readonly dropped?: number | undefined;
  readonly upstream?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Origin and path as settings have them. */
  readonly url?: string | undefined;
  /** How often the same was sent before. */
  readonly resends?: number | undefined;
}

/** Something under way, of a trace that is sampled. Whoever begins one ends it. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Headers that name this span as the parent. */
  readonly headers: TraceHeaders;
  /** Begins a span below this one. */
  begin(about: SpanAbout, facts?: SpanFacts): Span;
  /** Begins a trace of its own, with a link to this span: what goes on when this one has long ended. */
  beginAside(about: SpanAbout, facts?: SpanFacts): Span;
  /** Tells that this one waits for another. */
  link(other: Span): void;
  /** Ends it, with what is known by now. Once: what comes later is not heard. */
  end(facts?: SpanFacts): void;
}
