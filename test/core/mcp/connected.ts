import { PassThrough, type Readable, type Writable } from 'node:stream';
import { openStdio, type StdioOptions } from '../../../src/core/mcp/open-stdio.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { type AskedOptions, optionsOf } from './asked.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Message = any;

/** The client's end of MCP over a pair of streams, one message a line. */
export function converse(input: Writable, output: Readable) {
  let text = '';
  let id = 0;
  output.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const answers = (): Message[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const write = (message: unknown) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  return {
    write,
    answers,
    /** The first `count` messages that came back. */
    async receive(count: number): Promise<Message[]> {
      await eventually(() => answers().length >= count);
      return answers();
    },
    async ask(method: string, params: object = {}): Promise<Message> {
      id += 1;
      const own = id;
      write({ jsonrpc: '2.0', id: own, method, params });
      return eventually(() => answers().find((answer) => answer.id === own));
    },
  };
}

/** MCP over stdio; the other end of the connection is the test's. */
export function connectStdio(
  asked: AskedOptions,
  {
    caller = callerWith(),
    ...options
  }: Partial<StdioOptions> & { readonly caller?: ReturnType<typeof callerWith> } = {},
) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const { requestId: _, ...identity } = caller;
  const bounds = { maxBodyBytes: 4096, maxMessageValues: 10_000, graceMs: 5000 };
  const connection = openStdio({ ...optionsOf(asked), ...bounds, ...options, identity, input, output });
  return { connection, input, output, ...converse(input, output) };
}
