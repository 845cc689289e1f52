import { expect } from 'chai';
import { createPageParser } from '../../../src/core/mapping/page.ts';
import type { Fault } from '../../../src/core/mapping/reply-fault.ts';
import { reasonOf } from './harness.ts';

const parsed = (members: object, ignoreErrors?: readonly Fault[]) =>
  createPageParser({ items: 'items', ignoreErrors })(JSON.stringify({ items: [1], ...members }));

describe('a reply with status 200 that reports a fault', () => {
  const faults: readonly (readonly [Fault, object])[] = [
    ['success', { success: false }],
    ['success', { Success: 'False' }],
    ['success', { ok: false }],
    ['success', { ok: 0 }],
    ['success', { success: '0' }],
    ['success', { success: 'failed' }],
    ['success', { is_success: false }],
    ['error', { error: 'secret' }],
    ['error', { error: { code: 401, message: 'secret' } }],
    ['error', { errors: [{ message: 'secret' }] }],
    ['error', { errors: { auth: 'secret' } }],
    ['error', { errorMessages: ['secret'] }],
    ['error', { error_description: 'secret' }],
    ['error', { hasErrors: true }],
    ['error', { failed: true }],
    ['error', { errorCount: 2 }],
    ['code', { head: { errorCode: 12 } }],
    ['code', { code: 40101 }],
    ['code', { code: '500' }],
    ['code', { errcode: 1 }],
    ['code', { error_code: 'secret' }],
    ['code', { statusCode: 404 }],
    ['code', { returnCode: -1 }],
    ['code', { meta: { code: 403 } }],
    ['error', { code: 1001, msg: 'token invalid' }],
    ['error', { message: 'Access denied' }],
    ['error', { message: 'Sign in first' }],
    ['status', { code: 'SignInFirst' }],
    ['error', { detail: 'Credentials were not provided.' }],
    ['error', { returnCode: 1, returnMessage: 'not authorized' }],
    ['error', { error_list: ['secret'] }],
    ['error', { faultstring: 'secret' }],
    ['error', { total_failed_items: 2 }],
    ['error', { unavailable_shards: ['secret'] }],
    ['success', { authenticated: false }],
    ['status', { resultCode: 'FAILURE' }],
    ['status', { code: 'Forbidden' }],
    ['status', { state: 'ERROR' }],
    ['timedOut', { terminated_early: true }],
    ['partial', { partialFailure: { code: 3 } }],
    ['error', { status: { code: 16, message: 'UNAUTHENTICATED' } }],
    ['code', { returnCode: 'E1003' }],
    ['code', { status: { error_code: 1001 } }],
    ['status', { status: 'error' }],
    ['status', { stat: 'FAIL' }],
    ['status', { result: 'Unauthorized: secret' }],
    ['status', { response: { status: 'failure' } }],
    ['timedOut', { timed_out: true }],
    ['partial', { partial: true }],
    ['partial', { isPartial: 'true' }],
    ['partial', { partial_results: true }],
    ['partial', { _shards: { total: 5, successful: 3, failed: 2 } }],
    ['partial', { _clusters: { total: 2, successful: 1, skipped: 1 } }],
    ['partial', { _clusters: { total: 2, successful: 1, skipped: 0, partial: 1 } }],
    ['partial', { responseHeader: { partialResults: true, status: 0 } }],
    ['partial', { unreachable: ['secret'] }],
    ['partial', { missingZones: ['secret'] }],
    ['partial', { unprocessedAccounts: [{ accountId: 'secret' }] }],
    ['status', { meta: { rc: 'error', msg: 'secret' } }],
    ['status', { status: 'REQUEST_DENIED' }],
    ['status', { status: 'OVER_QUERY_LIMIT' }],
    ['status', { status: 'SESSION_EXPIRED' }],
    ['status', { state: 'COMPLETED_WITH_ERRORS' }],
    ['status', { code: 'InternalError' }],
    ['status', { result: 'KO' }],
    ['status', { response_status: [{ status_code: 4000, status: 'failed' }] }],
    ['status', { messages: [{ type: 'INFO' }, { type: 'FATAL', text: 'secret' }] }],
    ['status', { messages: [{ severity: 'error' }] }],
    ['status', { tppMessages: [{ category: 'ERROR', text: 'secret' }] }],
    ['code', { meta: { status: { code: 401 } } }],
    ['code', { responseHeader: { status: 500 } }],
    ['error', { apiErrors: ['secret'] }],
    ['error', { 'odata.error': { code: '', message: { value: 'secret' } } }],
    ['error', { validation_errors: { filter: 'secret' } }],
    ['partial', { partialFailureError: { code: 3 } }],
    ['error', { errorSummary: 'secret' }],
    ['error', { message: 'Bad credentials' }],
    ['error', { code: 1001, msg: 'user not login' }],
    ['error', { code: 1, msg: 'Please login first' }],
    ['error', { errcode: 0, message: 'No permission' }],
    ['error', { message: 'Gateway timeout' }],
    ['error', { message: 'system busy, try again later' }],
    ['error', { message: 'Page not found' }],
    ['error', { message: 'The parameter org_id is required' }],
    ['error', { message: 'Authentication required' }],
    ['error', { message: 'You need to sign in before continuing.' }],
    ['error', { message: 'You do not have permission to perform this action.' }],
    ['error', { message: 'Too many requests, slow down' }],
    ['error', { message: 'The query timed out' }],
    ['error', { message: "You don't have permission to view the projects." }],
    ['error', { message: 'Something went wrong.' }],
    ['error', { errorMessage: 'The login was not successful' }],
    ['error', { msg: 'api.err.LoginRequired' }],
    ['error', { res: 9411, res_message: 'Authentication missing or invalid' }],
  ];
  for (const [fault, members] of faults) {
    it(`is an error that names it, unless settings ignore it: ${JSON.stringify(members)}`, () => {
      const reason = reasonOf(() => parsed(members));
      expect(reason).to.contain('status 200').and.contain(`ignoreErrors: [${fault}]`).and.not.contain('secret');
      expect(parsed(members, [fault]).items).to.deep.equal([1]);
    });
  }

  it('is recognized before the list, which may be null or absent, and in each object that leads to it', () => {
    for (const body of [
      { success: false, items: null },
      { success: false },
      { items: { list: [1] }, ok: false },
      { items: { list: [1], timedOut: true } },
    ]) {
      const items = 'list' in Object(body.items) ? 'items.list' : 'items';
      expect(reasonOf(() => createPageParser({ items })(JSON.stringify(body)))).to.contain('reports a fault');
    }
  });

  it('is none if it reports a success, or nothing', () => {
    for (const members of [
      { success: true, ok: true, code: 0, status: 'ok' },
      { error: null, errors: [], errorMessages: [], failed: false, partial: false, timed_out: false },
      { error: '', errors: {}, errcode: 0, errmsg: 'ok', error_code: '0' },
      { error: { code: 0, message: '' }, code: 200, statusCode: 200, status: 200 },
      { error: false, code: 20_000, result: 'success', stat: 'ok' },
      { _shards: { total: 5, successful: 5, failed: 0 }, timeout: 30, failures: [], error_count: 0 },
      { status: 'active', code: 'DE', meta: { code: 200 }, status_: { error_code: 0, error_message: null } },
      { errors: 0, error: 'None', warnings: ['secret'] },
      { code: 1000, message: 'completed with 0 errors' },
      { code: 0, message: 'no errors', count: 7, title: 'Failed logins' },
      { returnCode: 'EUR', code: 'E' },
      { success: true, message: 'an invalid entry was skipped' },
      { code: 0, detail: 'the last import failed', state: 'access_policies' },
      { total_failed_items: 0, failed_items: [], failedLogins: 3 },
      { total: 9, failed: 3, available: 6, unavailable: 3 },
      { code: 1000, message: { toString: 1 } },
      { message: 'This endpoint is deprecated and will be unavailable in 2027: requests will be rejected' },
      { errorCode: 0, errorMessage: 'The operation completed successfully.', error: 'no', has_errors: 'N' },
      { errors: { total: 0, items: [] }, apiErrors: [{}], error: '[]', partial_success: { rejected: 0 } },
      { head: { code: 'E000' }, state: 'failover' },
      { message: 'No projects found' },
      { message: 'Records not found.' },
      { message: 'Welcome to the API. You are logged in as bob.' },
      { message: 'Completed without errors', errorCode: '0000', code: 'NO_ERROR', rc: 0 },
      { res: 0, res_message: 'invalid entries were skipped', reachable: 3, unreachable: 1, unprocessedItems: 5 },
      { messages: [{ type: 'WARN' }, { code: 1000 }, null, 'failed'], response_status: [{ status: 'success' }, null] },
      { clusters: { total: 2, failed: 1 }, _clusters: { total: 2, skipped: 0 }, constructor: { failed: 1 } },
      { status: 'running', state: 'koala', unreachable: {}, missingZones: null, numErrors: 0 },
    ])
      expect(parsed(members).items, JSON.stringify(members)).to.deep.equal([1]);
    expect(createPageParser({ items: '@' })('[{"success":false,"error":"x"}]').items).to.have.length(1);
  });

  it('takes as long as the reply, however many members look like a code', () => {
    const codes = Array.from({ length: 20_000 }, (_, index) => [
      `code${'_'.repeat(index % 200)}${'.'.repeat(index / 200)}`,
      12,
    ]);
    const begun = performance.now();
    expect(parsed(Object.fromEntries(codes)).items).to.deep.equal([1]);
    // It took a minute.
    expect(performance.now() - begun).to.be.below(2000);
  });

  it('is looked for in a text that is not a list without a copy of each character', () => {
    const text = JSON.stringify('x'.repeat(1_000_000));
    const before = process.memoryUsage().heapUsed;
    expect(reasonOf(() => createPageParser({ items: '@' })(text))).to.contain('no list of items');
    expect(process.memoryUsage().heapUsed - before).to.be.below(50_000_000);
  });
});
