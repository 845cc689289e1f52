import type { IncomingMessage } from 'node:http';
import { readBearer } from '../credentials/bearer.ts';
import { expiryOf } from '../credentials/expiry.ts';
import type { Partitioner } from '../credentials/partition.ts';
import type { Caller, Credential } from '../kernel/caller.ts';
import type { Exchange } from './exchange.ts';
import { fieldValues } from './field-lines.ts';

/** Who asks with this credential. Leaves the partition for the access log. */
export function identify(exchange: Exchange, credential: Credential, partition: Partitioner): Caller {
  const { requestId, trace } = exchange;
  const expiresAt = expiryOf(credential);
  const caller: Caller = {
    credential,
    partition: partition(credential),
    requestId,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(trace !== undefined && { trace: trace.headers }),
  };
  exchange.partition = caller.partition;
  return caller;
}

/** The credential that a request brought. Throws as `readBearer` does. */
export function credentialOf({ rawHeaders }: IncomingMessage): Credential {
  return readBearer(fieldValues(rawHeaders, 'authorization'));
}
