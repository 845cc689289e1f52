import { expect } from 'chai';
import { fill } from '../../../../src/core/http/pages/html-page.ts';

describe('a page template', () => {
  it('has values filled in as text, once', () => {
    expect(fill('<p title="{{a}}">{{b}}{{c}}</p>', { a: `<&'">`, b: '{{c}}', c: 0 })).to.equal(
      '<p title="&lt;&amp;&#39;&quot;&gt;">{{c}}0</p>',
    );
  });

  it('repeats a section for each element, with the data around it', () => {
    const template = '<ul>\n{{#items}}\n<li>{{name}} {{of}}</li>\n{{/items}}\n</ul>';
    const data = { of: 'x', items: [{ name: 'a' }, { name: 'b', of: 'y' }] };
    expect(fill(template, data)).to.equal('<ul>\n<li>a x</li>\n<li>b y</li>\n</ul>');
  });

  it('shows a section for true and an object, and omits it for false and a missing value', () => {
    const template = '{{#a}}{{#b}}{{c}}{{/b}}{{/a}}{{#d}}!{{/d}}{{#e}}!{{/e}}{{f}}';
    expect(fill(template, { a: true, b: { c: 1 }, d: false })).to.equal('1');
  });
});
