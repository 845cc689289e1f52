import { PassThrough } from 'node:stream';
import { openStdio, type StdioOptions } from '../../../../src/core/mcp/stdio/open-stdio.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { eventually } from '../../../support/eventually.ts';
import { type AskedOptions, optionsOf } from '../asked.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Message = any;

/** MCP over stdio; the other end of the connection is the test's. */
export function connectStdio(
  asked: AskedOptions,
  {
    caller = callerWith(),
    ...options
  }: Partial<StdioOptions> & { readonly caller?: ReturnType<typeof callerWith> } = {},
) {
  const input = new PassThrough();
  const output = new PassThrough();
  const { requestId: _, ...identity } = caller;
  const bounds = { maxBodyBytes: 4096, maxMessageValues: 10_000, graceMs: 5000 };
  const connection = openStdio({ ...optionsOf(asked), ...bounds, ...options, identity, input, output });
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const answers = (): Message[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const write = (message: unknown) =>
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  let id = 0;
  return {
    connection,
    input,
    output,
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
