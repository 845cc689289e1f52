import { membersOf, plainName } from '../kernel/json-shape.ts';

/** Errors that a reply with status 200 can report. Settings may ignore each. */
export const REPLY_FAULTS = ['success', 'error', 'code', 'status', 'timedOut', 'partial'] as const;

export type Fault = (typeof REPLY_FAULTS)[number];

/** Names in lower case and without separators. */
const SUCCESS = /^(?:is)?(?:success(?:ful|fully)?|succeeded|ok|authenticated|authori[sz]ed|(?:logged|signed)in)$/;
const FAILED = /^(?:is|has|was)?(?:errors?|errored|fail(?:ed|ure)?)$/;
const TIMED_OUT = /^(?:is|has|was)?(?:timedout|timeout|terminatedearly|aborted|interrupted|cancell?ed)$/;
const PARTIAL = /^(?:is)?(?:partial(?:results?|list|page|data|response|success|failures?|errors?)?|degraded)$/;
const ERROR =
  /^(?:err|errors?|err(?:or)?s?(?:count|total)|err(?:or)?(?:messages?|msgs?|text|string|description|details?|info|list)|faults?(?:string|code|detail)?|exceptions?|failures?|problems?)$/;
/** Parts of a platform that did not answer, or their number. */
const FAILED_PARTS =
  /^(?:total|num(?:ber)?(?:of)?)?(?:failed|unavailable|unreachable)(?:items?|sources?|shards?|nodes?|hosts?|servers?|clusters?|regions?|parts?|partitions?|backends?)$/;
const ERROR_CODE = /^err(?:or)?(?:code|no|num|number|type)$/;
const CODE = /^(?:code|(?:http|result|return|ret|response|status|api)+code|httpstatus|status|ret|rc)$/;
const STATUS = /^(?:(?:response|result|return|api|request)?(?:status|state|code)|stat|result|outcome|ack)$/;
const MESSAGE = /^(?:(?:result|return|ret|response|status|api)?(?:msg|message)|reason|details?)$/;
/** Objects that are about the reply, and not about what it lists. */
const ABOUT_REPLY =
  /^(?:status|meta|metadata|head(?:er)?|response|responsestatus|responsemetadata|result|resultinfo|shards)$/;

const FINE_TEXT = /^(?:|0|-|none|null|nil|true|ok|okay|success\w*|done|no[ _-]?errors?|false|2\d\d)$/i;
const BAD_TEXT =
  /^(?:err|fail|unauthori[sz]ed|unauthenticated|forbidden|denied|access[ _-]?denied|invalid|exception|timed?[ _-]?out|unavailable|partial|degraded|nok|not[ _-]?ok|aborted|expired)/i;
const BAD_MESSAGE =
  /\b(?<!(?:no|0) )(?:invalid|illegal|expired|denied|unauthori[sz]ed|unauthenticated|forbidden|fail(?:ed|ure)?|errors?|exceptions?|missing|exceeded|refused|rejected|unavailable|not (?:allowed|permitted|authori[sz]ed|authenticated|provided))\b/i;
const MAX_DEPTH = 1;

export interface SeenFault {
  readonly fault: Fault;
  /** Such as `success: false`, without any text of the platform. */
  readonly seen: string;
}

/** Returns the first fault that these objects report. */
export function faultIn(scopes: readonly object[], ignored: readonly Fault[] = []): SeenFault | undefined {
  for (const scope of scopes) {
    const found = faultOf(scope, ignored, 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

function faultOf(scope: object, ignored: readonly Fault[], depth: number): SeenFault | undefined {
  let message: SeenFault | undefined;
  let isFine = false;
  for (const [member, value] of Object.entries(scope)) {
    if (value === null || (Array.isArray(value) && value.length === 0)) continue;
    const name = plainName(member);
    const [fault, seen] = faultOfMember(name, value) ?? [];
    if (fault !== undefined && !ignored.includes(fault)) return { fault, seen: `${name}: ${seen}` };
    if (MESSAGE.test(name) && typeof value === 'string' && BAD_MESSAGE.test(value)) {
      message ??= { fault: 'error', seen: `${name}: not empty` };
    }
    isFine ||= [SUCCESS, CODE, STATUS].some((each) => each.test(name)) && isScalar(value) && FINE_TEXT.test(`${value}`);
    if (typeof value !== 'object' || depth === MAX_DEPTH || !ABOUT_REPLY.test(name)) continue;
    const inner = faultOf(name === 'shards' ? { partial: Number(value.failed) > 0 } : value, ignored, depth + 1);
    if (inner !== undefined) return { ...inner, seen: `${name}.${inner.seen}` };
  }
  // A message beside a success is none of a failure.
  return isFine || ignored.includes('error') ? undefined : message;
}

function faultOfMember(name: string, value: unknown): [Fault, string] | undefined {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (SUCCESS.test(name) && (text === false || text === 0 || text === 'false')) return ['success', 'false'];
  const isTrue = text === true || text === 'true';
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (TIMED_OUT.test(name) && isTrue) return ['timedOut', 'true'];
  if (PARTIAL.test(name) && (isTrue || (isObject && isError(value)))) return ['partial', isTrue ? 'true' : 'not empty'];
  if (FAILED.test(name) && isTrue) return ['error', 'true'];
  if ((ERROR.test(name) || FAILED_PARTS.test(name)) && isError(text)) return ['error', 'not empty'];
  if (ERROR_CODE.test(name) && isErrorCode(text)) return ['code', shown(text)];
  if (CODE.test(name) && isFailureNumber(text)) return ['code', shown(text)];
  const bad = STATUS.test(name) && typeof text === 'string' ? BAD_TEXT.exec(text)?.[0] : undefined;
  return bad === undefined ? undefined : ['status', bad];
}

/** An object of error is none if it is empty, or has the code of a success. */
function isError(value: unknown): boolean {
  if (typeof value === 'string') return !FINE_TEXT.test(value);
  if (typeof value !== 'object' || value === null) return value !== false && value !== 0;
  const parts = membersOf(value).filter(([, part]) => part !== null && part !== '' && part !== false);
  return (
    parts.length > 0 && !parts.some(([name, part]) => /code|status/i.test(name) && isScalar(part) && !isErrorCode(part))
  );
}

function isErrorCode(value: unknown): boolean {
  return isScalar(value) && !FINE_TEXT.test(String(value));
}

/** A status of HTTP from 400 on, as it is or with further digits, a negative number, or `E1003`: others may be a success. */
function isFailureNumber(value: unknown): boolean {
  return isScalar(value) && /^(?:-\d{1,9}|[45]\d\d(?:\d{2,3})?|e(?:rr)?[_-]?\d{2,9})$/i.test(String(value));
}

function isScalar(value: unknown): value is number | string | boolean {
  return ['number', 'string', 'boolean'].includes(typeof value);
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : 'not empty';
}
