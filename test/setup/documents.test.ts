import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readDoc } from '../support/docs.ts';
import { NAMES } from '../support/resources.ts';
import { loadProposed, type Proposed, proposedFor, type WrittenResource } from './proposed.ts';

interface Right extends Pick<WrittenResource, 'path' | 'pathParams' | 'items'> {
  readonly pagination: Readonly<Record<string, string | number>>;
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
}

/** Right settings, by platform and resource; and the credential of each platform. */
const RIGHT_ANSWERS: Readonly<Record<string, Readonly<Record<string, Right | null>>>> = parse(
  readFileSync(new URL('right-answers.yaml', import.meta.url), 'utf8'),
);

const PROPOSED = new Map(
  Object.keys(RIGHT_ANSWERS).map((platform): [string, Proposed] => {
    const file = new URL(`documents/${platform}.yaml`, import.meta.url);
    return [platform, proposedFor(readFileSync(file, 'utf8'))];
  }),
);

function isRight(answer: Right | null, written: WrittenResource): boolean {
  if (answer === null || written.enabled === false) return answer === null && written.enabled === false;
  const { sizeParam: _, size: __, ...pagination } = written.pagination ?? {};
  const fields = Object.entries(written.fields ?? {}).map(([name, field]) => {
    return [name, typeof field === 'string' ? field : (field as { from: string }).from] as const;
  });
  const sameFields =
    fields.length === Object.keys(answer.fields).length &&
    fields.every(([name, from]) => [answer.fields[name] ?? []].flat().includes(from));
  const placeOf = ({ path, pathParams, items }: Partial<Right>) => ({ path, pathParams, items });
  const samePlace = isDeepStrictEqual(placeOf(written as Partial<Right>), placeOf(answer));
  return samePlace && isDeepStrictEqual(pagination, answer.pagination) && sameFields;
}

/** Returns the resources that are right without a change. */
function rightOnes(platform: string, { written }: Proposed): string[] {
  return NAMES.filter((name) => isRight(RIGHT_ANSWERS[platform]?.[name] ?? null, written.resources[name] ?? {}));
}

describe('proposals from published OpenAPI documents', () => {
  for (const [platform, proposed] of PROPOSED) {
    it(`are valid, have the right credential, and name their doubts where they are wrong: ${platform}`, async () => {
      const config = await loadProposed(proposed);
      expect(NAMES.filter((name) => config.resources[name as 'tools'].enabled)).to.deep.equal(proposed.offered);
      const [upstream] = Object.values(proposed.written.upstreams);
      expect(upstream?.['credential']).to.deep.equal(RIGHT_ANSWERS[platform]?.credential);
      const right = rightOnes(platform, proposed);
      for (const name of NAMES.filter((each) => !right.includes(each))) {
        expect(proposed.doubts.join('\n')).to.contain(`${name}: `);
      }
    });
  }

  it('are correct as often as docs/onboarding.md states', () => {
    const right = [...PROPOSED].map(([platform, proposed]) => rightOnes(platform, proposed));
    const figure = `${right.flat().length} of ${PROPOSED.size * NAMES.length}`;
    process.stdout.write(`      right without a change: ${figure}\n`);
    expect(readDoc('docs/onboarding.md').replace(/\s+/g, ' ')).to.contain(`${figure} resources`);
  });
});
