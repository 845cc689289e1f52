import type { AddressInfo } from 'node:net';
import { GatewayError } from '../../kernel/errors.ts';
import type { Check } from '../context.ts';
import { fieldValues } from '../field-lines.ts';
import { hostsAnsweredFor, isHost } from '../host.ts';

/** What the check of hosts goes by. */
export interface HostOptions {
  readonly allowedHosts?: readonly string[] | undefined;
  /** Where the listener is bound; asked once, with the first request. */
  readonly address: () => AddressInfo | string | null;
}

/**
 * Refuses a request for another host, and one whose host is in doubt (RFC 9112, section 3.2): a proxy in front may have
 * gone by a different one.
 */
export function checkHost(options: HostOptions): Check {
  const answersFor = createHosts(options);
  return function host({ req, state }) {
    const lines = fieldValues(req.rawHeaders, 'host');
    if (lines.length > 1 || (lines.length === 0 && req.httpVersion === '1.1')) {
      throw new GatewayError('invalid_request', { detail: 'The request must have exactly one Host header.' });
    }
    const named = state.authority ?? lines[0];
    if (named === undefined || answersFor(named)) return;
    if (!isHost(named)) throw new GatewayError('invalid_request', { detail: 'The host is not well-formed.' });
    throw new GatewayError('host_refused');
  };
}

/** Whether the listener answers for a host that a request names. */
export function createHosts({ allowedHosts, address }: HostOptions): (named: string) => boolean {
  let answered: { readonly hosts: ReadonlySet<string> | undefined } | undefined;
  return (named) => {
    answered ??= { hosts: hostsAnsweredFor(allowedHosts, address()) };
    const { hosts } = answered;
    return hosts === undefined ? isHost(named) : hosts.has(named.toLowerCase());
  };
}
