import { z } from 'zod';
import { crossCheck, EVEN_AFTER_MISTAKES, keysOf, type Unchecked } from './cross-check.ts';
import { requestHeaderName } from './header-name.ts';
import { baseUrl, bytes, milliseconds, scalarText, whole } from './scalars.ts';

const Passthrough = z.strictObject({
  kind: z.literal('passthrough').describe("The caller's token, as Authorization: Bearer."),
});

const Header = z.strictObject({
  kind: z.literal('header').describe("The caller's token, under another header or in another form."),
  name: requestHeaderName.describe('Name of the header.'),
  format: z
    .string()
    .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII')
    .refine((format) => format.split('{token}').length === 2, 'must hold {token} exactly once')
    .default('{token}')
    .describe('Value of the header; {token} stands for the token.'),
});

const None = z.strictObject({
  kind: z.literal('none').describe('No credential. Needs allowUnverifiedCallers, since any token is then let in.'),
});

const UpstreamShape = z.strictObject({
  baseUrl: baseUrl.describe('Where the API lives: origin and, where it has one, path prefix.'),
  credential: z
    .discriminatedUnion('kind', [Passthrough, Header, None])
    .prefault({ kind: 'passthrough' })
    .describe('What the upstream is given to know the caller.'),
  headers: z
    .record(requestHeaderName, scalarText)
    .prefault({})
    .describe('Headers sent with every request, beside the credential.'),
  timeoutMs: milliseconds()
    .default(10_000)
    .describe('Deadline of one read: connecting, all pages and their bodies together.'),
  connectTimeoutMs: milliseconds().default(2000).describe('How long one connection may take to open.'),
  connections: whole(1, 1024).default(32).describe('Open connections to this upstream.'),
  allowH2: z.boolean().default(false).describe('Whether HTTP/2 may be negotiated.'),
  maxPageBytes: bytes(1024).default(2_097_152).describe('Largest body of one page, before and after decompression.'),
});

type UpstreamOutput = z.output<typeof UpstreamShape>;

/** One remote API that Portico calls. */
export const UpstreamSettings = UpstreamShape.superRefine(
  crossCheck<UpstreamOutput>((upstream, report) => {
    const credential = credentialHeader(upstream?.credential);
    const seen = new Set<string>();
    for (const name of keysOf(upstream?.headers)) {
      const lower = name.toLowerCase();
      if (lower === credential) report(['headers', name], 'is the header of the credential');
      else if (seen.has(lower)) report(['headers', name], 'stands there twice: case makes no difference');
      seen.add(lower);
    }
  }),
  EVEN_AFTER_MISTAKES,
);

function credentialHeader(credential: Unchecked<UpstreamOutput['credential']>): string | undefined {
  const { kind = 'passthrough', name } = (credential ?? {}) as { kind?: unknown; name?: unknown };
  if (kind === 'passthrough') return 'authorization';
  return typeof name === 'string' ? name.toLowerCase() : undefined;
}
