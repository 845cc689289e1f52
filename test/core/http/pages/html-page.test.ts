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

  it('takes values from objects within objects, and formats them', () => {
    const formats = {
      double: (value: number) => 2 * value,
      list: (value: string, { end }: object & { end?: unknown }) => [{ one: value }, { one: end }],
    };
    const data = { a: { b: 4, c: 'x' }, end: 'y' };
    expect(fill('{{a.b|double}} {{#a.c|list}}{{one}}{{/a.c}} {{a.d.e}}', data, formats)).to.equal('8 xy ');
  });

  it('shows an inverted section where the section is not', () => {
    expect(fill('{{^a}}no a{{/a}}{{^b}}no {{c}}{{/b}}', { a: true, b: [], c: 'b' })).to.equal('no b');
  });
});
