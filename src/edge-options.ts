import type { Config } from './core/config/schema/settings.ts';
import { type Core, longestReadMs } from './core/core.ts';
import type { GatewayState, Hooks } from './core/hooks.ts';
import type { AdminEdgeOptions, PublicEdgeOptions } from './core/http/listeners.ts';
import { MCP_PATH } from './core/http/operations/rpc.ts';
import { createChallenge } from './core/http/response/problem.ts';
import type { Events } from './core/kernel/events.ts';
import { readVersion } from './core/kernel/version.ts';
import { createRpcHandler, type RpcHandler } from './core/mcp/rpc-handler.ts';
import type { Representations } from './core/reads/representations/representations.ts';
import { type ListenerFiles, withFiles } from './core/secret-files.ts';

/** Everything that a reload replaces. */
interface Running {
  readonly config: Config;
  readonly core: Core;
  readonly hooks: Hooks;
  readonly tls: ListenerFiles;
}

interface LastingOptions {
  readonly events: Events;
  readonly isDraining: () => boolean;
  readonly representations: Representations;
  /** Fewer connections than in settings. @default those of settings */
  readonly maxConnections: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Returns the options of both listeners for a core, at the start and after each reload. */
export function createEdgeOptions({ events, isDraining, representations, maxConnections, now }: LastingOptions) {
  /** The handler is made for the first message: the schemas of its tools take 30 ms. */
  function rpcOf({ config: { mcp }, core: { catalogue }, hooks }: Running): PublicEdgeOptions['rpc'] {
    const { wrapDispatch, watch, verifier: { tokenSource } = {} } = hooks;
    let handler: RpcHandler | undefined;
    const parts = { ...mcp, representations, events, wrapDispatch, watch, now, catalogue, version: readVersion() };
    return {
      path: MCP_PATH,
      maxBodyBytes: mcp.maxBodyBytes,
      publicLists: mcp.publicLists,
      handle(...message) {
        handler ??= createRpcHandler({ ...parts, challenge: tokenSource && createChallenge(tokenSource) });
        return handler(...message);
      },
    };
  }

  return {
    ofPublic(running: Running): PublicEdgeOptions {
      const { config, core, hooks, tls } = running;
      const { authenticate, credentialHeaders, forwardedHeaders, catalogue } = core;
      return {
        ...{ events, isDraining, authenticate, credentialHeaders, forwardedHeaders, catalogue, representations, now },
        settings: {
          ...config.http,
          ...(maxConnections !== undefined && { maxConnections }),
          tls: withFiles(config.http.tls, tls.http),
          publicUrl: config.publicUrl,
          // A page that reached this by a name of its own has no token that is verified (docs/decisions/0005).
          acceptsAnyHost: config.verification !== undefined && config.http.allowedHosts === undefined,
        },
        users: core,
        hooks,
        operations: hooks.operations(stateOf(running)),
        readDeadlineMs: longestReadMs(config),
        tokenSource: hooks.verifier?.tokenSource,
        rpc: config.mcp.enabled ? rpcOf(running) : undefined,
      };
    },
    ofAdmin(running: Running): AdminEdgeOptions {
      const { config, core, hooks, tls } = running;
      return {
        ...{ events, isDraining, authenticate: core.authenticate },
        settings: { ...config.admin, tls: withFiles(config.admin.tls, tls.admin) },
        operations: hooks.adminOperations(stateOf(running)),
      };
    },
  };
}

function stateOf({ config, core, hooks }: Running): GatewayState {
  const { catalogue, credentialHeaders, forwardedHeaders } = core;
  return {
    ...{ config, credentialHeaders, forwardedHeaders, offered: catalogue.offered },
    mcpPath: config.mcp.enabled ? MCP_PATH : undefined,
    signsIn: hooks.verifier?.tokenSource !== undefined,
  };
}
