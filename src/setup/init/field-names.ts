import { plainName } from '../../core/kernel/json-shape.ts';
import type { Resource } from '../../core/resources/resource.ts';
import { expressionOf, type Shape } from './shape.ts';

/** Where a field is in an item. */
export interface FieldChoice {
  /** The expression; `undefined`: no member seems to be the field. */
  readonly from: string | undefined;
  readonly values?: Readonly<Record<string, string>>;
  /** It is a likeness only. */
  readonly inDoubt: boolean;
}

/** Names of members without case and separators, the surest first. `*` is the noun of the list: `*id` is `workflowid`. */
const NAMES: Readonly<Record<string, string>> = {
  id: 'id uuid *id *uuid uid guid',
  name: 'name *name displayname title',
  description: 'description *description',
  createTime:
    'createtime createdat created creationtime createdon datecreated createddate creationdate createddatetime timecreated creationtimestamp',
  triggerType: 'triggertype *triggertype',
  status: 'status state *status *state',
  version: 'version *version currentversion installedversion',
  category: 'category *category',
};

const ACTIVE_FLAG = /^(?:is)?(?:active|enabled)$/;

/** Objects in which Kubernetes, JSON:API and their like keep the names of an item. */
const ENVELOPES = ['metadata', 'attributes'];

/** Finds the fields of a resource in an item. `noun`: what the path says the list holds. */
export function findFields(resource: Resource, item: Shape, noun: string): ReadonlyMap<string, FieldChoice> {
  return new Map(Object.keys(resource.shape.shape).map((field) => [field, findField(field, item, noun)]));
}

function findField(field: string, item: Shape, noun: string): FieldChoice {
  const names = (NAMES[field] ?? plainName(field)).replaceAll('*', noun).split(' ');
  const members = item.members();
  for (const envelope of ['', ...ENVELOPES]) {
    const held = envelope === '' ? members : members.get(envelope)?.members();
    for (const name of names) {
      const found = [...(held ?? [])].find(([key, { type }]) => plainName(key) === name && SCALAR.has(type));
      if (found === undefined) continue;
      const path = envelope === '' ? [found[0]] : [envelope, found[0]];
      return { from: expressionOf(path), inDoubt: envelope !== '' };
    }
  }
  const flag = field === 'status' && [...members.keys()].find((key) => ACTIVE_FLAG.test(plainName(key)));
  if (flag) return { from: expressionOf([flag]), values: { true: 'ACTIVE', false: 'INACTIVE' }, inDoubt: false };
  // Without a setting, a field reads the member of its own name.
  return { from: members.has(field) ? "''" : undefined, inDoubt: false };
}

const SCALAR: ReadonlySet<Shape['type']> = new Set(['text', 'number', 'unknown'] as const);
