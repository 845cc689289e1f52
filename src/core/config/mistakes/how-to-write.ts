import { z } from 'zod';
import { closest } from './close-words.ts';

/** Text that would be of the type but for its quotes. */
const QUOTED: Readonly<Record<string, RegExp>> = { 'a whole number': /^\d+$/, 'true or false': /^(?:true|false)$/ };

/** A number with a unit, as `15s`, `1.5 h` or `128MiB`. */
const WITH_UNIT = /^\d+(?:[.,]\d+)? ?[a-zµ]{1,12}$/i;
const UNITS: Readonly<Record<string, string>> = { Ms: 'milliseconds', Bytes: 'bytes', Days: 'days' };

/** What YAML 1.1 took for true and false. */
const EARLIER_BOOLEANS: Readonly<Record<string, string>> = { yes: 'true', on: 'true', no: 'false', off: 'false' };

/** What others call what a `kind` is here. */
const KINDS: Readonly<Record<string, string>> = {
  cursor: 'token',
  apikey: 'header',
  'api-key': 'header',
  bearer: 'passthrough',
  relay: 'passthrough',
  basic: 'service',
};

/** The kind that is called so elsewhere. */
export function kindMeant(input: unknown, kinds: readonly unknown[]): string | undefined {
  const kind = typeof input === 'string' ? KINDS[input.toLowerCase()] : undefined;
  return kinds.includes(kind) ? kind : undefined;
}

/** How to write what was most likely meant by a value of another type than the one that is `wanted`. */
export function howToWrite(wanted: string, { input, inst, path = [] }: z.core.$ZodRawIssue): string {
  if (wanted === 'a block of keys') return blockHint(input, inst);
  if (wanted === 'text') return typeof input === 'number' || typeof input === 'boolean' ? '; put it in quotes' : '';
  if (typeof input !== 'string') return '';
  if (QUOTED[wanted]?.test(input) === true) return '; take its quotes off';
  if (wanted === 'a whole number' && WITH_UNIT.test(input)) return unitHint(String(path.at(-1)));
  const boolean = wanted === 'true or false' ? EARLIER_BOOLEANS[input.toLowerCase()] : undefined;
  return boolean === undefined ? '' : `; write ${boolean}`;
}

/** Keys end with their unit. */
function unitHint(key: string): string {
  const unit = Object.keys(UNITS).find((suffix) => key.endsWith(suffix));
  return unit === undefined ? '' : `; write it in ${UNITS[unit]}, without a unit`;
}

/** What was written in place of a block is most likely its most important key. */
function blockHint(input: unknown, block: unknown): string {
  if (block instanceof z.ZodDiscriminatedUnion && typeof input === 'string') return kindHint(input, block);
  if (!(block instanceof z.ZodObject) || typeof input === 'object') return '';
  if (typeof input === 'boolean' && 'enabled' in block.shape) return `; write { enabled: ${input} }`;
  const required = Object.entries(block.shape).filter(([, schema]) => !z.safeParse(schema, undefined).success);
  return required.length === 0 ? '' : `; it needs ${required.map(([key]) => key).join(', ')}`;
}

function kindHint(input: string, { options, def }: z.ZodDiscriminatedUnion): string {
  const kinds = options.flatMap((option) => {
    const kind = option instanceof z.ZodObject ? option.shape[def.discriminator] : undefined;
    return kind instanceof z.ZodLiteral ? [String(kind.value)] : [];
  });
  const kind = kindMeant(input, kinds) ?? closest(input, kinds)?.candidate;
  return kind === undefined ? `; it needs ${def.discriminator}` : `; did you mean { ${def.discriminator}: ${kind} }?`;
}
