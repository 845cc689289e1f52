import { expect } from 'chai';
import { parseDocumentText } from '../../../src/setup/describe/document-text.ts';

describe('the text of a document', () => {
  it('may be JSON or YAML', () => {
    expect(parseDocumentText('{"openapi": "3.1.0"}')).to.deep.equal({ openapi: '3.1.0' });
    expect(parseDocumentText('openapi: 3.1.0\npaths: {}\n')).to.deep.equal({ openapi: '3.1.0', paths: {} });
  });

  it('may be YAML that a strict reader refuses', () => {
    expect(parseDocumentText('a:\n  b: "one\n  two"\nc: 1\n')).to.deep.include({ c: 1 });
  });

  it('is nothing where it is neither', () => {
    expect(parseDocumentText('')).to.equal(null);
    expect(parseDocumentText('{{{{')).not.to.be.an('array');
  });

  it('is nothing where aliases make more and more of it', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`).join(', ')}]`,
    );
    expect(parseDocumentText(`l0: &l0 [x]\n${levels.join('\n')}\n`)).to.equal(undefined);
  });
});
