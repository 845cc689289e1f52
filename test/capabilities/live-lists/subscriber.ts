import { ENVELOPE } from '../../core/mcp/asked.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { RPC_FIELDS } from '../../support/rpc.ts';

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Message = any;

export interface SubscribeOptions {
  readonly token?: string | undefined;
  readonly id?: string;
  readonly method?: string;
  readonly resources?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the resources' own. */
  readonly notifications?: object;
}

/** Subscribes to lists, by default to the tools of the caller of all tests. */
export async function subscribe(url: string, options: SubscribeOptions = {}) {
  const { token = TOKEN, resources = ['tools'], headers = {}, id = 'sub', method = 'subscriptions/listen' } = options;
  const { notifications = { resourceSubscriptions: resources.map((name) => `platform://${name}`) } } = options;
  const controller = new AbortController();
  onCleanup(() => controller.abort());
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...RPC_FIELDS,
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { notifications, _meta: ENVELOPE } }),
    signal: controller.signal,
  });
  const messages: Message[] = [];
  let text = '';
  let comments = 0;

  async function receive(): Promise<Message> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        if (event.startsWith(':')) comments += 1;
        else messages.push(JSON.parse(event.slice(event.indexOf('data: ') + 'data: '.length)));
      }
    }
    if (text !== '') messages.push(JSON.parse(text));
    return messages.at(-1);
  }

  const ended = receive();
  ended.catch(() => {});
  return {
    response,
    /** All that has come, in order, but comments. */
    messages: messages as readonly Message[],
    comments: () => comments,
    /** Resources that it was notified of, in order. */
    notified: (): string[] =>
      messages.flatMap(({ method: name, params }) =>
        name === 'notifications/resources/updated' ? [params.uri.slice('platform://'.length)] : [],
      ),
    /** Resolves when so many messages have come. */
    received: (count: number): Promise<readonly Message[]> => eventually(() => messages.length >= count && messages),
    /** Resolves when the stream has ended, with the last message. */
    ended,
    leave: () => controller.abort(),
  };
}
