import { z } from 'zod';
import { whole } from './scalars.ts';

const path = z.string().min(1);

const minVersion = z.enum(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2').describe('Oldest version of TLS that is spoken.');

const LISTENER = {
  certFile: path.describe(
    'PEM file of the certificate, and behind it of those between it and its authority; read anew when it changes.',
  ),
  keyFile: path.describe('PEM file of its private key, without a passphrase; read anew when it changes.'),
  minVersion,
  clientCaFile: path
    .optional()
    .describe(
      'PEM file of the authorities whose certificates clients must show (mTLS); read anew when it changes. Unset: none is asked for.',
    ),
  clientCertificate: z
    .enum(['required', 'optional'])
    .default('required')
    .describe('Whether, with clientCaFile, a client without a certificate is let in. One with a wrong one never is.'),
};

/** How the public listener speaks TLS. */
export const HttpTls = z.strictObject({
  ...LISTENER,
  hstsMaxAgeDays: whole(0, 3650)
    .default(365)
    .describe(
      'How long browsers are to come by TLS only (Strict-Transport-Security); 0 has them forget it. Not sent on a loopback address.',
    ),
});

/** How the admin listener speaks TLS. */
export const AdminTls = z.strictObject(LISTENER);
