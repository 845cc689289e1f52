import { expect } from 'chai';
import { problemResponse } from '../../src/core/http/response/problem.ts';
import { GatewayError } from '../../src/core/kernel/errors.ts';
import { writeError } from '../../src/core/mcp/rpc-errors.ts';
import { codeBlocks } from '../support/docs.ts';

describe('the page of errors', () => {
  it('shows a body as it is sent', () => {
    const [example = ''] = codeBlocks('docs/behaviour.md', 'json');
    const shown = JSON.parse(example);
    const error = new GatewayError(shown.code, {
      upstream: shown.upstream,
      retryAfterSeconds: shown.retryAfterSeconds,
    });
    expect(JSON.parse(String(problemResponse(error, shown.requestId).body))).to.deep.equal(shown);
  });

  it('shows a JSON-RPC error as it is sent', () => {
    const [, example = ''] = codeBlocks('docs/behaviour.md', 'json');
    const shown = JSON.parse(example);
    const { code, requestId, ...facts } = shown.error.data;
    const sent = writeError(new GatewayError(code, facts), { id: shown.id, params: facts }, requestId);
    expect(JSON.parse(sent.toString())).to.deep.equal(shown);
  });
});
