import { GatewayError } from '../../kernel/errors.ts';
import type { Sign } from '../signs/signs.ts';

/** The error for pages from which the whole list cannot be built. `reason` is for the log. */
export function incomplete(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { reason, cause });
}

/** The error for a list beyond a bound, which is named by the key of its setting. */
export function beyond(bound: string, reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason, bound });
}

/**
 * The error for a list that would be called complete although the platform says that there is more. `what` says by what,
 * in words and numbers; `other`, what else than other paging may be the cure.
 */
export function goesOn(sign: Sign, what: string, other?: string): GatewayError {
  const cure = `set pagination.kind and its keys to how the platform pages${other === undefined ? '' : `; ${other}`}; only where the list is known to be whole, pagination.ignoreSigns: [${sign}], after which this sign reveals no short list`;
  return new GatewayError('upstream_invalid', {
    reason: `the platform says that there is more than was read (${sign}: ${what}): ${cure}`,
    detail: `The platform says that there is more than the gateway reads (sign: ${sign}). Its operator has to ${cure}.`,
  });
}

/** The error for a list whose end an experiment does not bear out. `what` is cause and figures, `cure` names the keys. */
export function doubted(what: string, cure: string, cause?: unknown): GatewayError {
  const last = 'pagination.ignoreSigns: [fullPage] turns this check off, and a short list is then served as whole';
  return new GatewayError('upstream_invalid', {
    reason: `${what}: ${cure}; ${last}`,
    detail: `The list may be short: ${what}. Its operator has to ${cure}; ${last}.`,
    cause,
  });
}
