import { randomBytes } from 'node:crypto';

/** Distinguishes processes: of 100,000 that ever ran, two have the same with a chance of 1 in 10^9. */
const PROCESS = randomBytes(8).toString('hex');

let count = 0;

/** Returns a request id that no other request has. */
export function newRequestId(): string {
  count += 1;
  return `${PROCESS}-${count.toString(36)}`;
}
