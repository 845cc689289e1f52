import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readDoc } from '../support/docs.ts';
import { loadProposed, type Proposed, proposedFor, type WrittenResource } from './proposed.ts';
import { RIGHT_ANSWERS, type RightAnswer } from './right-answers.ts';

const NAMES = ['projects', 'workflows', 'tools'] as const;

function proposedOf(platform: string): Proposed {
  return proposedFor(readFileSync(new URL(`documents/${platform}.yaml`, import.meta.url), 'utf8'));
}

function isRight(answer: RightAnswer, written: WrittenResource): boolean {
  if (answer === null || written.enabled === false) return answer === null && written.enabled === false;
  const { sizeParam: _, size: __, ...pagination } = written.pagination ?? {};
  const fields = Object.entries(written.fields ?? {}).map(([name, field]) => {
    return [name, typeof field === 'string' ? field : (field as { from: string }).from] as const;
  });
  const sameFields =
    fields.length === Object.keys(answer.fields).length &&
    fields.every(([name, from]) => [answer.fields[name] ?? []].flat().includes(from));
  const samePages = JSON.stringify(sorted(pagination)) === JSON.stringify(sorted(answer.pagination));
  const sameParams = JSON.stringify(written.pathParams) === JSON.stringify(answer.pathParams);
  const samePlace = written.path === answer.path && sameParams && written.items === answer.items;
  return samePlace && samePages && sameFields;
}

function sorted(record: Readonly<Record<string, unknown>>) {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** The resources that come out right unedited, by platform. */
function rightOnes(platform: string): string[] {
  const { written } = proposedOf(platform);
  return NAMES.filter((name) => isRight(RIGHT_ANSWERS[platform]?.[name] ?? null, written.resources[name] ?? {}));
}

describe('proposals from published OpenAPI documents', () => {
  const platforms = Object.keys(RIGHT_ANSWERS);

  for (const platform of platforms) {
    it(`of ${platform} load without mistakes`, async () => {
      const proposed = proposedOf(platform);
      const config = await loadProposed(proposed);
      const offered = NAMES.filter((name) => config.resources[name].enabled);
      expect(offered).to.deep.equal(proposed.offered);
    });

    it(`of ${platform} put the token where it belongs`, () => {
      const [upstream] = Object.values(proposedOf(platform).written.upstreams);
      expect(upstream?.['credential']).to.deep.equal(RIGHT_ANSWERS[platform]?.credential);
    });
  }

  it('name what they are not sure of, wherever they are wrong', () => {
    for (const platform of platforms) {
      const right = rightOnes(platform);
      const { doubts } = proposedOf(platform);
      for (const name of NAMES.filter((each) => !right.includes(each))) {
        expect(doubts.join('\n'), platform).to.contain(`${name}: `);
      }
    }
  });

  it('are right unedited as often as docs/onboarding.md says', () => {
    const right = Object.fromEntries(platforms.map((platform) => [platform, rightOnes(platform)]));
    const count = Object.values(right).flat().length;
    const figure = `${count} of ${platforms.length * NAMES.length}`;
    process.stdout.write(`      right unedited: ${figure}: ${JSON.stringify(right)}\n`);
    expect(readDoc('docs/onboarding.md').replace(/\s+/g, ' ')).to.contain(`${figure} resources`);
  });
});
