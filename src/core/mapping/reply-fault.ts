import { membersOf, plainName } from '../kernel/json-shape.ts';

/** Errors that a reply with status 200 can report. Settings may ignore each. */
export const REPLY_FAULTS = ['success', 'error', 'code', 'status', 'timedOut', 'partial'] as const;

export type Fault = (typeof REPLY_FAULTS)[number];

/** Names in lower case and without separators. */
const SUCCESS = /^(?:is)?(?:success(?:ful|fully)?|succeeded|ok|authenticated|authori[sz]ed|(?:logged|signed)in)$/;
const FAILED = /^(?:is|has|was)?(?:errors?|errored|fail(?:ed|ure)?)$/;
const TIMED_OUT = /^(?:is|has|was)?(?:timedout|timeout|terminatedearly|aborted|interrupted|cancell?ed)$/;
const PARTIAL =
  /^(?:is)?(?:partial(?:results?|list|page|data|response|success|failures?(?:errors?)?|errors?)?|degraded)$/;
const ERROR =
  /^(?:(?:api|server|system|query|source|service|request|response|result|validation|graphql|odata|partial)?err(?:or)?s?(?:count|total|messages?|msgs?|text|string|description|details?|info|list|summary|causes?|reasons?)?|faults?(?:string|code|detail)?|exceptions?|failures?|problems?)$/;
/** Parts of a platform that did not answer, or their number. */
const FAILED_PARTS =
  /^(?:total|num(?:ber)?(?:of)?)?(?:failed|unavailable|unreachable)(?:items?|sources?|shards?|nodes?|hosts?|servers?|clusters?|regions?|parts?|partitions?|backends?)$/;
/** Lists of such parts: AIP-217, Google Kubernetes Engine, AWS. A number of this name may count items. */
const MISSING_PARTS = /^(?:unreachables?|missing(?:zones|locations|regions)|unprocessed(?:items|keys|accounts))$/;
const ERROR_CODE = /^err(?:or)?(?:code|no|num|number|type)$/;
const CODE = /^(?:code|(?:http|result|return|ret|response|status|api)+code|httpstatus|status|ret|res|rc)$/;
const STATUS = /^(?:(?:response|result|return|api|request)?(?:status|state|code)|stat|result|outcome|ack|ret|rc)$/;
const MESSAGE = /^(?:(?:result|return|ret|res|response|status|api)?(?:msg|message)|reason|details?)$/;
/** Objects that are about the reply, and not about what it lists. */
const ABOUT_REPLY = /^(?:(?:response|result)?(?:status|meta|metadata|head(?:er)?)|response|result|resultinfo)$/;
/** Elasticsearch: a shard that is skipped has no such item, and a cluster that is skipped did not answer. */
const PARTS = /^(?:_?shards|_clusters)$/;
const MAX_MESSAGES = 100;

const FINE_TEXT =
  /^(?:|0+|-|\[\]|\{\}|no?|none|null|nil|true|ok|okay|done|no[ _-]?errors?|false|2\d\d|(?!.*\bnot\b).*\bsucce(?:ss|ed)\w*[.!]?)$/i;
const FALSE_TEXT = /^(?:false|0|no?|fail\w*|error)$/i;
const BAD_TEXT =
  /^(?:err|fail(?!over)|fatal|unauthori[sz]ed|unauthenticated|forbidden|denied|access[ _-]?denied|invalid|exception|timed?[ _-]?out|unavailable|partial|degraded|nok|ko$|not[ _-]?ok|aborted|expired)/i;
/** Not of what has not failed, or has not yet: `no errors`, `will be rejected`. */
const BAD_MESSAGE =
  /\b(?<!\b(?:no|0|without|will|will be) )(?:invalid|illegal|expired|revoked|denied|unauthori[sz]ed|unauthenticated|forbidden|insufficient|suspended|fail(?:ed|ure)?|err|errors?|exceptions?|missing|exceeded|refused|rejected|throttled|unavailable|unsuccessful|something went wrong|timed? ?out|rate limited|too many requests|limit reached|over (?:(?:query|daily|rate) )?limit|(?:bad|wrong|unknown) (?:credentials|password|token|key|request|gateway)|unable to|try again|(?:system|server|service) (?:is )?(?:busy|down)|(?:under|for) maintenance|(?:log ?in|authentication|credentials|permission|token|key) required|(?:is|are) required|requires authentication|(?:to|be|not|please) (?:log|sign)(?:ged|ed)? ?in|(?:log|sign) ?in first|no (?:permissions?|access|rights)|(?:not|don.t|doesn.t) have (?:the )?(?:permissions?|access)|not (?:valid|available|successful|allowed|permitted|authori[sz]ed|authenticated|provided)|(?:user|account|organi[sz]ation|tenant|session|token|page|route|endpoint) (?:was |is )?not found)\b/i;
