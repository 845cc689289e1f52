import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSettings } from '../../../src/composition.ts';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import { type ProbeOptions, probe } from '../../../src/setup/probe/probe-command.ts';
import type { ResourceReport } from '../../../src/setup/probe/probe-report.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { inFolder, writeSettings } from '../../support/process/process.ts';
import { forToken, TOKEN } from './probed.ts';

const FIELDS = `{ id: slug, name: names.display, description: about || "", category: { from: kind, values: { edr: EDR } } }`;
const settings = (more: string) => `upstreams: { acme: { baseUrl: BASE } }
resources:
  projects: { enabled: false }
  workflows: { enabled: false }
  tools: { upstream: acme, path: /t, query: {}, items: '@', pagination: { kind: none }, fields: ${FIELDS}${more} }
`;

/** A platform with tools that can change, and probes of it with one baseline. */
async function withTools(use: (given: ReturnType<typeof toolsIn>) => Promise<void>, more = '') {
  const upstream = await startHttpUpstream(json({}, 500));
  return inFolder(async (folder) => {
    const file = await writeSettings(folder, settings(more).replace('BASE', upstream.url));
    await use(toolsIn(folder, file, upstream));
  });
}

function toolsIn(folder: string, file: string, { requests, respond }: HttpUpstream) {
  const baseline = join(folder, 'lists.json');
  return {
    ...{ folder, baseline, requests },
    hold: (tools: readonly object[]) => respond(forToken(json(tools))),
    probe: async (options: Partial<ProbeOptions> = {}) =>
      probe(file, await loadSettings(file, { PORTICO_TOKEN: TOKEN }), { baseline, ...options }),
  };
}

/** So many tools, of which the first ones have further members. */
const manyTools = (count: number, members: object = {}, having = count) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ slug: `t-${index}`, names: { display: `Tool ${index}` }, about: 'text', kind: 'edr' },
    ...(index < having && members),
  }));

const drifts = ({ warnings }: ResourceReport) =>
  warnings.filter(({ finding }) => ['field_gone', 'field_type', 'value_new'].includes(finding));

const NOT_READ = 'no expression reads it';
/** What a probe says of a member that is gone. */
const gone = (member: string, percent: number, of: number, look: string) =>
  `field \`${member}\` was filled in ${percent} % of items and is now empty in all ${of}; ${look}`;
const ABOUT = 'check resources.tools.fields.description';
const WHERE = 'check resources.tools.where';
const RETYPED = 'field `slug` was string and is now number in some items; check resources.tools.fields.id';
const UNMAPPED =
  'category is now xdr in some items, which values does not map; check resources.tools.fields.category.values';
const tagged = (count: number) => manyTools(50, { tag: 'a' }, count);
const [three, many] = [manyTools(3), manyTools(50)];
const remapped = [...manyTools(2, { kind: 'EDR' }, 1), ...manyTools(3, { kind: 'xdr', slug: 'c' }).slice(2)];

/** Two lists, what a probe says of the second one, and further settings. */
const CHANGES: readonly (readonly [
  what: string,
  before: object[],
  after: object[],
  says?: string | undefined,
  more?: string,
])[] = [
  ['a member that every item had', manyTools(2), manyTools(2, { about: undefined }), gone('about', 100, 2, ABOUT)],
  ['a member that is null in every item', manyTools(2), manyTools(2, { about: null }), gone('about', 100, 2, ABOUT)],
  ['a member that a tenth of fifty items had', tagged(5), many, gone('tag', 10, 50, NOT_READ)],
  [
    ...(['a member that where compares', manyTools(2, { mode: 'y' }), manyTools(2)] as const),
    ...([gone('mode', 100, 2, WHERE), ', where: "mode != \'x\'"'] as const),
  ],
  [
    ...(['a list of which an expression reads an item', manyTools(2, { labels: [{ on: 1 }] }), manyTools(2)] as const),
    ...([gone('labels', 100, 2, WHERE), ", where: 'labels[0].on || @'"] as const),
  ],
  ['a member of another type', three, manyTools(3, { slug: 7 }, 1), RETYPED],
  ['a text that values does not map', three, manyTools(3, { kind: 'xdr' }, 1), UNMAPPED],
  ['another share', tagged(50), tagged(1)],
  ['a member that few items had', tagged(4), many],
  [
    'a member that is new, or filled for the first time',
    manyTools(3, { tag: null }),
    manyTools(3, { tag: 1, other: 1 }),
  ],
  ['a text that was not mapped before, or to which another is mapped', manyTools(2, { kind: 'xdr' }), remapped],
  ['no items', three, [], undefined, ', allowEmpty: true'],
];

