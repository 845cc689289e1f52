import type { Reply } from './dialects.ts';

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
  /** Other files, from the home folder, for this model. A text for the file of the settings is put before them. */
  readonly files?: (model: string) => Readonly<Record<string, string>>;
  /** Arguments and environment of a run without a person, with this model. */
  readonly run: (model: string) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** The call that searches for tools which the host gives a model by name only, and loads their definitions. */
  readonly load?: (query: string) => Reply;
  /** Tool by which the model calls these. @default they become tools as all others */
  readonly callBy?: string;
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
  files: () => ({
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
  run: (model) => ({
    args: ['--approval-mode', 'yolo', '--model', 'gemini-2.5-pro', '-p', PROMPT],
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  }),
};

const QWEN: Host = {
  name: 'Qwen Code',
  package: ['@qwen-code/qwen-code', 'qwen'],
  version: '0.24.4',
  settings: ['json', `${WORK}/.qwen/settings.json`],
  files: () => ({
    '.qwen/settings.json': JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
  run: (model) => ({
    args: ['--auth-type', 'openai', '--approval-mode', 'yolo', PROMPT],
    env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: 'scripted' },
  }),
  load: (query) => ({ tool: 'tool_search', args: { query } }),
  callBy: 'tool_call',
};

const COPILOT: Host = {
  name: 'Copilot CLI',
  package: ['@github/copilot', 'copilot'],
  version: '1.0.102',
  settings: ['json', '.copilot/mcp-config.json'],
  run: (model) => ({
    args: ['--allow-all-tools', '--disable-builtin-mcps', '-p', PROMPT],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: 'scripted',
    },
  }),
};

const CLINE: Host = {
  name: 'Cline CLI',
  package: ['cline', 'cline'],
  version: '3.0.65',
  settings: ['json', '.cline/data/settings/cline_mcp_settings.json'],
  files: (model) => {
    const provider = 'openai-compatible';
    const settings = { provider, apiKey: KEY, model: 'scripted', baseUrl: `${model}/v1` };
    const providers = { [provider]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' } };
    return {
      '.cline/data/settings/providers.json': JSON.stringify({
        ...{ version: 1, lastUsedProvider: provider, modes: {}, providers },
      }),
    };
  },
  run: () => ({ args: [PROMPT], env: { CLINE_SESSION_BACKEND_MODE: 'local' } }),
};

const CONTINUE: Host = {
  name: 'Continue CLI',
  package: ['@continuedev/cli', 'cn'],
  version: '1.5.47',
  settings: ['yaml', '.continue/config.yaml'],
  files: (model) => ({
    '.continue/config.yaml': `
name: test
version: 1.0.0
schema: v1
models:
  - { name: scripted, provider: openai, model: gpt-4o, apiKey: ${KEY}, apiBase: '${model}/v1' }
`,
  }),
  run: () => ({
    args: ['--config', '../.continue/config.yaml', '--auto', '-p', PROMPT],
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  }),
};

export const HOSTS: readonly Host[] = [...[CLAUDE_CODE, CODEX, OPENCODE, GEMINI], ...[QWEN, COPILOT, CLINE, CONTINUE]];
