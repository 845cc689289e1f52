import { z } from 'zod';
import { withChecks } from '../../core/config/schema/cross-check.ts';
import { checkCertificate, clientTls } from '../../core/config/schema/tls.ts';

const path = z.string().min(1);

const redisUrl = z
  .string()
  .refine(isRedisUrl, 'must be redis://host:port, rediss://host:port or unix:///path/of/socket')
  .refine(hasNoUser, 'must hold no user and password: URLs get printed. Set username and passwordFile')
  .refine(isBare, 'must hold no query or fragment, and as a path a number of a database at most');

function isRedisUrl(text: string): boolean {
  if (text.startsWith('unix:')) return /^unix:\/\/(?:[^/@]*@)?\/[^?#]+/.test(text);
  return /^rediss?:\/\/./.test(text) && URL.canParse(text) && new URL(text).hostname !== '';
}

function hasNoUser(text: string): boolean {
  return !/^[a-z]+:\/\/[^/]*@/.test(text);
}

function isBare(text: string): boolean {
  // Any other mistake is reported by the first check.
  if (!isRedisUrl(text)) return true;
  if (text.startsWith('unix:')) return !/[?#]/.test(text);
  const { pathname, search, hash } = new URL(text);
  return /^(?:\/\d{0,4})?$/.test(pathname) && search === '' && hash === '';
}

const SharedShape = z.strictObject({
  url: redisUrl.describe(
    'Where Redis (7 or newer) or Valkey is: redis://host:port, rediss:// for TLS, unix:///path. Of a cluster: one of its nodes.',
  ),
  cluster: z.boolean().default(false).describe('Whether that is one node of a cluster.'),
  username: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional()
    .describe('Redis user (ACL), with passwordFile. Unset: the default user.'),
  passwordFile: path.optional().describe('File that holds the Redis password; reloaded when it changes.'),
  tls: clientTls('Redis', 'url').optional().describe('How TLS is spoken to Redis, where url begins with rediss.'),
  prefix: z
    .string()
    .regex(/^[\w.:-]{1,64}$/, 'must be letters, digits and . _ : - only, at most 64')
    .default('portico')
    .describe('What all keys in Redis begin with. Replicas that share have the same.'),
  keySecretFile: path.describe(
    'File that holds the secret of the deployment, at least 32 characters. Names and values in Redis are derived and encrypted with it. Read at start. Must be the same on all replicas that share.',
  ),
  previousKeySecretFile: path
    .optional()
    .describe(
      'File of the secret before that one, while replicas change over: what was stored under it is found, too.',
    ),
});

export type SharedSettings = z.output<typeof SharedShape>;

export const sharedSettings = withChecks(SharedShape, (shared, report) => {
  const url = String(shared?.url);
  if (shared?.tls !== undefined && !url.startsWith('rediss:')) report(['tls'], 'needs a url that begins with rediss');
  checkCertificate(shared?.tls, ['tls'], report);
  if (shared?.username !== undefined && shared.passwordFile === undefined) {
    report(['username'], 'needs passwordFile');
  }
  if (shared?.cluster === true && (url.startsWith('unix:') || /\/\d+$/.test(url))) {
    report(['cluster'], 'needs a url of a host: a cluster has no socket, and no databases');
  }
});
