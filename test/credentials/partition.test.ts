import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createPartitioner } from '../../src/credentials/partition.ts';
import { Credential } from '../../src/kernel/caller.ts';

describe('a partition', () => {
  it('is the same for the same credential, and another for another one', () => {
    const partition = createPartitioner();
    expect(partition(new Credential('one'))).to.equal(partition(new Credential('one')));
    expect(partition(new Credential('one'))).not.to.equal(partition(new Credential('two')));
  });

  it('has 256 bits, as base64url', () => {
    expect(createPartitioner()(new Credential('one'))).to.match(/^[\w-]{43}$/);
  });

  it('tells nothing about the token to who does not have the key of the process', () => {
    const credential = new Credential('one');
    const partition = createPartitioner()(credential);
    expect(partition).not.to.equal(createPartitioner()(credential));
    expect(partition).not.to.equal(createHash('sha256').update('one').digest('base64url'));
  });
});