const MAX_DEPTH = 2;

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
    if (MESSAGE.test(name) && typeof value === 'string' && BAD_MESSAGE.test(wordsOf(value))) {
      message ??= { fault: 'error', seen: `${name}: not empty` };
    }
    isFine ||= [SUCCESS, CODE, STATUS].some((each) => each.test(name)) && isScalar(value) && FINE_TEXT.test(`${value}`);
    if (typeof value !== 'object' || depth === MAX_DEPTH) continue;
    for (const about of aboutReply(member, value)) {
      const inner = faultOf(about, ignored, depth + 1);
      if (inner !== undefined) return { ...inner, seen: `${name}.${inner.seen}` };
    }
  }
  // A message beside a success is none of a failure.
  return isFine || ignored.includes('error') ? undefined : message;
}

/** Returns what a member says about the reply: itself, or the parts and messages that it lists. */
function aboutReply(member: string, value: object): readonly object[] {
  const { failed, partial, skipped } = Object(value);
  if (PARTS.test(member)) return [{ partial: failed > 0 || partial > 0 || (member === '_clusters' && skipped > 0) }];
  const name = plainName(member);
  // Splunk reports its errors there, and banks do (PSD2).
  if (name.endsWith('messages') && Array.isArray(value)) {
    const messages = value.slice(0, MAX_MESSAGES).map(Object);
    return messages.map(({ type, severity, category }) => ({ status: type ?? severity ?? category }));
  }
  if (Array.isArray(value)) return name === 'responsestatus' ? value.slice(0, 1).map(Object) : [];
  return ABOUT_REPLY.test(name) ? [value] : [];
}

function faultOfMember(name: string, value: unknown): [Fault, string] | undefined {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (SUCCESS.test(name) && isScalar(text) && FALSE_TEXT.test(`${text}`)) return ['success', 'false'];
  const isTrue = text === true || text === 'true';
  const isObject = typeof value === 'object' && !Array.isArray(value);
  if (TIMED_OUT.test(name) && isTrue) return ['timedOut', 'true'];
  if (PARTIAL.test(name) && (isTrue || (isObject && isError(value)))) return ['partial', isTrue ? 'true' : 'not empty'];
  if (FAILED.test(name) && isTrue) return ['error', 'true'];
  if ((ERROR.test(name) || FAILED_PARTS.test(name)) && isError(text)) return ['error', 'not empty'];
  if (MISSING_PARTS.test(name) && typeof value === 'object' && isError(value)) return ['partial', 'not empty'];
  if (ERROR_CODE.test(name) && isErrorCode(text)) return ['code', shown(text)];
  if (CODE.test(name) && isFailureNumber(text)) return ['code', shown(text)];
  if (!STATUS.test(name) || typeof value !== 'string') return undefined;
  const [bad] = BAD_TEXT.exec(value.trim()) ?? BAD_MESSAGE.exec(wordsOf(value)) ?? [];
  return bad === undefined ? undefined : ['status', bad.toLowerCase()];
}

/** Separates the words of `api.err.LoginRequired`. */
function wordsOf(text: string): string {
  return text.replace(/([a-z])([A-Z])|[_.:-]+/g, '$1 $2');
}

/** An object of error is none if it has nothing or only zeros, or the code of a success. */
function isError(value: unknown): boolean {
  if (typeof value === 'string') return !FINE_TEXT.test(value);
  if (typeof value !== 'object' || value === null) return value !== false && value !== 0;
  const isSomething = (part: unknown) =>
    isScalar(part) ? part !== '' && part !== false : Object.keys(Object(part)).length > 0;
  const parts = membersOf(value).filter(([, part]) => isSomething(part));
  const isFine = parts.some(([name, part]) => /code|status/i.test(name) && isScalar(part) && !isErrorCode(part));
  return !isFine && parts.some(([, part]) => part !== 0);
}

function isErrorCode(value: unknown): boolean {
  return isScalar(value) && !FINE_TEXT.test(String(value));
}

/** A status of HTTP from 400 on, as it is or with further digits, a negative number, or `E1003`: others may be a success. */
function isFailureNumber(value: unknown): boolean {
  return isScalar(value) && /^(?:-\d{1,9}|[45]\d\d(?:\d{2,3})?|e(?:rr)?[_-]?(?!0+$)\d{2,9})$/i.test(String(value));
}

function isScalar(value: unknown): value is number | string | boolean {
  return ['number', 'string', 'boolean'].includes(typeof value);
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : 'not empty';
}
