export interface GivenTool {
  /** As the model has to call it. */
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
  /** What was sent; it may have other tools, too. */
  readonly sent: Json;
}

/** What a model is given by a host, whatever the API. */
export interface Given {
  readonly tools: readonly GivenTool[];
  /** Results of all calls so far, oldest first, as the model reads them. */
  readonly results: readonly string[];
}

/** What a model replies: a call, or the last words. */
export type Reply = { readonly tool: string; readonly args: object } | { readonly text: string };

/** One API of models over HTTP: what its requests give a model, and how a reply is written. */
export interface Dialect {
  readonly path: RegExp;
  read(body: Json): Given;
  /** Events of a stream, or the whole body where none is requested. `id` is unique in the conversation. */
  write(reply: Reply, id: string, isStream: boolean): readonly Json[];
  /** Whether each event is preceded by a line with its type. */
  readonly namesEvents?: boolean;
  readonly end?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: requests of programs that are not ours, read where a test needs them.
export type Json = any;

const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Text of content that is text already, or blocks of it. */
function textIn(content: Json): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((block) => block.text ?? JSON.stringify(block)).join('')
    : JSON.stringify(content);
}

const messages: Dialect = {
  path: /\/messages$/,
  namesEvents: true,
  read: ({ tools = [], messages: history = [] }) => ({
    tools: tools.map(({ defer_loading: _, ...sent }: Json) => {
      const { name, description, input_schema: schema } = sent;
      return { name, description, schema, sent };
    }),
    results: history
      .flatMap(({ content }: Json) => (Array.isArray(content) ? content : []))
      .filter(({ type }: Json) => type === 'tool_result')
      .map(({ content }: Json) => textIn(content)),
  }),
  write(reply, id, isStream) {
    const isCall = 'tool' in reply;
    const stop_reason = isCall ? 'tool_use' : 'end_turn';
    const block = isCall
      ? { type: 'tool_use', id, name: reply.tool, input: {} }
      : { type: 'text', text: isStream ? '' : reply.text };
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [] as object[],
      usage: USAGE,
    };
    if (!isStream) return [{ ...message, content: [block], stop_reason }];
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) }
      : { type: 'text_delta', text: reply.text };
    return [
      { type: 'message_start', message: { ...message, stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: USAGE },
      { type: 'message_stop' },
    ];
  },
};

const responses: Dialect = {
  path: /\/responses$/,
  namesEvents: true,
  read: ({ tools = [], input = [] }) => ({
    tools: tools.flatMap((sent: Json) =>
      sent.type === 'namespace'
        ? sent.tools.map(({ name, description, parameters: schema }: Json) => ({
            ...{ name: `${sent.name} ${name}`, description, schema, sent },
          }))
        : [{ name: sent.name ?? sent.type, description: sent.description, schema: sent.parameters, sent }],
    ),
    results: (Array.isArray(input) ? input : [])
      .filter(({ type }: Json) => type === 'function_call_output')
      .map(({ output }: Json) => textIn(output)),
  }),
  write(reply, id) {
    const item =
      'tool' in reply
        ? functionCall(reply, id)
        : {
            type: 'message',
            role: 'assistant',
            id,
            content: [{ type: 'output_text', text: reply.text, annotations: [] }],
          };
    const response = { id, object: 'response', status: 'in_progress', model: 'scripted', output: [] as object[] };
    const usage = { ...USAGE, total_tokens: 2, input_tokens_details: null, output_tokens_details: null };
    return [
      { type: 'response.created', response },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [item], usage } },
    ];
  },
};

/** A tool in a namespace is named with it, and a space between the two. */
function functionCall({ tool, args }: { tool: string; args: object }, id: string) {
  const [name, namespace] = tool.split(' ').reverse();
  return {
    type: 'function_call',
    id,
    call_id: id,
    name,
    ...(namespace && { namespace }),
    arguments: JSON.stringify(args),
  };
}

const completions: Dialect = {
  path: /\/chat\/completions$/,
  end: '[DONE]',
  read: ({ tools = [], messages: history = [] }) => ({
    tools: tools.map((sent: Json) => {
      const { name, description, parameters: schema } = sent.function;
      return { name, description, schema, sent };
    }),
    results: history.filter(({ role }: Json) => role === 'tool').map(({ content }: Json) => textIn(content)),
  }),
  write(reply, id, isStream) {
    const said =
      'tool' in reply
        ? {
            content: null,
            tool_calls: [
              { index: 0, id, type: 'function', function: { name: reply.tool, arguments: JSON.stringify(reply.args) } },
            ],
          }
        : { content: reply.text };
    const finish_reason = 'tool' in reply ? 'tool_calls' : 'stop';
    const whole = { id, created: 0, model: 'scripted' };
    const message = { role: 'assistant', ...said };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (!isStream)
      return [{ ...whole, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage }];
    const chunk = { ...whole, object: 'chat.completion.chunk' };
    return [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ];
  },
};

const contents: Dialect = {
  path: /:(?:streamG|g)enerateContent$/,
  read: ({ tools = [], contents: history = [] }) => ({
    tools: tools
      .flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations)
      .map((sent: Json) => {
        const { name, description, parametersJsonSchema, parameters } = sent;
        return { name, description, schema: parametersJsonSchema ?? parameters, sent };
      }),
    results: history
      .flatMap(({ parts = [] }: Json) => parts)
      .filter(({ functionResponse }: Json) => functionResponse !== undefined)
      .map(({ functionResponse: { response } }: Json) => textIn(response.output ?? response.error ?? response)),
  }),
  write: (reply, id) => [
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: ['tool' in reply ? { functionCall: { id, name: reply.tool, args: reply.args } } : reply],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: 'scripted',
    },
  ],
};

export const DIALECTS: readonly Dialect[] = [messages, responses, completions, contents];
