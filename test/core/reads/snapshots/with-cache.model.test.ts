import { whateverHappens } from './model/whatever-happens.ts';

describe('snapshots and flights, whatever happens in whatever order', () => {
  whateverHappens({ sequences: 1_500, shared: 80 });
});
