import { atDepth } from '../../../support/depth.ts';
import { whateverHappens } from './model/whatever-happens.ts';

describe('snapshots and flights, whatever happens in whatever order', () => {
  whateverHappens({ sequences: atDepth(1500, 20_000), shared: atDepth(80, 2500) });
});
