import type { Resource } from '../../core/resources/resource.ts';
import { plainName, type Shape } from './shape.ts';

/** Where a field is in an item. */
export interface FieldChoice {
  /** The expression; `undefined`: no member seems to be the field. */
  readonly from: string | undefined;
  readonly values?: Readonly<Record<string, string>>;
  /** The name can also mean something else. */
  readonly inDoubt: boolean;
}

/** Names of members without case and separators, the surest first. `*` is the noun of the list: `*id` is `workflowid`. */
const NAMES: Readonly<Record<string, { readonly clear: string; readonly possible: string }>> = {
  id: { clear: 'id uuid *id *uuid uid guid', possible: 'key *key slug identifier urn pk name' },
  name: { clear: 'name *name displayname title', possible: 'label fullname friendlyname slug' },
  description: { clear: 'description *description', possible: 'summary desc shortdescription about purpose details' },
  createTime: {
    clear: 'createtime createdat created creationtime createdon datecreated createddate creationdate timecreated',
    possible: 'creationtimestamp insertedat dateadded addedat',
  },
  triggerType: { clear: 'triggertype *triggertype', possible: 'trigger triggeredby starttype' },
  status: { clear: 'status state *status *state', possible: 'lifecycle lifecyclestate' },
  version: { clear: 'version *version currentversion installedversion', possible: 'latestversion' },
  category: { clear: 'category *category', possible: 'type kind class family' },
};

const ACTIVE_FLAG = /^(?:is)?(?:active|enabled)$/;

/** Finds the fields of a resource in an item. `noun`: what the path says the list holds. */
export function findFields(resource: Resource, item: Shape, noun: string): ReadonlyMap<string, FieldChoice> {
  return new Map(Object.keys(resource.shape.shape).map((field) => [field, findField(field, item, noun)]));
}

function findField(field: string, item: Shape, noun: string): FieldChoice {
  const { clear, possible } = NAMES[field] ?? { clear: plainName(field), possible: '' };
  const beside = byName(item, [clear, possible], noun);
  if (beside !== undefined) return beside;
  // Kubernetes and its like keep the names of an object in an envelope.
  for (const envelope of ['metadata', 'attributes']) {
    const inner = item.members.get(envelope);
    const found = inner && byName(inner, [clear, ''], noun);
    if (found !== undefined) return { from: `${envelope}.${found.from}`, inDoubt: true };
  }
  const flag = field === 'status' && [...item.members.keys()].find((key) => ACTIVE_FLAG.test(plainName(key)));
  if (flag) return { from: flag, values: { true: 'ACTIVE', false: 'INACTIVE' }, inDoubt: false };
  // Without a setting, a field reads the member of its own name.
  return { from: item.members.has(field) ? "''" : undefined, inDoubt: false };
}

function byName(item: Shape, tiers: readonly string[], noun: string): (FieldChoice & { from: string }) | undefined {
  for (const [tier, names] of tiers.entries()) {
    for (const name of names.split(' ')) {
      const wanted = name.replace('*', noun);
      const found = [...item.members].find(([key, { type }]) => plainName(key) === wanted && isScalar(type));
      if (found === undefined) continue;
      const [key] = found;
      return { from: /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key), inDoubt: tier > 0 };
    }
  }
  return undefined;
}

function isScalar(type: Shape['type']): boolean {
  return type === 'text' || type === 'number' || type === 'unknown';
}
