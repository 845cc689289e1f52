/** Names of what stands in Redis. In a cluster, what one script touches shares a hash tag, and so a slot. */
export interface Keys {
  readonly life: string;
  readonly value: string;
  readonly lease: string;
  /** Where its generation stands beside the life: some names share one. */
  readonly generation: string;
}

/** Slots that names are spread over in a cluster: its nodes share the work, and one that is emptied has its own life. */
const BUCKETS = 64;
/** Generations, of all names: one that is begun for another name costs a load its place in the store, and no more. */
const GENERATIONS = 65_536;

/** How names are written in Redis, by the settings `prefix` and `cluster`. */
export interface Naming {
  /** Which names stand together. */
  bucketOf(name: string): number;
  keysOf(name: string): Keys;
  lifeOf(bucket: number): string;
  /** The lives of all of them. */
  readonly lives: readonly string[];
  /** Where evictions are told. They stand in one place, for all names. */
  readonly evictions: string;
  /** The same for rejected credentials. */
  readonly rejections: string;
  countOf(name: string): string;
}

export function createNaming(prefix: string, cluster: boolean): Naming {
  const buckets = cluster ? BUCKETS : 1;
  const at = (bucket: number, kind: string, name = '') => `${prefix}:{${bucket}}:${kind}${name && ':'}${name}`;
  /** Names are hashes: any part of one is as good as another. */
  function partOf(name: string, parts: number): number {
    let sum = 0;
    for (let index = 0; index < name.length && index < 8; index += 1) sum = sum * 31 + name.charCodeAt(index);
    return sum % parts;
  }
  const bucketOf = (name: string) => partOf(name, buckets);
  return {
    bucketOf,
    keysOf(name) {
      const bucket = bucketOf(name);
      return {
        life: at(bucket, 'life'),
        value: at(bucket, 'value', name),
        lease: at(bucket, 'lease', name),
        generation: `${partOf(name, GENERATIONS)}`,
      };
    },
    lifeOf: (bucket) => at(bucket, 'life'),
    lives: Array.from({ length: buckets }, (_, bucket) => at(bucket, 'life')),
    evictions: at(0, 'evictions'),
    rejections: at(0, 'rejections'),
    countOf: (name) => at(bucketOf(name), 'count', name),
  };
}
