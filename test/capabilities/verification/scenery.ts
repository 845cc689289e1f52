import { expect } from 'chai';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { rejectionBy } from '../../support/thrown.ts';

export async function errorOf(work: Promise<unknown>): Promise<readonly [ErrorCode, string | undefined]> {
  const { code, reason } = (await rejectionBy(GatewayError, work)) ?? expect.fail('it came to no error');
  return [code, reason];
}
