import type { Level, Logger, WriteLine } from '../core/log/logger.ts';
import { createGateway, type GatewayOptions, type SettingsInput } from '../gateway.ts';

/** Default address of the platform. It does not exist, so it must be mocked. */
export const PLATFORM_URL = 'https://platform.example';

/** Settings of a gateway in a test, with the defaults of {@link startGateway}. */
export type TestSettings = Omit<SettingsInput, 'upstreams'> & Partial<Pick<SettingsInput, 'upstreams'>>;

/** A log line without its time. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: Level; readonly msg: string };

/** A running gateway. */
export interface TestGateway {
  /** Base URL of the public listener, without a trailing slash. */
  readonly url: string;
  /** The newest 10,000 log lines, at every level whatever `log.level` is, oldest first. */
  readonly log: readonly LogLine[];
  /** Drains. Resolves with whether every request in flight was answered. Can be called again. */
  close(): Promise<boolean>;
}

const MAX_LINES = 10_000;

/**
 * Starts Portico in this process on a free loopback port. Settings are the YAML settings as an object; by default the
 * platform is at `PLATFORM_URL`, without an admin listener. Rejects with `ConfigError` for invalid settings.
 */
export async function startGateway(
  settings: TestSettings = {},
  options: Pick<GatewayOptions, 'now' | 'limits'> = {},
): Promise<TestGateway> {
  const log: LogLine[] = [];
  const platform = { baseUrl: PLATFORM_URL };
  const gateway = createGateway(
    {
      upstreams: { projects: platform, workflows: platform, tools: platform },
      // Its requests depend on the lists, so that mocks could not foresee them.
      confirmation: { enabled: false },
      ...settings,
      http: { port: 0, ...settings.http },
      admin: { enabled: false, port: 0, ...settings.admin },
    },
    { ...options, logger: logInto(log) },
  );
  let closed: Promise<boolean> | undefined;
  return {
    url: await gateway.start(),
    log,
    close() {
      closed ??= gateway.close();
      return closed;
    },
  };
}

function logInto(log: LogLine[]): Logger {
  const at =
    (level: Level): WriteLine =>
    (fields: object | string, message?: string) => {
      const line = typeof fields === 'string' ? { msg: fields } : { ...fields, msg: message };
      if (log.length === MAX_LINES) log.shift();
      log.push(JSON.parse(JSON.stringify({ level, ...line })));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}
