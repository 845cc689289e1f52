import { type Operation, publishedOperation } from '../../core/http/operations/operation.ts';
import { MCP_PATH } from '../../core/http/operations/rpc.ts';

/** This server as a protected resource (RFC 9728). `resource` is the audience of its tokens, exactly. */
export type ProtectedResource = ReturnType<typeof protectedResource>;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The well-known part is inserted between host and path (RFC 9728, section 3.1). */
export function protectedResource(
  publicUrl: string,
  authorizationServers: readonly string[],
  scopes: readonly string[],
) {
  const resource = `${publicUrl}${MCP_PATH}`;
  const { origin } = new URL(publicUrl);
  const metadataUrl = `${origin}${WELL_KNOWN}${resource.slice(origin.length)}`;
  return { resource, metadataUrl, authorizationServers, scopes: [...new Set(scopes)].sort() };
}

/** The metadata of this server as a protected resource (RFC 9728, section 2). Public, also for pages of any origin. */
export function metadataOperations(described: ProtectedResource): readonly Operation[] {
  const { resource, metadataUrl, authorizationServers, scopes } = described;
  const metadata = {
    resource,
    authorization_servers: authorizationServers,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    resource_name: 'Portico',
  };
  // RFC 9728 has it at the path of the resource, and MCP also at the root.
  const paths = [new URL(metadataUrl).pathname, WELL_KNOWN];
  return paths.map((path) => publishedOperation(path, metadata, { forAnyPage: true }));
}
