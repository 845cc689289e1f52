import { whateverHappens } from './model/whatever-happens.ts';

describe('snapshots and flights, whatever happens in whatever order', () => {
  whateverHappens({ sequences: 20_000, shared: 2_500 });
});
