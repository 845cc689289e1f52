import { type ProtectedResource, protectedResource } from '../capabilities/verification/protected-resource.ts';
import type { Config } from './config/schema/settings.ts';
import type { Core } from './core.ts';
import type { RpcHandler, RpcOptions } from './http/operations/rpc.ts';
import { createChallenge } from './http/response/problem.ts';
import type { Events } from './kernel/events.ts';
import { readVersion } from './kernel/version.ts';
import type { Dispatch } from './mcp/dispatch.ts';
import type { Representations } from './reads/representations/representations.ts';

/** Where MCP is spoken. */
export const MCP_PATH = '/mcp';

/** What this server is to those who issue tokens for it, where settings name them. */
export function protectedResourceOf(
  { publicUrl, verification }: Config,
  { catalogue }: Core,
): ProtectedResource | undefined {
  const { authorizationServers = [] } = verification ?? {};
  if (publicUrl === undefined || authorizationServers.length === 0) return undefined;
  const scopes = catalogue.offered.flatMap(({ requiredScopes }) => requiredScopes);
  return protectedResource({ publicUrl, path: MCP_PATH, authorizationServers, scopes });
}

interface RpcParts {
  readonly representations: Representations;
  readonly events: Events;
  readonly wrapDispatch: (dispatch: Dispatch) => Dispatch;
  readonly now: () => number;
}

/** MCP over HTTP. The SDK takes a while to load and a good deal of memory, so that it waits for the first who asks. */
export function rpcOptions(
  config: Config,
  core: Core,
  parts: RpcParts,
): Omit<RpcOptions, 'heldBytes' | 'spend' | 'otherCredentials'> {
  let loaded: RpcHandler | undefined;
  const resource = protectedResourceOf(config, core);
  const challenge = resource && createChallenge(resource);
  async function load(): Promise<RpcHandler> {
    const { createRpcHandler } = await import('./mcp/rpc-handler.ts');
    loaded ??= createRpcHandler({
      ...config.mcp,
      ...parts,
      catalogue: core.catalogue,
      challenge,
      version: readVersion(),
    });
    return loaded;
  }
  return {
    path: MCP_PATH,
    maxBodyBytes: config.mcp.maxBodyBytes,
    publicLists: config.mcp.publicLists,
    refuseRate: async (error, requestId) => (await import('./mcp/rpc-handler.ts')).refusal(error, requestId),
    handle: (request) => (loaded === undefined ? load().then((handle) => handle(request)) : loaded(request)),
  };
}
