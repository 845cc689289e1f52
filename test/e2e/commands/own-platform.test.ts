import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { as } from '../../support/authorization/caller.ts';
import { codeBlocks } from '../../support/docs.ts';
import { startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';

const WORKSPACES = Array.from({ length: 230 }, (_, index) => ({
  workspaceId: String(9_007_199_254_740_993n + BigInt(index)),
  title: `Workspace ${index}`,
  about: index % 2 === 0 ? null : 'About it',
  created_at: 1_767_323_045 + index,
}));

const PLAYBOOKS = [
  {
    id: 'isolate-host',
    name: 'Isolate host',
    description: 'Cuts a host off',
    trigger: { kind: 'hand' },
    enabled: true,
  },
  { id: 'nightly-scan', name: 'Nightly scan', trigger: { kind: 'cron' }, enabled: false },
  { id: 'on-alert', name: 'On alert', trigger: { kind: 'ALERT' } },
];
const SCANNERS = [
  { id: 'nuclei', name: 'Nuclei', version: 'v3.4', type: 'scanner', installation: { present: true } },
  { id: 'zap', name: 'ZAP', version: '2.16.1', installation: { present: false } },
  { id: 'trivy', name: 'Trivy', version: 0.7, installation: { present: true } },
];

/** A platform with its own field names, numeric ids beyond 2^53, epoch times, `skip` paging and an API key header. */
const acme: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://acme');
  if (request.headers['x-api-key'] !== 'the-key' || request.headers.authorization !== undefined) {
    response.writeHead(401).end();
    return;
  }
  const skip = Number(searchParams.get('skip') ?? 0);
  const workspaces = WORKSPACES.slice(skip, skip + Number(searchParams.get('limit')));
  const data: Record<string, object> = {
    '/v2/workspaces': { count: WORKSPACES.length, workspaces },
    '/v2/playbooks': searchParams.get('state') === 'installed' ? { playbooks: PLAYBOOKS } : {},
    '/v2/scanners': { scanners: SCANNERS },
  };
  response.end(JSON.stringify({ data: data[pathname] }).replace(/"workspaceId":"(\d+)"/g, '"workspaceId":$1'));
};

describe("the settings that README shows, before a platform of one's own", () => {
  let read: (name: string) => Promise<unknown>;

  before(async () => {
    const platform = await startHttpUpstream(acme);
    const [yaml = ''] = codeBlocks('README.md', 'yaml');
    expect(yaml).to.contain('https://api.acme.example/v2');
    const settings = parse(yaml.replace('https://api.acme.example', platform.url), { merge: true });
    const gateway = await startGateway(settings);
    read = async (name) => (await gateway.read(name, as('the-key'))).json();
  });

  it('read projects with numeric ids as they were written, and epoch times', async () => {
    const projects = (await read('projects')) as unknown[];
    expect(projects).to.have.length(230);
    const first = { id: '9007199254740993', name: 'Workspace 0', description: '', createTime: '2026-01-02T03:04:05Z' };
    expect(projects[0]).to.deep.equal(first);
    expect(projects[229]).to.deep.include({ id: '9007199254741222', description: 'About it' });
  });

  it('read workflows with looked-up values, and the tools that are installed with a whole version', async () => {
    const [{ trigger: _trigger, enabled: _enabled, ...isolate } = {} as never] = PLAYBOOKS;
    expect(await read('workflows')).to.deep.equal([
      { ...isolate, triggerType: 'MANUAL', status: 'ACTIVE' },
      { id: 'nightly-scan', name: 'Nightly scan', description: '', triggerType: 'SCHEDULED', status: 'PAUSED' },
      { id: 'on-alert', name: 'On alert', description: '', triggerType: 'ALERT', status: '' },
    ]);
    expect(await read('tools')).to.deep.equal([
      { id: 'nuclei', name: 'Nuclei', version: '3.4.0', category: 'scanner', description: '' },
      { id: 'trivy', name: 'Trivy', version: '0.7.0', category: 'other', description: '' },
    ]);
  });
});
