import { z } from 'zod';
import type { ResourceName } from '../../resources/index.ts';
import type { Resource } from '../../resources/resource.ts';
import type { SettingsSlice } from '../settings-slice.ts';
import { AdminSettings, HttpSettings, McpSettings, ShutdownSettings } from './edges.ts';
import { resourceSettings } from './resource/resource-settings.ts';
import { bytes, publicUrl } from './scalars.ts';
import { UpstreamSettings } from './upstream/upstream-settings.ts';
import { VerificationSettings } from './verification-settings.ts';

const upstreamName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, 'must begin with a letter and contain only letters, digits, _ and -');

const LogSettings = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest severity that is logged.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe(
      'Format of log lines: json writes one object per line, pretty is for people, and auto is pretty on a terminal and json elsewhere.',
    ),
});

const CacheSettings = z.strictObject({
  maxBytes: bytes(65_536)
    .default(134_217_728)
    .describe(
      'Size of all stored lists, plain and compressed, plus 2 KiB for each. Beyond: the least recently used is evicted.',
    ),
});

const COMMON = {
  scheme: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*$/, 'must be a URI scheme in lower case (RFC 3986, section 3.1)')
    .default('platform')
    .describe('URI scheme of the resources.'),
  publicUrl: publicUrl
    .optional()
    .describe(
      'URL by which clients reach this server, such as https://portico.example.com; http only for loopback. MCP is at /mcp below it. Unset: taken from the Host header of each request.',
    ),
  watchSettings: z
    .boolean()
    .default(true)
    .describe('Whether the settings file is reloaded when it changes. SIGHUP reloads it in any case.'),
  allowUnverifiedCallers: z
    .boolean()
    .default(false)
    .describe(
      'Allows upstreams with credential kind service or none without verification. Any string is then accepted as a token.',
    ),
  http: HttpSettings.prefault({}).describe('The public listener.'),
  mcp: McpSettings.prefault({}).describe('MCP: POST /mcp on the public listener, and portico stdio.'),
  admin: AdminSettings.prefault({}).describe('The admin listener.'),
  shutdown: ShutdownSettings.prefault({}).describe('Behaviour after SIGTERM or SIGINT.'),
  log: LogSettings.prefault({}).describe('The log on standard output.'),
  verification: VerificationSettings.optional().describe(
    "Verification of callers' access tokens. Unset: Portico does not verify them.",
  ),
  cache: CacheSettings.prefault({}).describe('Memory for stored lists, for all resources together.'),
  upstreams: z.record(upstreamName, UpstreamSettings).describe('Upstream APIs by name.'),
};

type ResourceSettings = z.ZodPrefault<ReturnType<typeof resourceSettings>>;

/** Creates the schema of all settings of one gateway, whose blocks are not compared with each other yet. */
export function settingsShape(registry: readonly Resource[], slices: readonly SettingsSlice[]) {
  const resources = registry.map((resource) => {
    const settings: ResourceSettings = resourceSettings(resource).prefault({}).describe(resource.description);
    return [resource.name, settings] as const;
  });
  return z.strictObject({
    ...COMMON,
    // Only its capability reads a slice.
    ...(Object.fromEntries(slices.map(({ key, schema }) => [key, schema])) as object),
    // Another registry has other names, which nothing asks for by name.
    resources: z
      .strictObject(Object.fromEntries(resources) as Record<ResourceName, ResourceSettings>)
      .prefault({})
      .describe('The resources.'),
  });
}

export type SettingsShape = z.output<ReturnType<typeof settingsShape>>;
