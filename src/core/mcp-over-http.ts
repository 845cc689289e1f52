import type { Config } from './config/schema/settings.ts';
import type { Core } from './core.ts';
import { MCP_PATH, type RpcHandler, type RpcOptions } from './http/operations/rpc.ts';
import { createChallenge, type TokenSource } from './http/response/problem.ts';
import type { Events } from './kernel/events.ts';
import { readVersion } from './kernel/version.ts';
import type { Dispatch } from './mcp/dispatch.ts';
import type { Watch } from './reads/catalogue/catalogue.ts';
import type { Representations } from './reads/representations/representations.ts';

interface RpcParts {
  readonly representations: Representations;
  readonly events: Events;
  readonly tokenSource: TokenSource | undefined;
  readonly wrapDispatch: (dispatch: Dispatch) => Dispatch;
  readonly watch: Watch | undefined;
  readonly now: () => number;
}

/** The SDK is loaded with the first request, because it takes time and memory. */
export function rpcOptions(
  config: Config,
  core: Core,
  { tokenSource, ...parts }: RpcParts,
): Omit<RpcOptions, 'heldBytes' | 'spend' | 'otherCredentials'> {
  let handler: RpcHandler | undefined;
  const challenge = tokenSource && createChallenge(tokenSource);

  return {
    path: MCP_PATH,
    maxBodyBytes: config.mcp.maxBodyBytes,
    publicLists: config.mcp.publicLists,
    isRejected: core.isRejected,
    refuseRate: async (error, requestId) => (await import('./mcp/rpc-handler.ts')).refusal(error, requestId),
    async open() {
      const { createRpcHandler } = await import('./mcp/rpc-handler.ts');
      const { catalogue } = core;
      handler ??= createRpcHandler({ ...config.mcp, ...parts, catalogue, challenge, version: readVersion() });
      return handler;
    },
  };
}