describe('a baseline of lists', () => {
  it('has the members, their types and empty shares, and the texts of fields that tools filter by', () =>
    withTools(async ({ hold, probe, baseline, folder }) => {
      const odd = { z: [1], size: 1, tag: '', perm: { alice: 1 }, [TOKEN]: 1, ['x'.repeat(101)]: 1, '\u001b[2J': 1 };
      const further = { slug: 't-9', names: { display: 'Ninth' }, kind: TOKEN, size: 'big' };
      hold([...manyTools(3, odd), further]);
      const { ok, baseline: told } = await probe();
      expect({ ok, told }).to.deep.equal({ ok: true, told: { file: baseline, isRecorded: true } });
      const text = await readFile(baseline, 'utf8');
      expect(text.endsWith('}\n')).to.equal(true);
      expect(JSON.parse(text)).to.deep.equal({
        portico: 1,
        resources: {
          tools: {
            members: {
              ...{ about: 'string, 25 % empty', kind: 'string, 0 % empty', 'names.display': 'string, 0 % empty' },
              ...{ perm: 'object, 25 % empty', size: 'number | string, 0 % empty', slug: 'string, 0 % empty' },
              ...{ tag: 'null, 100 % empty', z: 'list, 25 % empty' },
            },
            values: { category: ['EDR'] },
          },
        },
      });
      expect((await stat(baseline)).mode & 0o777).to.equal(0o666 & ~process.umask());
      expect(await readdir(folder)).to.have.members(['portico.yaml', 'lists.json']);
    }));

  it('is the same for the same list, in another order', () =>
    withTools(async ({ hold, probe, baseline }) => {
      const tools = manyTools(200, { b: 1, a: 'x' }, 199);
      hold(tools);
      await probe();
      const text = await readFile(baseline, 'utf8');
      expect(text).to.contain('"a": "string, 1 % empty"');
      hold(tools.toReversed());
      await probe({ updateBaseline: true });
      expect(await readFile(baseline, 'utf8')).to.equal(text);
    }));

  it('is bounded: members, and texts of a field', () =>
    withTools(async ({ hold, probe, baseline }) => {
      const members = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${1000 + index}`, 1]));
      hold(manyTools(60, members).map((tool, index) => ({ ...tool, kind: `kind ${index}` })));
      await probe();
      const { tools } = JSON.parse(await readFile(baseline, 'utf8')).resources;
      expect(Object.keys(tools.members)).to.have.length(121);
      expect(tools.values).to.deep.equal({});
      expect((await probe()).resources.flatMap(drifts)).to.deep.equal([]);
    }));

  for (const [what, before, after, says, more] of CHANGES) {
    it(`${says === undefined ? 'does not show' : 'shows'} ${what}`, () =>
      withTools(async ({ hold, probe }) => {
        hold(before);
        expect((await probe()).ok).to.equal(true);
        hold(after);
        const [tools] = (await probe()).resources;
        expect(tools && drifts(tools).map(({ text }) => text)).to.deep.equal(says === undefined ? [] : [says]);
      }, more));
  }

  it('fails a strict probe, except for members that no expression reads', () =>
    withTools(async ({ hold, probe }) => {
      hold(manyTools(5, { tag: 'a' }));
      await probe();
      hold(manyTools(5));
      expect(await probe({ strict: true })).to.include({ ok: true });
      hold(manyTools(5, { about: null }));
      expect((await probe()).ok).to.equal(true);
      expect((await probe({ strict: true })).ok).to.equal(false);
    }));

  it('is kept until it is updated', () =>
    withTools(async ({ hold, probe, baseline }) => {
      hold(manyTools(5));
      await probe();
      hold(manyTools(5, { about: null }));
      for (let count = 0; count < 2; count += 1) {
        const { resources, baseline: told } = await probe();
        expect(told).to.deep.equal({ file: baseline, isRecorded: false });
        expect(resources.flatMap(drifts)).to.have.length(1);
      }
      expect((await probe({ updateBaseline: true })).resources.flatMap(drifts)).to.deep.equal([]);
      expect((await probe()).resources.flatMap(drifts)).to.deep.equal([]);
    }));

  it('is not written while a list cannot be read', () =>
    withTools(async ({ probe, folder }) => {
      expect(await probe()).to.deep.include({ ok: false });
      expect(await readdir(folder)).to.deep.equal(['portico.yaml']);
    }));

  it('that lacks a list is an experiment that was not tried', () =>
    withTools(async ({ hold, probe, baseline }) => {
      hold(manyTools(5));
      await writeFile(baseline, '{"portico":1,"resources":{}}');
      const why = 'the baseline does not have this list; --update-baseline records it';
      expect((await probe()).resources[0]?.notTried).to.deep.equal([{ experiment: 'baseline', why }]);
    }));

  it('of any content harms no probe', () =>
    withTools(async ({ hold, probe, baseline }) => {
      hold(manyTools(5));
      const members = '{"__proto__":"string, 0 % empty","toString":"a, 999 % empty","\\u001b[2J":"x, 0 % empty"}';
      const values = '{"__proto__":["x"],"category":["\\u001b[2J"]}';
      await writeFile(baseline, `{"portico":1,"resources":{"tools":{"members":${members},"values":${values}}}}`);
      const texts = (await probe()).resources.flatMap(drifts).map(({ text }) => text);
      expect(texts).to.deep.equal([gone('[2J', 100, 5, NOT_READ)]);
    }));

  const ofTools = (text: string) => `{"portico":1,"resources":{"tools":${text}}}`;
  const NONE = 'is not a baseline of portico check --probe: use another file, or remove this one';
  for (const [what, [prepare, issue]] of Object.entries<[(file: string) => unknown, string]>({
    'no JSON': [(file) => writeFile(file, '{"portico":1'), NONE],
    'no object': [(file) => writeFile(file, 'null'), NONE],
    'of another format': [(file) => writeFile(file, '{"portico":2,"resources":{}}'), NONE],
    'without resources': [(file) => writeFile(file, '{"portico":1,"resources":[]}'), NONE],
    'of other members': [(file) => writeFile(file, ofTools('{"members":{"a":"b"},"values":{}}')), NONE],
    'of other values': [(file) => writeFile(file, ofTools('{"members":{},"values":{"a":[1]}}')), NONE],
    'a folder': [(file) => mkdir(file), 'cannot be read: illegal operation on a directory'],
  })) {
    it(`is an issue of the command line, before any request, and stays as it is: ${what}`, () =>
      withTools(async ({ probe, baseline, requests }) => {
        await prepare(baseline);
        for (const updateBaseline of [false, true]) {
          const error = await probe({ updateBaseline }).catch((thrown: unknown) => thrown);
          expect(error).to.be.instanceOf(ConfigError).with.property('message', `${baseline}: ${issue}`);
        }
        expect(requests).to.deep.equal([]);
      }));
  }

  it('that cannot be written is an issue, and leaves no other file', () =>
    withTools(async ({ hold, probe, folder }) => {
      hold(manyTools(5));
      const missing = join(folder, 'missing', 'lists.json');
      const error = await probe({ baseline: missing }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ConfigError).with.property('message', `${missing}: cannot be written (ENOENT)`);
      expect(await readdir(folder)).to.deep.equal(['portico.yaml']);
    }));
});
