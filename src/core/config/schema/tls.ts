import { z } from 'zod';
import type { Report, Unchecked } from './cross-check.ts';
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
      'PEM file of the authorities whose certificates clients must present (mTLS); reloaded when it changes. Unset: client certificates are not requested.',
    ),
};

export const ListenerTls = z.strictObject(LISTENER);

/** TLS to a server. `whom` and `url` are the names of the server and of the setting of its address. */
export function clientTls(whom: string, url: string) {
  return z.strictObject({
    caFile: path
      .optional()
      .describe(
        `PEM file of the authorities that are trusted for ${whom}, in place of Node's defaults; reloaded when it changes.`,
      ),
    certFile: path
      .optional()
      .describe(`PEM file of the client certificate for ${whom} (mTLS); reloaded when it changes.`),
    keyFile: path.optional().describe('PEM file of its private key, without a passphrase; reloaded when it changes.'),
    serverName: z
      .string()
      .regex(/^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/, 'must be a host name, without port')
      .optional()
      .describe(`Name that ${whom}'s certificate must be for, and that it is asked by; unset: the host of ${url}.`),
  });
}

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

export const UpstreamProxy = z.strictObject({
  url: httpUrl('must be an http or https URL')
    .refine(isOrigin, 'must hold nothing but scheme, host and port; user and password are keys beside it')
    .describe('Where the proxy is, such as http://proxy.internal:3128. It must take CONNECT.'),
  user: userName.optional().describe('User name for the proxy, sent with password as Basic.'),
  password: printable.optional().describe('Password of that user, from the environment.'),
});

function isOrigin(text: string): boolean {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) return true;
  const url = new URL(text);
  return url.pathname === '/' && isBare(url);
}
