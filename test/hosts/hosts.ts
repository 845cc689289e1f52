import type { Reply } from './dialects.ts';

/** A program that offers Portico's tools to a model. */
export interface Host {
  /** Heading of its section in docs/clients.md, and first cell of its row there. */
  readonly name: string;
  /** In the registry of npm, and the command that it installs. */
  readonly package: readonly [name: string, command: string];
  readonly version: string;
  /** Version of Node that it needs, where that is not the one of this run. */
  readonly node?: string;
  /** Language of its settings in the docs, and their file, from the home folder. */
  readonly settings: readonly [language: string, file: string];
  /** Other files, from the home folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Arguments and environment of a run without a person, with this model. */
  readonly run: (model: string) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** The call that searches for tools which the host gives a model by name only, and loads their definitions. */
  readonly load?: (query: string) => Reply;
}

const PROMPT = 'List what is installed.';
const KEY = 'key-of-the-model';

/** Folder in which each works, below its home. */
export const WORK = 'work';

const CLAUDE_CODE: Host = {
  name: 'Claude Code',
  package: ['@anthropic-ai/claude-code', 'claude'],
  version: '2.1.330',
  settings: ['json', `${WORK}/.mcp.json`],
  run: (model) => ({
    args: ['-p', PROMPT, '--mcp-config', '.mcp.json', '--strict-mcp-config', '--allowedTools', 'mcp__portico'],
    env: {
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
  load: (query) => ({ tool: 'ToolSearch', args: { query, max_results: 5 } }),
};

const CODEX: Host = {
  name: 'Codex',
  package: ['@openai/codex', 'codex'],
  version: '0.169.0',
  settings: ['toml', '.codex/config.toml'],
  run: (model) => ({
    args: [
      ...['exec', '--skip-git-repo-check', PROMPT],
      ...['-c', 'model="scripted"', '-c', 'model_provider="scripted"', '-c', 'analytics.enabled=false'],
      ...['-c', `model_providers.scripted={name="scripted",base_url="${model}/v1",wire_api="responses"}`],
    ],
    env: {},
  }),
};

const OPENCODE: Host = {
  name: 'opencode',
  package: ['opencode-ai', 'opencode'],
  version: '1.18.33',
  settings: ['json', `${WORK}/opencode.json`],
  run: (model) => ({
    args: ['run', PROMPT],
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        model: 'scripted/scripted',
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${model}/v1`, apiKey: KEY },
            models: { scripted: {} },
          },
        },
      }),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    },
  }),
};

const GEMINI: Host = {
  name: 'Gemini CLI',
  package: ['@google/gemini-cli', 'gemini'],
  version: '0.61.0',
  node: '24.21.0',
  settings: ['json', `${WORK}/.gemini/settings.json`],
  files: {
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  },
  run: (model) => ({
    args: ['--approval-mode', 'yolo', '--model', 'gemini-2.5-pro', '-p', PROMPT],
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  }),
};

export const HOSTS: readonly Host[] = [CLAUDE_CODE, CODEX, OPENCODE, GEMINI];
