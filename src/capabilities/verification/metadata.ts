import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { publishedOperation } from '../../core/http/operations/published.ts';
import { metadataPaths, type ProtectedResource } from './protected-resource.ts';

/**
 * Returns the metadata of this server as a protected resource (RFC 9728, section 2), for clients without a token.
 * Public, also for pages of any origin.
 */
export function metadataOperations(described: ProtectedResource): readonly OpenOperation[] {
  const { resource, authorizationServers, scopes } = described;
  const metadata = {
    resource,
    authorization_servers: authorizationServers,
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    resource_name: 'Portico',
  };
  return metadataPaths(described).map((path) => publishedOperation(path, metadata, { forAnyPage: true }));
}
