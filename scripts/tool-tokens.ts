import { startDemoPlatform, startGateway } from '../src/portico-testing.ts';

// Counts what the tools cost a model: their definitions, as hosts send them with each request, and ten questions to the demo
// platform, each with the calls of a model that uses the tools well. It prints a table by host.

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly [member: string]: unknown;
}

/** What a host gives its model. A test compares it with what the host sends (`test/hosts`). */
interface Host {
  /** Begins the names of tools. */
  readonly prefix: string;
  /** Definitions of tools with these names, as the host sends them. */
  readonly definitions: (tools: readonly Tool[], instructions: string) => readonly object[];
  readonly result: (result: Result) => string;
}

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: object;
  readonly _meta: object;
}

const textOf = ({ content }: Result) => content.map(({ text }) => text).join('');
const dataOf = ({ structuredContent }: Result) => JSON.stringify(structuredContent);
const bothOf = (result: Result) => [...new Set([textOf(result), dataOf(result)])].join('\n');

const WAIT_FOR_PREVIOUS = {
  type: 'boolean',
  description:
    'Set to true to wait for all previously requested tools in this turn to complete before starting. Set to false (or omit) to run in parallel. Use true when this tool depends on the output of previous tools.',
};

/** Members of a schema that Codex sends (`codex-rs/tools/src/json_schema.rs`). */
const OF_CODEX = ['type', 'description', 'enum', 'items', 'properties', 'required', 'additionalProperties', 'anyOf'];

/** In the form of Chat Completions, with these members beside those of each schema. */
function chatTools(tools: readonly Tool[], more: object = {}): readonly object[] {
  return tools.map(({ name, description, inputSchema }) => ({
    ...{ type: 'function', function: { name, description, parameters: { ...inputSchema, ...more } } },
  }));
}

export const HOSTS: Readonly<Record<string, Host>> = {
  'Claude Code': {
    prefix: 'mcp__portico__',
    definitions: (tools) =>
      tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    result: dataOf,
  },
  Codex: {
    prefix: '',
    definitions(tools, instructions) {
      const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const functions = sorted.map(({ name, description, inputSchema }) => ({
        ...{ type: 'function', name, description, strict: false, parameters: sentByCodex(inputSchema) },
      }));
      return [{ type: 'namespace', name: 'mcp__portico', description: instructions, tools: functions }];
    },
    result: dataOf,
  },
  opencode: {
    prefix: 'portico_',
    definitions: (tools) => chatTools(tools, { additionalProperties: false }),
    result: textOf,
  },
  'Gemini CLI': {
    prefix: 'mcp_portico_',
    definitions: (tools) =>
      tools.map(({ name, description, inputSchema }) => {
        const properties = { ...inputSchema.properties, wait_for_previous: WAIT_FOR_PREVIOUS };
        return { name, description, parametersJsonSchema: { ...inputSchema, properties } };
      }),
    result: textOf,
  },
  'Qwen Code': {
    prefix: 'mcp__portico__',
    definitions: (tools) =>
      tools.map(({ name, description, inputSchema }) => ({ name, description, parametersJsonSchema: inputSchema })),
    result: bothOf,
  },
  'Copilot CLI': { prefix: 'portico-', definitions: (tools) => chatTools(tools), result: bothOf },
  'Cline CLI': {
    prefix: 'portico__',
    definitions: (tools) => chatTools(tools),
    result: ({ _meta, content, structuredContent }) => JSON.stringify({ _meta, content, structuredContent }),
  },
  'Continue CLI': {
    prefix: '',
    definitions: (tools) => chatTools(tools),
    result: ({ content }) => JSON.stringify(content),
  },
};

function sentByCodex(schema: Schema): Schema {
  const { items, properties = {} } = schema;
  const reduced = Object.entries(properties).map(([name, property]) => [name, sentByCodex(property)]);
  return {
    ...Object.fromEntries(OF_CODEX.flatMap((member) => (member in schema ? [[member, schema[member]]] : []))),
    ...(items && { items: sentByCodex(items) }),
    ...('properties' in schema && { properties: Object.fromEntries(reduced) }),
  };
}

const [PROJECTS, WORKFLOWS, TOOLS] = ['list_projects', 'list_installed_workflows', 'list_installed_tools'];

type Call = readonly [tool: string | undefined, args: object];

const QUESTIONS: Readonly<Record<string, readonly Call[]>> = {
  'Which projects may I see?': [[PROJECTS, { fields: 'id,name' }]],
  'Which project handles payments?': [[PROJECTS, { query: 'payment' }]],
  'How many tools are installed?': [[TOOLS, { limit: 0 }]],
  'Which code scanners are installed?': [[TOOLS, { category: 'CODE_SCANNER', fields: 'name,version' }]],
  'Which version of Semgrep is installed?': [[TOOLS, { query: 'semgrep', fields: 'name,version' }]],
  'How many tools are there of each category?': [[TOOLS, { count_by: 'category', limit: 0 }]],
  'Which playbooks are active?': [[WORKFLOWS, { status: 'ACTIVE', fields: 'id,name' }]],
  'Which automations are started by hand?': [[WORKFLOWS, { triggerType: 'MANUAL' }]],
  'What does the perimeter scan do?': [[WORKFLOWS, { query: 'perimeter' }]],
  'What is there?': [PROJECTS, WORKFLOWS, TOOLS].map((tool): Call => [tool, {}]),
};

/** Parameters of the first message. */
export const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'tool-tokens', version: '1' },
};

type CountTokens = (text: string) => number;

/** Loads the tokenizer, whose vocabulary is large. */
export async function loadTokenizer(): Promise<CountTokens> {
  const name: string = 'gpt-tokenizer/encoding/o200k_base';
  return (await import(name)).countTokens;
}

/** Returns the table by host, in Markdown. */
export async function tokenTable(countTokens: CountTokens): Promise<string> {
  const platform = await startDemoPlatform();
  const { url, close } = await startGateway({ upstreams: platform.upstreams, log: { level: 'silent' } });
  const ask = async (method: string, params: object) => {
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return JSON.parse(await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).text()).result;
  };
  try {
    const { tools } = await ask('tools/list', {});
    const { instructions } = await ask('initialize', INITIALIZE);
    const calls: (readonly [tool: string, args: string, result: Result])[] = [];
    for (const [tool = '', args] of Object.values(QUESTIONS).flat()) {
      calls.push([tool, JSON.stringify(args), await ask('tools/call', { name: tool, arguments: args })]);
    }
    const page = (format: string): Promise<Result> =>
      ask('tools/call', { name: TOOLS, arguments: { format, limit: 50 } });
    const [items, table] = [await page('items'), await page('table')];
    const rows = Object.entries(HOSTS).map(([name, { prefix, definitions, result }]) => {
      const named = tools.map((tool: Tool) => ({ ...tool, name: `${prefix}${tool.name}` }));
      const texts = calls.flatMap(([tool, args, given]) => [`${prefix}${tool}`, args, result(given)]);
      const asked = texts.reduce((sum, text) => sum + countTokens(text), 0);
      const defined = countTokens(JSON.stringify(definitions(named, instructions)));
      const [asItems, asTable] = [items, table].map((given) => countTokens(result(given)));
      return `| ${name} | ${defined} | ${asked} | ${asItems} | ${asTable} |`;
    });
    const head = ['| Host | Definitions | Ten questions | 44 items | 44 rows of a table |', '|---|---|---|---|---|'];
    return [...head, ...rows].join('\n');
  } finally {
    await close();
    await platform.close();
  }
}

if (import.meta.main) process.stdout.write(`${await tokenTable(await loadTokenizer())}\n`);
