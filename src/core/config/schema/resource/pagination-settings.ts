import { z } from 'zod';
import { callsLength } from '../../../mapping/expressions/expression.ts';
import { headerName, selection, whole } from '../scalars.ts';

const parameter = z.string().min(1);
const size = whole(2, 100_000).default(100).describe('Page size to request.');
const sizeParam = (name: string) =>
  parameter
    .nullable()
    .default(name)
    .describe('Query parameter for the page size, or its place in body (JSON pointer); null sends none.');
const total = selection
  // A total that is computed from the page would end each list behind its first one.
  .refine((text) => !callsLength(text), {
    error: 'is the length of one page: set it to the total number of items in the reply, or remove it',
  })
  .optional()
  .describe('Total number of items in a page (JMESPath over the body).');
const totalHeader = headerName
  .optional()
  .describe('Response header with the total number of items. Not used if total is set.');
const concurrency = whole(1, 256).default(25).describe('Pages that are requested concurrently if the total is known.');

const nextHeader = (what: string) =>
  headerName.optional().describe(`Response header with the ${what} of the next page, in place of next.`);
const beyondEnd = z
  .enum(['empty', 'refused', 'repeated'])
  .default('empty')
  .describe(
    'What ends a list whose last page is full: an empty page, a status of 400, 404, 410, 416 or 422, or an earlier page again. After a shorter page, each does.',
  );

const ignoreSigns = z
  .array(z.enum(['total', 'pages', 'more', 'next', 'previous', 'fullPage']))
  .optional()
  .describe(
    'Signs of further items to ignore, because the platform shows them although there are none. Any other sign fails the read.',
  );

function paging<Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, meaning: string, shape: Shape) {
  const literal = z.literal(kind).describe(meaning);
  return z.strictObject({ kind: literal, ...shape, total, totalHeader, ignoreSigns });
}

const None = paging('none', 'The whole list is one page.', {});

const Token = paging('token', 'Each page holds a token for the next one (AIP-158).', {
  sizeParam: sizeParam('pageSize'),
  size,
  tokenParam: parameter
    .default('pageToken')
    .describe('Query parameter for the token, or its place in body (JSON pointer).'),
  next: selection
    .default('nextPageToken')
    .describe('Token of the next page (JMESPath over the body); empty or absent on the last page.'),
  nextHeader: nextHeader('token'),
});

const Offset = paging('offset', 'Pages by the number of items to skip.', {
  sizeParam: sizeParam('limit'),
  size,
  offsetParam: parameter
    .default('offset')
    .describe('Query parameter for the number of items to skip, or its place in body.'),
  endParam: parameter
    .optional()
    .describe('Query parameter for the end of a page (offset plus size), or its place in body.'),
  beyondEnd,
  concurrency,
});

const PageNumber = paging('page', 'Pages by number.', {
  sizeParam: sizeParam('per_page'),
  size,
  pageParam: parameter.default('page').describe('Query parameter for the page number, or its place in body.'),
  firstPage: whole(0, 1).default(1).describe('Number of the first page.'),
  beyondEnd,
  concurrency,
});

const Link = paging(
  'link',
  'Each page links to the next one, in a Link header with rel="next" (RFC 8288) or in the body.',
  {
    sizeParam: sizeParam('per_page'),
    size,
    next: selection.optional().describe('URL of the next page (JMESPath over the body). Unset: the Link header.'),
    nextHeader: nextHeader('URL'),
  },
);

export const PaginationSettings = z
  .discriminatedUnion('kind', [None, Token, Offset, PageNumber, Link])
  .meta({ id: 'pagination' });
