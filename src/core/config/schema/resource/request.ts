import { z } from 'zod';
import type { Resource } from '../../../resources/resource.ts';
import type { CrossCheck } from '../cross-check.ts';
import { scalarText } from '../scalars.ts';
import { checkPointer, hasExactNumbers, hasSoundBraces, hasSoundSegments, isPointer, namesIn } from './templates.ts';

const PARAMETERS = ['sizeParam', 'tokenParam', 'offsetParam', 'endParam', 'pageParam'];

const CREDENTIAL_PARAMETER =
  /^(?:x[-_])?(?:(?:access|api|app|auth|bearer|client|private|secret|session|subscription)[-_]?(?:key|token|secret)|auth|authorization|bearer|jwt|passw(?:or)?d|pwd|secret|sig|signature|token)$/i;

/** A parameter of this name carries a credential if its value looks like one. */
const KEY = /^key$/i;
const LOOKS_SECRET = /^(?=.*\d)(?=.*[A-Za-z])[\w+/=.~-]{20,}$/;

/** Ends a sentence about a credential. */
export const NOT_IN_URL =
  'must not be part of a URL, because platforms and proxies log URLs: send it as a header, by credential or headers of the upstream';

export const listPath = z
  .string()
  .regex(
    /^\/[^?#\s\\\p{Cc}]*$/u,
    'must begin with / and hold no query (which has a key of its own), fragment, space or backslash',
  )
  .refine(hasSoundSegments, 'has a segment that is empty, . or ..')
  .refine(
    hasSoundBraces,
    'has a variable other than {claim.NAME}, {header.NAME} or {parent.NAME}: write a value as it is, or ${NAME} for one from the environment',
  );

// The list comes first, so that an issue has the place of its element.
export const queryParameters = z.record(z.string().min(1), z.union([z.array(scalarText).min(1), scalarText]));

/** Path of the list of a resource in the default upstream contract. */
export const defaultPath = ({ name }: Pick<Resource, 'name'>): string => `/v1/${name}`;

/** The settings that say how a page of a resource is asked for. */
export function requestShape(resource: Resource) {
  return {
    method: z
      .enum(['GET', 'POST'])
      .default('GET')
      .describe('HTTP method. POST is for searches that require it; the request must not change anything.'),
    path: listPath
      .default(defaultPath(resource))
      .describe(
        "Path below the upstream's baseUrl. It may name values of a caller, {claim.NAME} and {header.NAME}, or of a parent, {parent.NAME}.",
      ),
    query: queryParameters
      .prefault(resource.query)
      .describe('Query parameters of every page request. A list repeats the parameter for each element.'),
    body: z
      .record(z.string(), z.unknown())
      .refine(hasExactNumbers, 'has a number of more than 15 digits: put it in quotes')
      .refine(
        (body) => namesIn(JSON.stringify(body)).length === 0,
        'has {claim...}, {header...} or {parent...}, which is replaced in path and query only',
      )
      .optional()
      .describe(
        'JSON body of a POST. Values that pagination points to are those of the first page; a token that is null is left out.',
      ),
    retryPost: z
      .boolean()
      .default(false)
      .describe(
        'Whether a POST is repeated, both after a failure and to test the end of a list. Set it only if the request changes nothing.',
      ),
  };
}

export type RequestSettings = z.output<z.ZodObject<ReturnType<typeof requestShape>>> & { readonly pagination: object };

/** Checks over several keys of what {@link requestShape} has. */
export const checkRequest: CrossCheck<RequestSettings> = (settings, report) => {
  const { method, body, retryPost } = settings;
  if (method !== 'POST' && body !== undefined) report(['body'], 'needs method: POST');
  if (method !== 'POST' && retryPost) report(['retryPost'], 'needs method: POST');
  checkParameters(settings, report);
};

/** Checks the parameters that the requests of one list have. */
export const checkParameters: CrossCheck<Pick<RequestSettings, 'body' | 'query' | 'pagination'>> = (list, report) => {
  const { body, query, pagination } = list;
  for (const [name, value] of Object.entries(query)) {
    const isKey = KEY.test(name) && [value].flat().some((one) => LOOKS_SECRET.test(one));
    if (isKey || CREDENTIAL_PARAMETER.test(name)) report(['query', name], `carries a credential, which ${NOT_IN_URL}`);
  }
  const sent = new Map<string, string>();
  for (const key of PARAMETERS) {
    const parameter: unknown = Reflect.get(pagination, key);
    if (typeof parameter !== 'string') continue;
    if (Object.hasOwn(query, parameter)) report(['query', parameter], `is the ${key} of pagination`);
    const other = sent.get(parameter);
    const issue =
      other === undefined
        ? isPointer(parameter) && pointerIssue(body, parameter)
        : `must not be the parameter that ${other} names`;
    if (issue) report(['pagination', key], issue);
    sent.set(parameter, key);
  }
};

function pointerIssue(body: object | undefined, pointer: string): string | undefined {
  if (body === undefined) return 'points into body (it begins with /), and there is none';
  return checkPointer(body, pointer);
}
