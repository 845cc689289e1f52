/** This server as those know it who issue tokens for it (RFC 9728). */
export interface ProtectedResource {
  /** What a token for it has as its audience, to the letter. */
  readonly resource: string;
  /** Where its metadata is, as clients see it. */
  readonly metadataUrl: string;
  /** Where tokens for it are issued. */
  readonly authorizationServers: readonly string[];
  /** Every scope that a token needs for all that is offered. */
  readonly scopes: readonly string[];
}

export interface ProtectedResourceOptions extends Pick<ProtectedResource, 'authorizationServers' | 'scopes'> {
  /** Where clients find this server. */
  readonly publicUrl: string;
  /** Where the resource lives below it. */
  readonly path: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The well-known part stands between the host of a resource and its path (RFC 9728, section 3.1). */
export function protectedResource(options: ProtectedResourceOptions): ProtectedResource {
  const { publicUrl, path, authorizationServers, scopes } = options;
  const resource = `${publicUrl}${path}`;
  const { origin } = new URL(publicUrl);
  return {
    resource,
    metadataUrl: `${origin}${WELL_KNOWN}${resource.slice(origin.length)}`,
    authorizationServers,
    scopes: [...new Set(scopes)].sort(),
  };
}

/** Paths at which clients look for the metadata: that of the resource, and the root, which MCP adds. */
export function metadataPaths({ metadataUrl }: ProtectedResource): readonly string[] {
  return [new URL(metadataUrl).pathname, WELL_KNOWN];
}
