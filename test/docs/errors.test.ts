import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { problemResponse } from '../../src/core/http/response/problem.ts';
import { ERRORS } from '../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../src/core/kernel/errors.ts';
import { writeError } from '../../src/core/mcp/rpc-errors.ts';
import { codeBlocks } from '../support/docs.ts';

const PAGE = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

/** The rows of the page's table: code, status and code of JSON-RPC. */
const rows = [...PAGE.matchAll(/^\| `(\w+)` \| (\d{3}) \| (-?\d+|–) \| .+ \| .+ \|$/gm)].map(
  ([, code, status, rpc]) => [code, Number(status), rpc === '–' ? undefined : Number(rpc)],
);

describe('the page of errors', () => {
  it('has exactly the rows of the error table, with status and JSON-RPC code', () => {
    const table = Object.entries(ERRORS).map(([code, row]) => [code, row.status, 'rpc' in row ? row.rpc : undefined]);
    expect(rows).to.have.deep.members(table);
    expect(rows).to.have.length(table.length);
  });

  it('has no other line in its table', () => {
    const lines = PAGE.split('\n').filter((line) => line.startsWith('|'));
    expect(lines).to.have.length(rows.length + 2);
  });

  it('is ordered by status', () => {
    const statuses = rows.map(([, status]) => Number(status));
    expect(statuses).to.deep.equal(statuses.toSorted((a, b) => a - b));
  });

  it('shows a body as it is sent', () => {
    const [example = ''] = codeBlocks('docs/errors.md', 'json');
    const shown = JSON.parse(example);
    const error = new GatewayError(shown.code, {
      upstream: shown.upstream,
      retryAfterSeconds: shown.retryAfterSeconds,
    });
    expect(JSON.parse(String(problemResponse(error, shown.requestId).body))).to.deep.equal(shown);
  });

  it('shows a JSON-RPC error as it is sent', () => {
    const [, example = ''] = codeBlocks('docs/errors.md', 'json');
    const shown = JSON.parse(example);
    const { code, requestId, ...facts } = shown.error.data;
    const sent = writeError(new GatewayError(code, facts), { id: shown.id, params: facts }, requestId);
    expect(JSON.parse(sent.toString())).to.deep.equal(shown);
  });
});
