/** This server as a protected resource (RFC 9728). */
export interface ProtectedResource {
  /** The audience of its tokens, exactly. */
  readonly resource: string;
  /** Public URL of its metadata. */
  readonly metadataUrl: string;
  /** Authorization servers that issue its tokens. */
  readonly authorizationServers: readonly string[];
  /** All scopes required by offered resources. */
  readonly scopes: readonly string[];
}

export interface ProtectedResourceOptions extends Pick<ProtectedResource, 'authorizationServers' | 'scopes'> {
  /** Public URL of this server. */
  readonly publicUrl: string;
  /** Path of the resource below it. */
  readonly path: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The well-known part is inserted between host and path (RFC 9728, section 3.1). */
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

/** Paths of the metadata: the resource's, and the root, which MCP adds. */
export function metadataPaths({ metadataUrl }: ProtectedResource): readonly string[] {
  return [new URL(metadataUrl).pathname, WELL_KNOWN];
}
