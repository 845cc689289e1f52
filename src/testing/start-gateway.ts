import type { Level, Logger, WriteLine } from '../core/log/logger.ts';
import { createGateway, type GatewayOptions, type SettingsInput } from '../gateway.ts';

/** Where the platform is unless settings say otherwise: nowhere, so that it has to be mocked. */
export const PLATFORM_URL = 'https://platform.example';

/** Settings of a gateway in a test: what is left out is as {@link startGateway} has it. */
export type TestSettings = Omit<SettingsInput, 'upstreams'> & Partial<Pick<SettingsInput, 'upstreams'>>;

/** A line of the log, without its time. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: Level; readonly msg: string };

/** A gateway that answers. */
export interface TestGateway {
  /** Base URL of the public listener, without a trailing slash. */
  readonly url: string;
  /** The log so far, at every level whatever `log.level` says, oldest line first. The newest 10,000 lines are held. */
  readonly log: readonly LogLine[];
  /** Drains, and resolves with whether every request in flight was answered. May be called again. */
  close(): Promise<boolean>;
}

const MAX_LINES = 10_000;

/**
 * Starts Portico in this process, on a free port of the loopback interface. Settings are what you would write in YAML,
 * as an object; left out, the platform is at `PLATFORM_URL` and there is no admin listener. Rejects with `ConfigError`
 * where settings are wrong.
 */
export async function startGateway(
  settings: TestSettings = {},
  options: Pick<GatewayOptions, 'now'> = {},
): Promise<TestGateway> {
  const log: LogLine[] = [];
  const platform = { baseUrl: PLATFORM_URL };
  const gateway = createGateway(
    {
      upstreams: { projects: platform, workflows: platform, tools: platform },
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

/** A logger that keeps each line as whoever reads the log would have parsed it. */
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
