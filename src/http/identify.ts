import { readBearer } from '../credentials/bearer.ts';
import { expiryOf } from '../credentials/expiry.ts';
import type { Partitioner } from '../credentials/partition.ts';
import type { Caller } from '../kernel/caller.ts';
import type { Exchange } from './exchange.ts';
import { fieldValues } from './field-lines.ts';

/** Who asks. Leaves the partition for the access log. Throws what `readBearer` throws. */
export function identify(exchange: Exchange, partition: Partitioner): Caller {
  const { req, requestId, trace } = exchange;
  const credential = readBearer(fieldValues(req.rawHeaders, 'authorization'));
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
