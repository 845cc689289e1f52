/** One whole answer, before it meets a socket. Headers that every answer has are not among its own. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}
