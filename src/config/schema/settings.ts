import { z } from 'zod';
import { RESOURCES, type ResourceName } from '../../resources/index.ts';
import { CacheSettings } from './cache.ts';
import { crossCheck, EVEN_AFTER_MISTAKES, keysOf } from './cross-check.ts';
import { AdminSettings, HttpSettings, LogSettings, ShutdownSettings } from './listeners.ts';
import { McpSettings } from './mcp.ts';
import { resourceSettings } from './resource.ts';
import { UpstreamSettings } from './upstream.ts';

type ResourceSettings = ReturnType<typeof resourceSettings>;

const resources = Object.fromEntries(
  RESOURCES.map((resource) => [resource.name, resourceSettings(resource).prefault({}).describe(resource.description)]),
) as Record<ResourceName, z.ZodPrefault<ResourceSettings>>;

const upstreamName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, 'must begin with a letter and hold letters, digits, _ and - only')
  .refine((name) => !(name in {}), 'is a name that JavaScript keeps for itself');

const Shape = z.strictObject({
  scheme: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*$/, 'must be a URI scheme in lower case (RFC 3986, section 3.1)')
    .default('platform')
    .describe('Scheme of the resource URIs.'),
  http: HttpSettings.prefault({}).describe('The public listener.'),
  mcp: McpSettings.prefault({}).describe('MCP: POST /mcp on the public listener, and portico stdio.'),
  admin: AdminSettings.prefault({}).describe('The admin listener.'),
  shutdown: ShutdownSettings.prefault({}).describe('What happens after SIGTERM or SIGINT.'),
  log: LogSettings.prefault({}).describe('The log on standard output.'),
  cache: CacheSettings.prefault({}).describe('What stored answers may take up, all resources together.'),
  allowUnverifiedCallers: z
    .boolean()
    .default(false)
    .describe('Lets an upstream have credential kind none, although any string would then be let in as a token.'),
  upstreams: z.record(upstreamName, UpstreamSettings).describe('The remote APIs, by name.'),
  resources: z.strictObject(resources).prefault({}).describe('The three resources.'),
});

const checkReferences = crossCheck<z.output<typeof Shape>>((settings, report) => {
  if (typeof settings?.upstreams !== 'object') return;
  const names = keysOf(settings.upstreams);
  for (const [name, resource] of Object.entries(settings.resources ?? {})) {
    const upstream = resource?.upstream;
    if (typeof upstream === 'string' && !names.includes(upstream)) {
      const known =
        names.length === 0 ? 'there is none' : `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`;
      report(['resources', name, 'upstream'], `must be a key of upstreams: ${known}`);
    }
  }
});

const checkCallers = crossCheck<z.output<typeof Shape>>((settings, report) => {
  if (settings?.allowUnverifiedCallers === true) return;
  for (const [name, upstream] of Object.entries(settings?.upstreams ?? {})) {
    if (upstream?.credential?.kind === 'none') {
      report(
        ['upstreams', name, 'credential', 'kind'],
        'none lets any caller in, verified by nobody: set allowUnverifiedCallers: true if that is meant',
      );
    }
  }
});

const checkPorts = crossCheck<z.output<typeof Shape>>((settings, report) => {
  const { http, admin } = settings ?? {};
  if (http?.socketPath !== undefined || admin?.enabled !== true || admin.port === 0) return;
  if (http?.port === admin.port && http?.host === admin.host) {
    report(['admin', 'port'], 'must not be http.port: the admin listener has a port of its own');
  }
});

/** All settings of one gateway. Unknown keys are refused at every level. */
export const Settings = Shape.superRefine(checkReferences, EVEN_AFTER_MISTAKES)
  .superRefine(checkCallers, EVEN_AFTER_MISTAKES)
  .superRefine(checkPorts, EVEN_AFTER_MISTAKES);

/** Settings as a person writes them: everything with a default may be left out. */
export type SettingsInput = z.input<typeof Settings>;

/** Settings as the program uses them: validated, every default filled in. */
export type Config = z.output<typeof Settings>;
