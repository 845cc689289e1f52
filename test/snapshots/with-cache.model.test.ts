import { whateverHappens } from './model/whatever-happens.ts';

describe('snapshots and flights, whatever happens in whatever order', () => {
  whateverHappens({ sequences: 3_000, shared: 250 });
});
