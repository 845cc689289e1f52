import { z } from 'zod';
import type { Report, Unchecked } from './cross-check.ts';
import { userName } from './scalars.ts';

const path = z.string().min(1);

const LISTENER = {
  certFile: path.describe(
    'PEM file of the certificate, and behind it of those between it and its authority; read anew when it changes.',
  ),
  keyFile: path.describe('PEM file of its private key, without a passphrase; read anew when it changes.'),
  clientCaFile: path
    .optional()
    .describe(
      'PEM file of the authorities whose certificates clients must show (mTLS); read anew when it changes. Unset: none is asked for.',
    ),
};

/** How a listener speaks TLS. */
export const ListenerTls = z.strictObject(LISTENER);

/** Settings of TLS to a server. `whom` and `url` are the names of the server and of the setting of its address. */
export function clientTls(whom: string, url: string) {
  return z.strictObject({
    caFile: path
      .optional()
      .describe(
        `PEM file of the authorities that ${whom} is believed by, in place of those that Node knows; read anew when it changes.`,
      ),
    certFile: path
      .optional()
      .describe(`PEM file of the certificate that ${whom} is shown (mTLS); read anew when it changes.`),
    keyFile: path.optional().describe('PEM file of its private key, without a passphrase; read anew when it changes.'),
    serverName: z
      .string()
      .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'must be a host name, without port')
      .optional()
      .describe(`Name that ${whom}'s certificate must be for, and that it is asked by; unset: the host of ${url}.`),
  });
}

/** How an upstream is spoken to over TLS. */
export const UpstreamTls = clientTls('the upstream', 'baseUrl');

/** Checks that a certificate comes with its key. */
export function checkCertificate(
  tls: Unchecked<{ readonly certFile?: string | undefined; readonly keyFile?: string | undefined }>,
  path: readonly string[],
  report: Report,
): void {
  if (tls === undefined || tls === null || (tls.certFile === undefined) === (tls.keyFile === undefined)) return;
  report([...path, tls.certFile === undefined ? 'keyFile' : 'certFile'], 'needs certFile and keyFile, both of them');
}

/** The way to an upstream through a proxy. */
export const UpstreamProxy = z.strictObject({
  url: z
    .url({
      protocol: /^https?$/,
      error: ({ code }) => (code === 'invalid_format' ? 'must be an http or https URL' : undefined),
    })
    .refine(isOrigin, 'must hold nothing but scheme, host and port; user and password are keys beside it')
    .describe('Where the proxy is, such as http://proxy.internal:3128. It must take CONNECT.'),
  user: userName.optional().describe('User that the proxy is told, with password, as Basic.'),
  password: z
    .string()
    .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
    .optional()
    .describe('Password of that user, from the environment.'),
});

function isOrigin(text: string): boolean {
  // Whatever else it is has been told.
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return true;
  const { username, password, pathname, search, hash } = new URL(text);
  return pathname === '/' && [username, password, search, hash].every((part) => part === '');
}
