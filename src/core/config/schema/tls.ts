import { z } from 'zod';
import type { Report } from './cross-check.ts';
import { httpUrl, isBare, printable, userName } from './scalars.ts';

const path = z.string().min(1);

const LISTENER = {
  certFile: path.describe(
    'PEM file of the certificate, followed by its intermediate certificates; reloaded when it changes.',
  ),
  keyFile: path.describe('PEM file of its private key, without a passphrase; reloaded when it changes.'),
  clientCaFile: path
    .optional()
    .describe(
      'PEM file of the authorities that client certificates must be issued by (mTLS); reloaded when it changes. Unset: client certificates are not requested.',
    ),
};

export const ListenerTlsSettings = z.strictObject(LISTENER);

/** TLS to a server. `whom` and `url` are the names of the server and of the setting of its address. */
export function clientTls(whom: string, url: string) {
  return z.strictObject({
    caFile: path
      .optional()
      .describe(
        `PEM file of the authorities that are trusted for ${whom} instead of Node's defaults; reloaded when it changes.`,
      ),
    certFile: path
      .optional()
      .describe(`PEM file of the client certificate for ${whom} (mTLS); reloaded when it changes.`),
    keyFile: path.optional().describe('PEM file of its private key, without a passphrase; reloaded when it changes.'),
    serverName: z
      .string()
      .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'must be a host name, without port')
      .optional()
      .describe(`Name that the certificate of ${whom} must match, also sent as SNI. Unset: the host of ${url}.`),
  });
}

export const UpstreamTlsSettings = clientTls('the upstream', 'baseUrl');

/** Checks that a certificate comes with its key. */
export function checkCertificate(
  tls: { readonly certFile?: string | undefined; readonly keyFile?: string | undefined } | undefined,
  path: readonly string[],
  report: Report,
): void {
  if (tls === undefined || (tls.certFile === undefined) === (tls.keyFile === undefined)) return;
  report([...path, tls.certFile === undefined ? 'keyFile' : 'certFile'], 'needs both certFile and keyFile');
}

export const UpstreamProxySettings = z.strictObject({
  url: httpUrl('must be an http or https URL')
    .refine(
      (url) => isBare(url) && new URL(url).pathname === '/',
      'must consist of scheme, host and port only; user and password are separate keys',
    )
    .describe('URL of the proxy, such as http://proxy.internal:3128. It must support CONNECT.'),
  user: userName.optional().describe('User name for the proxy, sent with password as Basic credentials.'),
  password: printable.optional().describe('Password of that user, from the environment.'),
});
