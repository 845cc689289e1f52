import { expect } from 'chai';
import { isObject } from '../../../src/core/kernel/json-shape.ts';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { shapeOfSchema } from '../../../src/setup/describe/shape.ts';
import { guessFields } from '../../../src/setup/guess/guess-fields.ts';
import { number, object, text } from '../proposed.ts';

const boolean = { type: 'boolean' };

function proposed(name: string, members: Readonly<Record<string, object>>, noun = name.slice(0, -1)) {
  const resource = RESOURCES.find((each) => each.name === name);
  if (resource === undefined) throw new Error(`no resource ${name}`);
  const shape = shapeOfSchema(object(members), (value) => (isObject(value) ? value : undefined));
  return guessFields(resource, shape, noun);
}

describe('fields by a document', () => {
  const found: readonly (readonly [resource: string, members: Readonly<Record<string, object>>, fields: string])[] = [
    ['projects', { id: number, name: text, description: text, created_at: text }, 'id name description created_at'],
    ['projects', { projectId: text, projectName: text, notes: text }, 'projectId projectName notes -'],
    ['projects', { id: text, title: text, creationTime: number }, 'id title - creationTime'],
    ['projects', { uuid: text, title: text }, 'uuid title - -'],
    ['projects', { 'project-id': text, 'display-name': text }, '"project-id" "display-name" - -'],
    [
      'workflows',
      { id: text, name: text, state: text, trigger: object({ type: text }) },
      'id name - trigger.type state',
    ],
    ['workflows', { id: text, name: text, enabled: boolean }, 'id name - - enabled'],
    ['tools', { slug: text, label: text, latestVersion: text, type: text }, 'slug label latestVersion type -'],
    ['tools', { id: text, host_name: text, summary: text }, 'id id - - summary'],
  ];
  for (const [name, members, expected] of found) {
    it(`of ${name} with ${Object.keys(members).join(', ')}`, () => {
      const fields = [...proposed(name, members).values()].map(({ from = '-' }) => from);
      expect(fields.join(' ')).to.equal(expected);
    });
  }

  it('turn flags into a status, by what the flag says', () => {
    const status = (flag: string) =>
      proposed('workflows', { id: text, name: text, [flag]: boolean }).get('status')?.values;
    expect(status('is_active')).to.deep.equal({ true: 'ACTIVE', false: 'INACTIVE' });
    expect(status('disabled')).to.deep.equal({ false: 'ACTIVE', true: 'INACTIVE' });
    expect(status('archived')).to.deep.equal({ false: 'ACTIVE', true: 'INACTIVE' });
  });

  it('write an empty text if the default expression would select a value that is not text', () => {
    const fields = proposed('tools', { id: text, name: text, version: object({ major: number, minor: number }) });
    expect(fields.get('version')).to.include({ from: undefined, instead: "''" });
  });
});
