/** Where a client finds a server. */
export type Server =
  | {
      readonly kind: 'http';
      readonly url: string;
      /** Sent as `Authorization: Bearer`; none: no such header. */
      readonly token?: string;
    }
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      /** All of the environment that the server gets. */
      readonly env: Readonly<Record<string, string>>;
    };

export interface Definition {
  readonly uri: string;
  readonly mimeType?: string | undefined;
}

/** One connection of a client. Rejects with what the client's `errorOf` understands. */
export interface Session {
  /** Negotiated revision of the protocol, if the client exposes it. */
  readonly revision: string | undefined;
  list(): Promise<readonly Definition[]>;
  /** Text of each content of the resource. */
  read(uri: string): Promise<readonly unknown[]>;
  /** Text of each content of the tool's result, which is not an error. */
  call(tool: string, args: Record<string, unknown>): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** An error as a client reports it; some clients have only its message. */
export interface ToldError {
  readonly message: string;
  /** Code of a JSON-RPC error. */
  readonly code?: number;
  /** `data` of a JSON-RPC error. */
  readonly data?: unknown;
  /** Status of an HTTP response that was no JSON-RPC. */
  readonly status?: number;
}

/** A client as its users run it, behind one face for all. */
export interface Client {
  readonly name: string;
  /** The newest that it is to speak. */
  readonly revision: '2026-07-28' | '2025-11-25';
  /** Transports whose sessions expose their revision. */
  readonly tellsRevision: readonly Server['kind'][];
  connect(server: Server): Promise<Session>;
  /** Rethrows errors that did not come from the server. */
  errorOf(error: unknown): ToldError;
}

/** The texts of contents or of content blocks, in order; `undefined` in the place of one that is no text. */
export function texts(contents: readonly object[]): readonly unknown[] {
  return contents.map((content) => ('text' in content ? content.text : undefined));
}
