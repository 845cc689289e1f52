import { z } from 'zod';
import { withChecks } from '../../core/config/schema/cross-check.ts';
import { checkCertificate, clientTls } from '../../core/config/schema/tls.ts';

const path = z.string().min(1);

const redisUrl = z
  .string()
  .refine(
    isRedisUrl,
    'must be redis://host:port, rediss://host:port or unix:///path/of/socket; a user and a password belong in username and passwordFile',
  );

/** URLs are printed, so that they must not contain a secret. */
function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  if (username + password + search + hash !== '') return false;
  if (protocol === 'unix:') return /^unix:\/\/\/./.test(text);
  return /^rediss?:$/.test(protocol) && hostname !== '' && /^(?:\/\d{0,4})?$/.test(pathname);
}

const SharedShape = z.strictObject({
  url: redisUrl.describe(
    'URL of Redis (7 or newer) or Valkey: redis://host:port, rediss:// for TLS, unix:///path. Of a cluster: any of its nodes.',
  ),
  cluster: z.boolean().default(false).describe('Whether url is a node of a cluster.'),
  username: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional()
    .describe('Redis user (ACL), with passwordFile. Unset: the default user.'),
  passwordFile: path.optional().describe('File that holds the Redis password; reloaded when it changes.'),
  tls: clientTls('Redis', 'url').optional().describe('TLS settings for a url that begins with rediss.'),
  prefix: z
    .string()
    .regex(/^[\w.:-]{1,64}$/, 'must be at most 64 characters: letters, digits and . _ : -')
    .default('portico')
    .describe('Prefix of all keys in Redis, the same for all replicas.'),
  keySecretFile: path.describe(
    'File with the secret of the deployment, at least 32 characters, which derives the keys and encrypts the values in Redis. Read at start. Must be the same for all replicas.',
  ),
});

export type SharedSettings = z.output<typeof SharedShape>;

export const sharedSettings = withChecks(SharedShape, (shared, report) => {
  const { url } = shared;
  if (shared.tls !== undefined && !url.startsWith('rediss:')) report(['tls'], 'needs a url that begins with rediss');
  checkCertificate(shared.tls, ['tls'], report);
  if (shared.username !== undefined && shared.passwordFile === undefined) {
    report(['username'], 'needs passwordFile');
  }
  if (shared.cluster === true && (url.startsWith('unix:') || /\/\d+$/.test(url))) {
    report(['cluster'], 'needs a url with a host: a cluster has neither sockets nor database numbers');
  }
});
