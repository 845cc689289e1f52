import { announce } from './listen.ts';

// A busy neighbour on the servers' core: it touches more memory than the caches hold, over and over, so that the server finds them
// cold after each of its turns.
const LINE = 64;
const memory = new Uint8Array(64 * 1_048_576);
let at = 0;

function work(): void {
  for (let step = 0; step < 100_000; step += 1) {
    // A stride that is not a power of two, so that all sets of the caches are used.
    at = (at + 97 * LINE) % memory.length;
    memory[at] = (memory[at] ?? 0) + 1;
  }
  setImmediate(work);
}

announce({ port: 0 });
work();
