import { expect } from 'chai';
import { fill } from '../../../../src/core/http/pages/html-page.ts';

describe('a page template', () => {
  it('has values filled in as text, once', () => {
    expect(fill('<p title="{{a}}">{{b}}{{c}}</p>', { a: `<&'">`, b: '{{c}}', c: 0 })).to.equal(
      '<p title="&lt;&amp;&#39;&quot;&gt;">{{c}}0</p>',
    );
  });

  it('shows a section for true and an object, and omits it for false and a missing value', () => {
    const template = '{{#a}}{{#b}}{{c}}{{/b}}{{/a}}{{#d}}!{{/d}}{{#e}}!{{/e}}{{f}}';
    expect(fill(template, { a: true, b: { c: 1 }, d: false })).to.equal('1');
  });
});
