import { isIP } from 'node:net';
import { z } from 'zod';

/** What a listener binds to. */
export const listenHost = z
  .string()
  .refine(
    (host) => isIP(host) !== 0 || /^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(host),
    'must be an IP address or a host name, without port',
  );

/** Path of a unix socket. No system takes more than 103 bytes for certain (`sun_path` of unix(7) and of macOS). */
export const socketPath = z
  .string()
  .min(1)
  .refine((path) => Buffer.byteLength(path) <= 103, 'must be at most 103 bytes long');

/** A `Host` header value (RFC 9110, section 7.2). */
export const hostWithPort = z
  .string()
  .regex(
    /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/,
    'must be a host or host:port, such as portico.internal:8080',
  );

/** A web origin as browsers send it (RFC 6454, section 6.2). */
export const webOrigin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin as browsers send it: scheme, host and any unusual port, such as https://app.example.com',
  );
