import { createHash } from 'node:crypto';

/** One step that Redis does as a whole. */
export interface Script {
  /** What it is called in events. */
  readonly name: 'look' | 'lease' | 'put' | 'release' | 'evict' | 'tell' | 'end' | 'hear' | 'warn' | 'count';
  readonly source: string;
  readonly sha1: string;
}

/** What an id in a stream looks like. Asked for what comes behind anything else, Redis would say that this is none. */
export const STREAM_ID = /^\d{1,19}-\d{1,19}$/;

/**
 * Each script is given a word by its caller first, and says it first: so that a reply that belongs to another command is
 * seen as one.
 *
 * `life` names the time in which what stands here hangs together: another history (a failover, a restart: `master_replid`)
 * or an emptied store (a random value that is made where there is none) is another life. What was put in another one is not
 * there. A replica says nothing: what it has may be old. Generations stand beside that value, in one hash: none of them can be lost
 * unless the life ends with it.
 */
const LIFE = `
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true) then return { ARGV[1], 'replica' } end
local born = redis.call('HGET', KEYS[1], 'born')
if not born then
  born = ARGV[2]
  redis.call('HSET', KEYS[1], 'born', born)
end
local life = string.match(info, 'master_replid:(%x+)') .. '.' .. born
`;

/** Nothing of that generation was evicted in this life. */
const FIRST_GENERATION = `'-'`;

/** Keys: life, value. Arguments: a new life, which generation, most bytes. Says: generation, and what is held. */
export const LOOK = script(
  'look',
  `${LIFE}
local held = false
if redis.call('HGET', KEYS[2], 'life') == life and redis.call('HSTRLEN', KEYS[2], 'bytes') <= tonumber(ARGV[4]) then
  held = redis.call('HGET', KEYS[2], 'bytes')
end
return { ARGV[1], 'ok', life .. '.' .. (redis.call('HGET', KEYS[1], ARGV[3]) or ${FIRST_GENERATION}), held }`,
);

/** Key: lease. Arguments: its token, for how long. */
export const LEASE = script(
  'lease',
  `return { ARGV[1], redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) and 'ok' or 'refused' }`,
);

/**
 * Keys: life, value, lease. Arguments: a new life, which generation, what it was, token of the lease or nothing, for how long,
 * bytes.
 */
export const PUT = script(
  'put',
  `${LIFE}
local mine = ARGV[5] == '' or redis.call('GET', KEYS[3]) == ARGV[5]
local now = life .. '.' .. (redis.call('HGET', KEYS[1], ARGV[3]) or ${FIRST_GENERATION})
local answer = 'refused'
if mine and ARGV[4] == now then
  redis.call('HSET', KEYS[2], 'life', life, 'bytes', ARGV[7])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  answer = 'ok'
end
if mine and ARGV[5] ~= '' then redis.call('DEL', KEYS[3]) end
return { ARGV[1], answer }`,
);

/** Key: lease. Argument: its token. */
export const RELEASE = script(
  'release',
  `if redis.call('GET', KEYS[1]) == ARGV[2] then redis.call('DEL', KEYS[1]) end
return { ARGV[1], 'ok' }`,
);

/**
 * Keys: life, and value and lease of each name. Arguments: what the new generations are called, and which these are. It deletes
 * first: where memory is full, Redis lets whoever has written already write on.
 */
export const EVICT = script(
  'evict',
  `for at = 2, #KEYS do redis.call('DEL', KEYS[at]) end
for at = 3, #ARGV do redis.call('HSET', KEYS[1], ARGV[at], ARGV[2]) end
return { ARGV[1], 'ok' }`,
);

/** Key: evictions. Arguments: who tells, the names, how many are kept. It trims first, for the same reason. */
export const TELL = script(
  'tell',
  `redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[4])
redis.call('XADD', KEYS[1], '*', 'from', ARGV[2], 'names', ARGV[3])
return { ARGV[1], 'ok' }`,
);

/** Key: life. Ends it: nothing counts that was put in it. */
export const END = script('end', `redis.call('DEL', KEYS[1])\nreturn { ARGV[1], 'ok' }`);

/**
 * Keys: life, evictions. Arguments: a new life, the last that was heard or nothing, how many at most. Says: the life, how many
 * were ever told, the last of them, and those that were not heard yet.
 */
export const HEAR = script(
  'hear',
  `${LIFE}
local told, last = 0, '0-0'
if redis.call('EXISTS', KEYS[2]) == 1 then
  local about = redis.call('XINFO', 'STREAM', KEYS[2])
  for at = 1, #about, 2 do
    if about[at] == 'entries-added' then told = about[at + 1] end
    if about[at] == 'last-generated-id' then last = about[at + 1] end
  end
end
local unheard = {}
if ARGV[3] ~= '' then unheard = redis.call('XRANGE', KEYS[2], '(' .. ARGV[3], '+', 'COUNT', ARGV[4]) end
return { ARGV[1], 'ok', life, told, last, unheard }`,
);

/**
 * Key: rejections. Arguments: who tells, what or nothing, how many are kept and for how long, the last that was heard, how many at
 * most. Says: the last of them, and those that were not heard yet.
 */
export const WARN = script(
  'warn',
  `if ARGV[3] ~= '' then
  redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[4])
  redis.call('XADD', KEYS[1], '*', 'from', ARGV[2], 'rejections', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
local last = '0-0'
if redis.call('EXISTS', KEYS[1]) == 1 then
  local about = redis.call('XINFO', 'STREAM', KEYS[1])
  for at = 1, #about, 2 do
    if about[at] == 'last-generated-id' then last = about[at + 1] end
  end
end
return { ARGV[1], 'ok', last, redis.call('XRANGE', KEYS[1], '(' .. ARGV[6], '+', 'COUNT', ARGV[7]) }`,
);

/**
 * Keys: counts. Arguments: how long a window is, how many for each. Says, for each: how many in all, and until when. A key that is
 * not a count of an open window (no whole number, negative, without an end, or with one beyond the window) begins anew.
 */
export const COUNT = script(
  'count',
  `local counted = {}
for at = 1, #KEYS do
  local total = redis.pcall('INCRBY', KEYS[at], ARGV[at + 2])
  local rest = redis.call('PTTL', KEYS[at])
  if type(total) ~= 'number' or total < 0 or rest < 0 or rest > tonumber(ARGV[2]) then
    total = tonumber(ARGV[at + 2])
    rest = tonumber(ARGV[2])
    redis.call('SET', KEYS[at], ARGV[at + 2], 'PX', ARGV[2])
  end
  counted[at] = { total, rest }
end
return { ARGV[1], 'ok', counted }`,
);

function script(name: Script['name'], source: string): Script {
  return { name, source, sha1: createHash('sha1').update(source).digest('hex') };
}
